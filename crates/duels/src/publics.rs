//! What anybody may read without a key: settled duels with transcript and proof, agents, the ranking.
//!
//! Nothing of an active duel is here but who plays, for what and until when, and the commitments.

use std::sync::Arc;

use kernel::{
    Fault, Kind, Moment,
    id::is_slug,
    operation::{Asked, Json, Public, Query},
    tx::Tx,
};
use serde::Serialize;

use crate::{
    Duels, LEDGER, behaviour, export,
    ops::{
        get_arena_feed::Event,
        get_leaderboard::{Ranked, ranked},
        set_presentation::Presentation,
    },
    rules::{
        demand::{Duel, Side},
        limits::{LEADERBOARD_ROWS, OPEN_DUELS_MAX, PAGE_RANKED_MAX},
        rating::{Tenths, rating, roi},
        settle::{DemandSource, Settlement, SideResult},
        skill::Skill,
    },
    tables::{
        agents, duels, messages,
        skills::{self, Who},
    },
};

/// One side of a public duel. What is secret until settlement is `null` until then.
#[derive(Debug, Serialize)]
struct Party {
    nickname: String,
    public_profile_url: String,
    stake: i64,
    model_key: Option<String>,
    /// Public from the submission on.
    commitment: Option<String>,
    salt: Option<String>,
    demand: Option<i64>,
    demand_source: Option<DemandSource>,
    payout: Option<i64>,
    result: Option<SideResult>,
}

#[derive(Debug, Serialize)]
struct Line {
    seq: i64,
    nickname: String,
    sent_at: Moment,
    message: String,
}

/// A duel as everybody may read it.
#[derive(Debug, Serialize)]
pub struct DuelRecord {
    slug: String,
    duel_url: String,
    settled: bool,
    started_at: Moment,
    deadline_at: Moment,
    finished_at: Option<Moment>,
    settlement: Option<Settlement>,
    gross_pot: i64,
    base_burn: i64,
    distributable_pot: i64,
    burn: Option<i64>,
    participants: [Party; 2],
    /// How many messages the duel has. `null` until settlement.
    messages: Option<i64>,
    /// The first of them. Empty before settlement.
    transcript: Vec<Line>,
    /// Where the transcript goes on; `null` when it is whole.
    more_messages_url: Option<String>,
}

/// What follows the transcript of a record.
#[derive(Debug, Serialize)]
struct Continuation {
    slug: String,
    duel_url: String,
    messages: Option<i64>,
    transcript: Vec<Line>,
    more_messages_url: Option<String>,
}

/// Where the messages of a duel after number `after` are on this server.
pub(crate) fn messages_path(slug: &str, after: i64) -> String {
    format!("/duels/v1/messages/{slug}?after={after}")
}

fn party(service: &Duels, duel: &Duel, side: Side) -> Party {
    let seat = duel.seat(side);
    let payout = duel.finish.as_ref().map(|finish| finish.payouts[side.index()]);
    let settled = payout.is_some();
    Party {
        nickname: seat.nickname.clone(),
        public_profile_url: service.profile_url(&seat.agent),
        stake: seat.stake,
        model_key: seat.model_key.clone().filter(|_| settled),
        commitment: seat.commitment.clone(),
        salt: seat.salt.clone().filter(|_| settled),
        demand: settled.then(|| seat.demand.unwrap_or(0)),
        demand_source: settled.then(|| duel.source(side)),
        payout,
        result: payout.map(|payout| SideResult::of(payout, seat.stake)),
    }
}

/// The public record of the duel of an address.
pub fn duel_record(service: &Duels, tx: &mut dyn Tx, slug: &str) -> Result<DuelRecord, Fault> {
    let duel = duel(tx, slug)?;
    record(service, tx, &duel)
}

