//! Row `duels`: whole durable duels, beside a replay of the very SQL that they ran.

use std::{path::Path, time::Duration};

use store::Place;

use super::{Name, Row};
use crate::{
    Effort,
    duel::{
        inserts,
        players::{SCRIPT, Season},
        replay,
        tape::{Tape, Totals, totals},
        through_door,
        world::World,
    },
    harness::{
        Outcome,
        cluster::Cluster,
        process::{self, Server},
        progress::Progress,
        rounds::{Rounds, figure},
    },
};

const PAIRS: usize = 128;
const ROUNDS_OF_DUELS: usize = 8;

#[derive(Default)]
struct Figures {
    played: Rounds,
    replayed: Rounds,
    inserted: Rounds,
    door: Rounds,
    postgres: Rounds,
    door_postgres: Rounds,
    totals: Totals,
    reads: usize,
}

pub(crate) async fn measure(effort: Effort) -> Outcome<Vec<Row>> {
    let (rounds, season) = match effort {
        Effort::Quick => (2, Season { pairs: PAIRS, rounds: 1 }),
        Effort::Full => (5, Season { pairs: PAIRS, rounds: ROUNDS_OF_DUELS }),
    };
    let progress = Progress::new("duels");
    progress.say("starting PostgreSQL, if there is one");
    let cluster = tokio::task::spawn_blocking(Cluster::start).await??;
    let mut figures = Figures::default();
    for round in 1..=rounds {
        let say = |what: &str| progress.say(&format!("round {round} of {rounds}, {what}"));
        say("in process, then the replay");
        beside_replay(season, &mut figures).await?;
        say("one-row commands");
        let home = tempfile::tempdir_in(process::directory()?)?;
        let place = Place::Directory(home.path().to_owned());
        let each = season.rounds * SCRIPT.len();
        let took = inserts::run(place, season.pairs, each).await?;
        figures.inserted.add(rate(season.pairs * each, took));
        say("through the door");
        figures.door.add(rate(season.duels(), at_the_door(season, "guest", None).await?));
        if let Some(cluster) = &cluster {
            // Fewer duels, because each takes longer.
            let season = Season { rounds: season.rounds.div_ceil(4), ..season };
            say("on PostgreSQL");
            let place = Place::Postgres(cluster.url.clone());
            let mut world = World::open(place, Vec::new(), None).await?;
            world.populate(&format!("inside-{round}"), season).await?;
            figures.postgres.add(rate(season.duels(), world.play(season).await?));
            world.close().await?;
            let stem = format!("guest-{round}");
            let took = at_the_door(season, &stem, Some(&cluster.url)).await?;
            figures.door_postgres.add(rate(season.duels(), took));
        }
    }
    Ok(rows(season, &figures, cluster.is_some()))
}

fn rate(count: usize, took: Duration) -> f64 {
    figure(count) / took.as_secs_f64()
}

/// Plays a season under the recorder, then runs the recording on a copy of the same start.
async fn beside_replay(season: Season, figures: &mut Figures) -> Outcome<()> {
    let home = tempfile::tempdir_in(process::directory()?)?;
    let (played, copy) = (home.path().join("played"), home.path().join("copy.db"));
    let mut world = World::open(Place::Directory(played.clone()), Vec::new(), None).await?;
    world.populate("agent", season).await?;
    let agents = world.agents().to_vec();
    world.close().await?;
    std::fs::copy(played.join("arena.db"), &copy)?;

    let tape = Tape::default();
    let world = World::open(Place::Directory(played.clone()), agents, Some(tape.clone())).await?;
    let took = world.play(season).await?;
    world.close().await?;
    let events = tape.take();
    figures.played.add(rate(season.duels(), took));
    (figures.totals, figures.reads) = (totals(&events), tape.reads());

    let target = copy.clone();
    let replayed = tokio::task::spawn_blocking(move || replay::replay(&target, &events)).await??;
    figures.replayed.add(rate(season.duels(), replayed));
    same(&played.join("arena.db"), &copy)
}

/// A replay that left another state did other work, and its time says nothing.
fn same(played: &Path, copy: &Path) -> Outcome<()> {
    if replay::contents(played)? == replay::contents(copy)? {
        return Ok(());
    }
    Err("the replay left another state than the duels; the recording is not whole".into())
}

async fn at_the_door(season: Season, stem: &str, url: Option<&str>) -> Outcome<Duration> {
    let home = tempfile::tempdir_in(process::directory()?)?;
    let place = match url {
        Some(url) => Place::Postgres(url.to_owned()),
        None => Place::Directory(home.path().to_owned()),
    };
    let mut world = World::open(place, Vec::new(), None).await?;
    world.populate(stem, season).await?;
    let agents = world.agents().to_vec();
    world.close().await?;
    let arena = process::sibling("arena")?;
    let command = |at| {
        let mut command = process::arena(&arena, home.path(), at);
        command.envs(url.map(|url| ("ARENA_DATABASE__URL", url)));
        command
    };
    let server = Server::start(command, "/readyz").await?;
    through_door::play(server.address, &agents, season).await
}

fn rows(season: Season, figures: &Figures, postgres: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    let ratio = figures.played.over(&figures.replayed);
    let value = format!("{:.2}", ratio.median());
    let what = "duels in process ÷ replay of their SQL, SQLite";
    rows.push(Row::reported(Name::Duels, what, ratio.median(), value, ratio.spread(2)).at_least(0.6, "0.6"));
    let mut report = |what: &str, unit: &str, rounds: &Rounds| {
        let value = format!("{:.0} {unit}/s", rounds.median());
        rows.push(Row::reported(Name::Duels, what, rounds.median(), value, rounds.spread(0)));
    };
    report("in process, SQLite", "duels", &figures.played);
    report("replay of their SQL", "duels", &figures.replayed);
    report("one-row commands, same store and callers", "rows", &figures.inserted);
    report("through the door, SQLite", "duels", &figures.door);
    if postgres {
        report("in process, PostgreSQL", "duels", &figures.postgres);
        report("through the door, PostgreSQL", "duels", &figures.door_postgres);
    } else {
        rows.push(Row::absent(Name::Duels, "on PostgreSQL"));
    }
    let duels = figure(season.duels());
    let (inside, before) = (figure(figures.totals.statements) / duels, figure(figures.reads) / duels);
    let what = format!("statements of a duel ({} commands)", SCRIPT.len());
    let value = format!("{inside:.1} in commands, {before:.1} in first steps");
    rows.push(Row::reported(Name::Duels, &what, inside + before, value, String::new()));
    let batch = figure(figures.totals.commands) / figure(figures.totals.commits.max(1));
    let value = format!("{batch:.0} commands");
    rows.push(Row::reported(Name::Duels, "commands that share a commit, mean", batch, value, String::new()));
    rows
}
