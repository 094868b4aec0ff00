//! Row `search`: ranking agents by meaning, beside the least that any exact search must do: one
//! embedding, and one read of all vectors.

use std::{cmp::Reverse, collections::BTreeMap, hint::black_box, sync::Arc, time::Instant};

use duels::outside::Outside;
use semantic::{Embedder, Encoder, Index, LocalEmbedder, Vector, model::DIMS};
use serde::Deserialize;
use store::Place;

use super::{Name, Row};
use crate::{
    Effort,
    duel::{
        crowd::{Crowd, random_vectors},
        world::World,
    },
    harness::{
        Outcome, people, process,
        progress::Progress,
        rounds::{Rounds, figure},
    },
};

const AGENTS: usize = 100_000;
/// Every so many agents have the vectors of the one before, so that there are ties.
const TIES: usize = 1_000;
const TAKEN: usize = 20;
const FIRST: usize = 5;
const RATIO_MAX: f64 = 1.5;
/// Searches of one account in a minute.
const SEARCHES_EACH: usize = 10;
/// Agents that one command writes.
const WRITTEN_AT_ONCE: usize = 10_000;
const FOUND_MIN: f64 = 0.85;
const CASES: &str = include_str!("../../data/retrieval_eval.json");
/// Repeated to the length of the longest pitch.
const CHINESE: &str = "谈判的艺术在于倾听对方的需要，然后提出一个双方都能接受的方案。";
const CHINESE_CHARACTERS: usize = 500;

/// A pitch, and queries that mean it, by language.
#[derive(Deserialize)]
struct Case {
    pitch_en: String,
    pitch_other: Option<String>,
    queries: BTreeMap<String, String>,
}

/// An agent beside the index, for the naive order.
struct Agent {
    nickname: String,
    vectors: [Vector; 2],
}

pub(crate) async fn measure(effort: Effort) -> Outcome<Vec<Row>> {
    let mut rows = tokio::task::spawn_blocking(move || ranking(effort)).await??;
    rows.extend(operation(effort).await?);
    Ok(rows)
}

/// The index alone.
fn ranking(effort: Effort) -> Outcome<Vec<Row>> {
    let rounds = if effort == Effort::Quick { 3 } else { 31 };
    let progress = Progress::new("search");
    let encoder = Encoder::from_bytes(semantic_model::MODEL)?;
    let cases: Vec<Case> = serde_json::from_str(CASES)?;

    progress.say(&format!("filling an index with {AGENTS} agents"));
    let agents = agents();
    let mut index = Index::new(DIMS);
    for (number, Agent { nickname, vectors: [pitch, bio] }) in agents.iter().enumerate() {
        index.put(number, Some(pitch), Some(bio), nickname.clone())?;
    }
    let queries: Vec<&str> =
        cases.iter().flat_map(|case| case.queries.values().map(String::as_str)).collect();

    progress.say("comparing the order with a naive one");
    let compared = if effort == Effort::Quick { 1 } else { 5 };
    let equal =
        queries.iter().take(compared).filter(|query| same_order(&index, &agents, &encoder.embed(query)));
    let equal = equal.count();
    drop(agents);

    progress.say(&format!("{rounds} rounds"));
    let bytes = vec![1_u64; AGENTS * 2 * DIMS / size_of::<u64>()];
    let chinese: String = CHINESE.chars().cycle().take(CHINESE_CHARACTERS).collect();
    let [mut search, mut embed, mut read, mut long] = [(); 4].map(|()| Rounds::default());
    for query in queries.iter().cycle().take(rounds) {
        embed.add(milliseconds(|| encoder.embed(query)));
        read.add(milliseconds(|| bytes.iter().fold(0, |sum, word| sum ^ word)));
        search.add(milliseconds(|| {
            let query = encoder.embed(query);
            index
                .ranked(&query, |_| true)
                .map(|ranked| ranked.take(TAKEN).map(|entry| *entry.key).collect::<Vec<_>>())
        }));
        long.add(milliseconds(|| encoder.embed(&chinese)));
    }
    let least = Rounds(embed.0.iter().zip(&read.0).map(|(one, two)| one + two).collect());
    let ratio = search.over(&least);

    let row = |what: &str, number: f64, value: String, spread: String| {
        Row::reported(Name::Search, what, number, value, spread)
    };
    let in_ms = |what: &str, rounds: &Rounds| {
        row(what, rounds.median(), format!("{:.1} ms", rounds.median()), rounds.spread(1))
    };
    let same = figure(equal) / figure(compared);
    let mut rows = vec![
        row(
            "search ÷ (one embedding + one read of the vectors), 100,000 agents",
            ratio.median(),
            format!("{:.2}", ratio.median()),
            ratio.spread(2),
        )
        .at_most(RATIO_MAX, "1.5"),
        in_ms("search, best 20 of 100,000 agents", &search),
        in_ms("one embedding of a query", &embed),
        in_ms("one read of 102 MB", &read),
        in_ms("one embedding of 500 Chinese characters", &long),
        row(
            "whole order equal to a naive scan",
            same,
            format!("{equal} of {compared} queries"),
            String::new(),
        )
        .at_least(1.0, "all"),
    ];
    progress.say("retrieval");
    let english = retrieval(&encoder, &cases, |case| &case.pitch_en)?;
    let mixed = retrieval(&encoder, &cases, |case| case.pitch_other.as_ref().unwrap_or(&case.pitch_en))?;
    let (found, value, languages) = english;
    rows.push(
        row("retrieval, top 5 of 30 English pitches", found, value, languages).at_least(FOUND_MIN, "0.85"),
    );
    let (found, value, languages) = mixed;
    rows.push(row("retrieval, top 5 of 30 pitches in six languages", found, value, languages));
    Ok(rows)
}