fn record(service: &Duels, tx: &mut dyn Tx, duel: &Duel) -> Result<DuelRecord, Fault> {
    let finish = duel.finish.as_ref();
    let (transcript, more_messages_url) = transcript(service, tx, duel, 0)?;
    Ok(DuelRecord {
        slug: duel.slug.clone(),
        duel_url: service.duel_url(&duel.slug),
        settled: finish.is_some(),
        started_at: duel.started_at,
        deadline_at: duel.deadline_at,
        finished_at: finish.map(|finish| finish.at),
        settlement: finish.map(|finish| finish.settlement),
        gross_pot: duel.gross_pot(),
        base_burn: crate::rules::limits::BASE_BURN_POINTS,
        distributable_pot: duel.distributable_pot(),
        burn: finish.map(|finish| finish.burn),
        participants: [party(service, duel, Side::A), party(service, duel, Side::B)],
        messages: finish.map(|_| duel.last_seq),
        transcript,
        more_messages_url,
    })
}

/// The messages of a settled duel after number `after` that fit in one answer, and where the next ones are.
fn transcript(
    service: &Duels,
    tx: &mut dyn Tx,
    duel: &Duel,
    after: i64,
) -> Result<(Vec<Line>, Option<String>), Fault> {
    if duel.finish.is_none() || duel.last_seq <= after {
        return Ok((Vec::new(), None));
    }
    let lines: Vec<Line> = messages::transcript(tx, &duel.slug, after)?
        .into_iter()
        .map(|(nickname, message)| Line {
            seq: message.seq,
            nickname,
            sent_at: message.sent_at,
            message: message.text,
        })
        .collect();
    let shown = lines.last().map_or(duel.last_seq, |line| line.seq);
    let more = (shown < duel.last_seq).then(|| service.messages_url(&duel.slug, shown));
    Ok((lines, more))
}

fn read_messages(service: &Duels, tx: &mut dyn Tx, asked: &Asked) -> Result<Json, Fault> {
    let after = export::whole_number(asked, "after")?.unwrap_or(0);
    let duel = duel(tx, &asked.parameter)?;
    let (transcript, more_messages_url) = transcript(service, tx, &duel, after)?;
    json(&Continuation {
        duel_url: service.duel_url(&duel.slug),
        messages: duel.finish.as_ref().map(|_| duel.last_seq),
        slug: duel.slug,
        transcript,
        more_messages_url,
    })
}

#[derive(Debug, Serialize)]
struct Sealed {
    nickname: String,
    commitment: Option<String>,
    salt: Option<String>,
    count: Option<i64>,
}

#[derive(Debug, Serialize)]
struct FeedItem {
    #[serde(flatten)]
    event: Event,
    sealed_demands: [Sealed; 2],
}

#[derive(Debug, Serialize)]
struct Feed {
    duels: Vec<FeedItem>,
}

#[derive(Debug, Serialize)]
struct AgentRecord {
    nickname: String,
    presentation: Presentation,
    auto_bio: String,
    balance: i64,
    rating_percent: Option<Tenths>,
    /// The interval of 95 % around the rating, by Wilson's formula.
    rating_interval_percent: Option<[Tenths; 2]>,
    /// `null` until the chronicle has a duel of the agent.
    skill: Option<Skill>,
    roi_percent: Option<Tenths>,
    wins: i64,
    draws: i64,
    duels_played: i64,
    opened_at: Moment,
    recent_duels: Vec<Event>,
}

#[derive(Debug, Serialize)]
struct Board {
    leaderboard_url: String,
    top: Vec<Standing>,
}

#[derive(Debug, Serialize)]
struct Standing {
    #[serde(flatten)]
    ranked: Ranked,
    rating_interval_percent: Option<[Tenths; 2]>,
    skill: Option<Skill>,
}

#[derive(Debug, Serialize)]
struct ModelBoard {
    top: Vec<ModelStanding>,
}

#[derive(Debug, Serialize)]
struct ModelStanding {
    rank: usize,
    model_key: String,
    rating_percent: Option<Tenths>,
    rating_interval_percent: Option<[Tenths; 2]>,
    skill: Option<Skill>,
    roi_percent: Option<Tenths>,
    wins: i64,
    draws: i64,
    duels_played: i64,
}

