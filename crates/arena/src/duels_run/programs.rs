//! A run in which at least one side is a program: a server on loopback with its state in memory, to which
//! programs connect like to any other, and scripted players as the clients that they are in the demo.
//!
//! The clock runs fast and skips the wait between two duels as soon as one is settled.

use std::{
    io::Write,
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use duels::rules::limits::COOLDOWN_MS;
use kernel::{
    Fault,
    id::{Ids, OsIds},
};
use store::Place;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
    task::{JoinHandle, JoinSet},
};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    plan::{Plan, Player},
    tally::Tally,
};
use crate::{
    config::layers::Loaded,
    demo::{
        agent::{self, Setup},
        roster::Roster,
        run::{agent_http, enrol},
    },
    exit::ExitCode,
    failure::Failure,
    serve::house::{House, Plan as ServerPlan},
};

/// Without a settlement for so long, in real time, the run is given up.
const STALL: Duration = Duration::from_mins(1);
/// How often the run looks for settlements.
const LOOK: Duration = Duration::from_millis(20);
/// Settlements that one look takes.
const LOOK_MAX: i64 = 50;
/// How long programs may take to end when they are asked to.
const GRACE: Duration = Duration::from_millis(500);
/// What is kept of what a program wrote to standard error.
const LAST_WORDS_CHARS: usize = 600;

/// A program that plays.
struct Running {
    name: String,
    child: Child,
    last_words: JoinHandle<String>,
}

/// Plays; answers nothing but what is in the tally.
pub(super) async fn play(
    plan: &Plan,
    loaded: &Loaded,
    tally: &mut Tally,
    transcripts: Option<&mut (dyn Write + Send)>,
    wish: &CancellationToken,
    each: impl FnMut(u64),
) -> Result<(), Failure> {
    let mut loaded = loaded.clone();
    loaded.config.duels.opening_points = plan.points;
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .map_err(|error| Failure::failed(format!("no port of loopback can be listened on: {error}")))?;
    let address =
        listener.local_addr().map_err(|error| Failure::failed(format!("the listener is gone: {error}")))?;
    let base = format!("http://{address}");
    let public_url = Url::parse(&base)
        .map_err(|error| Failure::failed(format!("the listener has no address: {error}")))?;
    let house = House::open(ServerPlan {
        loaded: &loaded,
        place: Place::Memory,
        listener,
        public_url,
        drain_time: Duration::from_secs(1),
        on_request: None,
    })
    .await?;
    house.store.set_speed(plan.clock_speed_milli)?;
    let stop = wish.child_token();
    let mut running = Vec::new();
    let mut scripts = JoinSet::new();
    let seated = seat(plan, &house, &base, &stop, &mut running, &mut scripts).await;
    let played = match seated {
        Ok(()) => follow(plan, &house, &base, tally, transcripts, &stop, &mut running, each).await,
        Err(failure) => Err(failure),
    };
    stop.cancel();
    for program in running {
        end(program).await;
    }
    scripts.abort_all();
    house.close().await;
    played
}

/// The nickname of a side.
const fn nickname(side: usize) -> &'static str {
    if side == 0 { "side-a" } else { "side-b" }
}

async fn seat(
    plan: &Plan,
    house: &House,
    base: &str,
    stop: &CancellationToken,
    running: &mut Vec<Running>,
    scripts: &mut JoinSet<()>,
) -> Result<(), Failure> {
    let roster = Roster::default();
    for side in 0..2 {
        roster.join(nickname(side));
    }
    let (events, mut unread) = tokio::sync::mpsc::unbounded_channel();
    scripts.spawn(async move { while unread.recv().await.is_some() {} });
    for (side, player) in plan.players.iter().enumerate() {
        let key = enrol(house, nickname(side)).await?;
        match player {
            Player::Program(words) => running.push(start(words, base, side, &key)?),
            Player::Scripted(script) => {
                let setup = Setup {
                    nickname: nickname(side).to_owned(),
                    script,
                    key,
                    url: format!("{base}/duels/mcp"),
                    http: agent_http()?,
                    speed_milli: plan.clock_speed_milli,
                    ids: Arc::new(OsIds) as Arc<dyn Ids>,
                    roster: roster.clone(),
                    events: events.clone(),
                    shutdown: stop.clone(),
                };
                scripts.spawn(async move {
                    agent::play(setup).await;
                });
            }
        }
    }
    Ok(())
}