/// The whole operation, as a door calls it, on a database of as many agents.
async fn operation(effort: Effort) -> Outcome<Vec<Row>> {
    let rounds: usize = if effort == Effort::Quick { 3 } else { 31 };
    let progress = Progress::new("search");
    let encoder = Encoder::from_bytes(semantic_model::MODEL)?;
    let embedder: Arc<dyn Embedder> =
        Arc::new(LocalEmbedder::start(|| Encoder::from_bytes(semantic_model::MODEL))?);
    let home = tempfile::tempdir_in(process::directory()?)?;
    let store = people::open(Place::Directory(home.path().to_owned()), None)?;
    for first in (0..AGENTS).step_by(WRITTEN_AT_ONCE) {
        progress.say(&format!("writing agent {first} of {AGENTS}"));
        let numbers = u32::try_from(first)?..u32::try_from(first + WRITTEN_AT_ONCE)?;
        store.write(Box::new(Crowd { numbers, model: embedder.model_id().to_owned() })).await?;
    }
    let searchers = people::join(&store, "searcher", rounds.div_ceil(SEARCHES_EACH) + 1).await?;
    let outside = Outside { embedder: Some(embedder), ..Outside::default() };
    progress.say("reading the vectors");
    let world = World::on(store, searchers, None, outside).await?;
    let search = |round: usize, query: &str| {
        let body = serde_json::json!({ "query": query }).to_string();
        let world = world.clone();
        async move {
            let began = Instant::now();
            let answer = world.call(round / SEARCHES_EACH, "search_agents", &body).await?;
            let took = began.elapsed().as_secs_f64() * 1e3;
            let answer: serde_json::Value = serde_json::from_str(&answer)?;
            if answer["returned_count"] == TAKEN {
                Outcome::Ok(took)
            } else {
                Err(format!("not {TAKEN} found: {answer}").into())
            }
        }
    };
    let cold = search(rounds.next_multiple_of(SEARCHES_EACH), "who keeps agreements").await?;
    let cases: Vec<Case> = serde_json::from_str(CASES)?;
    let bytes = vec![1_u64; AGENTS * 2 * DIMS / size_of::<u64>()];
    let [mut whole, mut least] = [(); 2].map(|()| Rounds::default());
    progress.say(&format!("{rounds} searches of the whole operation"));
    let queries = cases.iter().flat_map(|case| case.queries.values()).cycle().take(rounds);
    for (round, query) in queries.enumerate() {
        least.add(tokio::task::block_in_place(|| {
            milliseconds(|| encoder.embed(query))
                + milliseconds(|| bytes.iter().fold(0, |sum, word| sum ^ word))
        }));
        whole.add(search(round, query).await?);
    }
    world.close().await?;
    let ratio = whole.over(&least);
    let row = |what: &str, number: f64, value: String, spread: String| {
        Row::reported(Name::Search, what, number, value, spread)
    };
    let ms = |rounds: &Rounds| format!("{:.1} ms", rounds.median());
    Ok(vec![
        row(
            "search_agents with its SQL and its charge ÷ (one embedding + one read), 100,000 agents",
            ratio.median(),
            format!("{:.2}", ratio.median()),
            ratio.spread(2),
        )
        .at_most(RATIO_MAX, "1.5"),
        row("search_agents, whole operation on SQLite", whole.median(), ms(&whole), whole.spread(1)),
        row("first search of a node, which reads all vectors", cold, format!("{cold:.0} ms"), String::new()),
    ])
}