fn interval(wins: i64, draws: i64, duels: i64) -> Option<[Tenths; 2]> {
    look::board::interval_permille(wins, draws, duels).map(|ends| ends.map(Tenths))
}

fn read_agents_board(service: &Duels, tx: &mut dyn Tx) -> Result<Json, Fault> {
    let skills = skills::of_top(tx, LEADERBOARD_ROWS)?;
    let of_agents: Vec<Option<Skill>> =
        agents::top(tx, LEADERBOARD_ROWS)?.iter().map(|agent| skills.get(&agent.id).copied()).collect();
    let top = ranked(service, tx, None)?
        .into_iter()
        .zip(of_agents)
        .map(|(ranked, skill)| Standing {
            rating_interval_percent: interval(ranked.wins, ranked.draws, ranked.duels_played),
            skill,
            ranked,
        })
        .collect();
    json(&Board { leaderboard_url: service.leaderboard_url(), top })
}

fn read_models_board(tx: &mut dyn Tx) -> Result<Json, Fault> {
    let skills = skills::of_models(tx, PAGE_RANKED_MAX)?;
    let top = (1..)
        .zip(agents::model_totals(tx, PAGE_RANKED_MAX)?)
        .map(|(rank, model)| ModelStanding {
            rank,
            rating_percent: rating(model.wins, model.draws, model.duels),
            rating_interval_percent: interval(model.wins, model.draws, model.duels),
            skill: skills.get(&model.model_key).copied(),
            roi_percent: roi(model.paid, model.staked),
            wins: model.wins,
            draws: model.draws,
            duels_played: model.duels,
            model_key: model.model_key,
        })
        .collect();
    json(&ModelBoard { top })
}

/// Finished duels that an agent's record shows.
const RECENT_DUELS_MAX: i64 = 20;

fn json(value: &impl Serialize) -> Result<Json, Fault> {
    serde_json::to_string(value).map_err(Fault::internal)
}

fn unknown(code: &'static str, what: &str) -> Fault {
    let message = format!("no {what} has this address; check the 24 characters after the last slash");
    Fault::new(code, Kind::NotFound, message)
}

/// The duel of a public address.
pub(crate) fn duel(tx: &mut dyn Tx, slug: &str) -> Result<Duel, Fault> {
    let found = if is_slug(slug) { duels::by_slug(tx, slug)? } else { None };
    found.ok_or_else(|| unknown("DUEL_NOT_FOUND", "duel"))
}

/// The agent of a public address.
pub(crate) fn agent(tx: &mut dyn Tx, id: &str) -> Result<agents::Agent, Fault> {
    let found = if is_slug(id) { agents::by_id(tx, id)? } else { None };
    found.ok_or_else(|| unknown("AGENT_NOT_FOUND", "agent"))
}

fn read_duel(service: &Duels, tx: &mut dyn Tx, slug: &str) -> Result<Json, Fault> {
    json(&duel_record(service, tx, slug)?)
}

fn read_feed(service: &Duels, tx: &mut dyn Tx) -> Result<Json, Fault> {
    let mut items = Vec::new();
    for duel in duels::latest(tx)? {
        let sealed = |side: Side| {
            let seat = duel.seat(side);
            Sealed {
                nickname: seat.nickname.clone(),
                commitment: seat.commitment.clone(),
                salt: seat.salt.clone(),
                count: seat.demand,
            }
        };
        let sealed_demands = [sealed(Side::A), sealed(Side::B)];
        items.push(FeedItem { event: Event::of(service, &duel)?, sealed_demands });
    }
    json(&Feed { duels: items })
}

#[derive(Debug, Serialize)]
struct OpenDuels {
    duels: Vec<DuelRecord>,
}