fn start(words: &[String], base: &str, side: usize, key: &str) -> Result<Running, Failure> {
    let name = words.join(" ");
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command
        .args(words.get(1..).unwrap_or_default())
        .env("ARENA_URL", base)
        .env("ARENA_MCP_URL", format!("{base}/duels/mcp"))
        .env("ARENA_API_KEY", key)
        .env("ARENA_NICKNAME", nickname(side))
        .env("ARENA_OPPONENT", nickname(1 - side))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // A group of its own, so that what the program starts ends with it.
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| {
        Failure::usage(format!("{name:?} cannot be started: {error}"))
            .hint("check the path and that it may be executed; arguments are separated by spaces")
    })?;
    let stderr = child.stderr.take();
    let last_words = tokio::spawn(async move {
        let mut kept = String::new();
        let Some(stderr) = stderr else { return kept };
        let mut lines = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            kept.push_str(&line);
            kept.push('\n');
            let surplus = kept.chars().count().saturating_sub(LAST_WORDS_CHARS);
            if surplus > 0 {
                kept = kept.chars().skip(surplus).collect();
            }
        }
        kept
    });
    Ok(Running { name, child, last_words })
}

/// Ends a program and everything in its group, and waits for it.
async fn end(mut program: Running) -> String {
    if let Some(pid) =
        program.child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
    {
        // A group that is gone already needs no signal.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::TERM);
        if tokio::time::timeout(GRACE, program.child.wait()).await.is_err() {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
            let _ = program.child.wait().await;
        } else {
            // What it started may still run.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
    tokio::time::timeout(GRACE, program.last_words).await.ok().and_then(Result::ok).unwrap_or_default()
}

#[expect(clippy::too_many_arguments, reason = "one loop that everything of a run meets in")]
async fn follow(
    plan: &Plan,
    house: &House,
    base: &str,
    tally: &mut Tally,
    mut transcripts: Option<&mut (dyn Write + Send)>,
    stop: &CancellationToken,
    running: &mut Vec<Running>,
    mut each: impl FnMut(u64),
) -> Result<(), Failure> {
    let http = crate::remote::http::Http::new()?;
    let first = house.store.read(|tx| identity::people::get(tx, nickname(0)).map(|person| person.id)).await?;
    let (mut after, mut news) = (0, Instant::now());
    loop {
        let agent = first.clone();
        let settled: Vec<_> =
            house.store.read(move |tx| duels::settled_after(tx, &agent, after, LOOK_MAX)).await?;
        for (seq, slug, record) in settled {
            (after, news) = (seq, Instant::now());
            if tally.duels < plan.rounds {
                tally.add(&record, 0);
                each(tally.duels);
                if let Some(out) = transcripts.as_deref_mut() {
                    let url = Url::parse(&format!("{base}/duels/{slug}")).map_err(Fault::internal)?;
                    let body = http.get(&url).await?.body.unwrap_or_default();
                    writeln!(out, "{body}").map_err(|error| unwritable(&error))?;
                }
            }
            advance(house, COOLDOWN_MS).await?;
        }
        if tally.duels >= plan.rounds || stop.is_cancelled() {
            return Ok(());
        }
        for at in 0..running.len() {
            if let Ok(Some(status)) = running[at].child.try_wait() {
                let program = running.swap_remove(at);
                let name = program.name.clone();
                let words = end(program).await;
                return Err(Failure::new(
                    ExitCode::Refused,
                    format!("{name:?} ended after {} of {} duels ({status})", tally.duels, plan.rounds),
                )
                .hint(if words.trim().is_empty() {
                    "it wrote nothing to standard error; run it against `arena demo` to see what it does"
                        .to_owned()
                } else {
                    format!("its last words: {}", words.trim())
                }));
            }
        }
        if news.elapsed() > STALL {
            return Err(Failure::new(
                ExitCode::Refused,
                format!("no duel was settled for {} seconds, after {} of {}", STALL.as_secs(), tally.duels, plan.rounds),
            )
            .hint("check that the program connects to ARENA_MCP_URL with ARENA_API_KEY, enters the arena and challenges ARENA_OPPONENT"));
        }
        tokio::time::sleep(LOOK).await;
    }
}

pub(super) fn unwritable(error: &std::io::Error) -> Failure {
    Failure::failed(format!("the transcripts cannot be written: {error}"))
        .hint("check the path of --transcripts and the free space")
}

async fn advance(house: &House, ms: i64) -> Result<(), Failure> {
    let store = house.store.clone();
    tokio::task::spawn_blocking(move || store.advance(ms))
        .await
        .map_err(|error| Failure::failed(format!("the clock was not moved: {error}")))??;
    Ok(())
}