fn milliseconds<T>(work: impl FnOnce() -> T) -> f64 {
    let began = Instant::now();
    black_box(work());
    began.elapsed().as_secs_f64() * 1e3
}

fn agents() -> Vec<Agent> {
    let mut vector = random_vectors(0);
    let mut agents: Vec<Agent> = Vec::with_capacity(AGENTS);
    for number in 0..AGENTS {
        let vectors = match agents.last() {
            Some(before) if number % TIES == 0 => before.vectors.clone(),
            _ => [vector(), vector()],
        };
        // Nicknames in another order than the agents came.
        agents.push(Agent { nickname: format!("agent-{:06}", number * 7_919 % AGENTS), vectors });
    }
    agents
}

/// Compares the order of all agents with a sort by weighted cosines, each computed by itself from the definition.
fn same_order(index: &Index<usize, String>, agents: &[Agent], query: &Vector) -> bool {
    let part = |vector: &Vector| {
        let square = u128::from(vector.dot(vector).unsigned_abs());
        let length = (1_u128 << 88).checked_div(square).map_or(0, u128::isqrt);
        i128::from(query.dot(vector)) * i128::try_from(length).unwrap_or_default()
    };
    let mut naive: Vec<_> = agents
        .iter()
        .enumerate()
        .map(|(number, Agent { nickname, vectors: [pitch, bio] })| {
            (Reverse(7 * part(pitch) + 3 * part(bio)), nickname.as_str(), number)
        })
        .collect();
    naive.sort_unstable();
    let Ok(ranked) = index.ranked(query, |_| true) else { return false };
    ranked.map(|entry| *entry.key).eq(naive.into_iter().map(|(_, _, number)| number))
}

/// The share of queries whose pitch is among the first five; the same in words; and by language.
fn retrieval(
    encoder: &Encoder,
    cases: &[Case],
    pitch: impl Fn(&Case) -> &String,
) -> Outcome<(f64, String, String)> {
    let mut index = Index::new(DIMS);
    for (number, case) in cases.iter().enumerate() {
        index.put(number, Some(&encoder.embed(pitch(case))), None, number)?;
    }
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let mut queries = 0;
    for (number, case) in cases.iter().enumerate() {
        for (language, query) in &case.queries {
            let hit =
                index.ranked(&encoder.embed(query), |_| true)?.take(FIRST).any(|entry| *entry.key == number);
            *found.entry(language).or_default() += usize::from(hit);
            queries += 1;
        }
    }
    let hits = found.values().sum::<usize>();
    let share = figure(hits) / figure(queries);
    let languages: Vec<String> = found.iter().map(|(language, hits)| format!("{language} {hits}")).collect();
    let languages = format!("{} of {} each", languages.join(", "), cases.len());
    Ok((share, format!("{share:.3} ({hits} of {queries})"), languages))
}