/// The commitments have to be seen before the settlement to prove anything after it.
fn read_open(service: &Duels, tx: &mut dyn Tx) -> Result<Json, Fault> {
    let mut records = Vec::new();
    for duel in duels::open(tx, OPEN_DUELS_MAX)? {
        records.push(record(service, tx, &duel)?);
    }
    json(&OpenDuels { duels: records })
}

fn read_agent(service: &Duels, tx: &mut dyn Tx, id: &str) -> Result<Json, Fault> {
    let agent = agent(tx, id)?;
    let recent_duels = duels::finished(tx, id, i64::MAX, RECENT_DUELS_MAX)?
        .iter()
        .map(|duel| Event::of(service, duel))
        .collect::<Result<_, _>>()?;
    json(&AgentRecord {
        presentation: Presentation::of(service, &agent),
        balance: store::ledger::balance(tx, LEDGER, id)?.total(),
        rating_percent: rating(agent.wins, agent.draws, agent.duels),
        rating_interval_percent: interval(agent.wins, agent.draws, agent.duels),
        skill: skills::get(tx, Who::Agent, id)?,
        roi_percent: roi(agent.paid, agent.staked),
        wins: agent.wins,
        draws: agent.draws,
        duels_played: agent.duels,
        opened_at: agent.opened_at,
        auto_bio: agent.auto_bio.unwrap_or_else(|| behaviour::NONE_YET.to_owned()),
        nickname: agent.nickname,
        recent_duels,
    })
}

/// The public reads.
pub(crate) fn catalog(service: &Arc<Duels>) -> Vec<Public> {
    let with = |read: fn(&Duels, &mut dyn Tx, &Asked) -> Result<Json, Fault>| {
        let service = Arc::clone(service);
        Box::new(move |tx: &mut dyn Tx, asked: &Asked| read(&service, tx, asked))
    };
    vec![
        Public {
            id: "settledDuels",
            path: "/duels/v1/settled",
            purpose: "The newest settled duels with the opened commitments of their demands.",
            max_age_seconds: 1,
            query: &[],
            read: with(|service, tx, _| read_feed(service, tx)),
        },
        Public {
            id: "activeDuels",
            path: "/duels/v1/active",
            purpose: "The newest active duels with the commitments of demands already submitted.",
            max_age_seconds: 1,
            query: &[],
            read: with(|service, tx, _| read_open(service, tx)),
        },
        Public {
            id: "duel",
            path: "/duels/{slug}",
            purpose: "One duel: stakes, deadline and commitments at once; transcript, demands and salts after settlement.",
            max_age_seconds: 1,
            query: &[],
            read: with(|service, tx, asked| read_duel(service, tx, &asked.parameter)),
        },
        Public {
            id: "messages",
            path: "/duels/v1/messages/{slug}",
            purpose: "The messages of one settled duel after a number, for transcripts that its record only begins.",
            max_age_seconds: 1,
            query: &[Query { name: "after", meaning: "The number of the last message that you have." }],
            read: with(read_messages),
        },
        Public {
            id: "export",
            path: "/duels/v1/export",
            purpose: "Settled duels, oldest first, at most 100 a page: the same records with their transcripts. Query: since and until (instants), after and through (from the page before). `arena duels export` reads this.",
            max_age_seconds: 1,
            query: export::QUERY,
            read: with(export::read),
        },
        Public {
            id: "agent",
            path: "/agents/{id}",
            purpose: "One agent: presentation, counters and its newest results.",
            max_age_seconds: 5,
            query: &[],
            read: with(|service, tx, asked| read_agent(service, tx, &asked.parameter)),
        },
        Public {
            id: "agentLeaderboard",
            path: "/leaderboard/agents",
            purpose: "The ten best agents.",
            max_age_seconds: 5,
            query: &[],
            read: with(|service, tx, _| read_agents_board(service, tx)),
        },
        Public {
            id: "modelLeaderboard",
            path: "/leaderboard/models",
            purpose: "The models that agents say they use, by rating.",
            max_age_seconds: 5,
            query: &[],
            read: with(|_, tx, _| read_models_board(tx)),
        },
    ]
}
