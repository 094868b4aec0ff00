//! A run in which at least one side is a program: a server on loopback with its state in memory, to which
//! programs connect like to any other, and scripted players as the clients that they are in the demo.
//!
//! The clock runs fast and skips the wait between two duels as soon as one is settled.

use std::{
    io::Write,
    process::ExitStatus,
    sync::Arc,
    time::{Duration, Instant},
};

use duels::{publics::DuelRecord, rules::limits::COOLDOWN_MS, view::Record};
use kernel::{
    Fault,
    id::{Ids, OsIds},
    tx::Verdict,
};
use store::Place;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    fill::FillUp,
    plan::{Plan, Player, nickname},
    program::{Program, Ticket},
    tally::Tally,
    transcript,
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
    serve::{
        avatars::Workshop,
        house::{House, Plan as ServerPlan},
    },
};

/// How often the run looks for settlements.
const LOOK: Duration = Duration::from_millis(20);
/// Settlements that one look takes.
const LOOK_MAX: i64 = 50;

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
        workshop: Workshop::default(),
    })
    .await?;
    house.store.set_speed(plan.clock_speed_milli)?;
    let stop = wish.child_token();
    let mut programs = Vec::new();
    let mut scripts = JoinSet::new();
    let seated = seat(plan, &house, &base, &stop, &mut programs, &mut scripts).await;
    let played = match seated {
        Ok(()) => {
            Table { plan, house: &house, stop: &stop }.follow(tally, transcripts, &mut programs, each).await
        }
        Err(failure) => Err(failure),
    };
    stop.cancel();
    // Together, so that all are gone before a repeated signal counts and ends this process at once.
    let ending: JoinSet<String> = programs.into_iter().map(Program::end).collect();
    ending.join_all().await;
    scripts.abort_all();
    house.close().await;
    played
}

async fn seat(
    plan: &Plan,
    house: &House,
    base: &str,
    stop: &CancellationToken,
    programs: &mut Vec<Program>,
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
            Player::Program(words) => {
                programs.push(Program::start(words, &Ticket { base, side, key: &key, duels: plan.rounds })?);
            }
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

/// What the run watches.
struct Table<'t> {
    plan: &'t Plan,
    house: &'t House,
    stop: &'t CancellationToken,
}

/// A settlement that the run has not counted yet.
struct News {
    seq: i64,
    record: Record,
    duel: DuelRecord,
}

impl Table<'_> {
    /// Counts settlements until there are enough, a program ends, or nothing happens for too long.
    async fn follow(
        &self,
        tally: &mut Tally,
        mut transcripts: Option<&mut (dyn Write + Send)>,
        programs: &mut Vec<Program>,
        mut each: impl FnMut(u64),
    ) -> Result<(), Failure> {
        let agents = [self.agent(0).await?, self.agent(1).await?];
        let (mut after, mut quiet_since) = (0, Instant::now());
        let mut ended: Option<(usize, ExitStatus)> = None;
        loop {
            for News { seq, record, duel } in self.settled(&agents[0], after).await? {
                (after, quiet_since) = (seq, Instant::now());
                if tally.duels < self.plan.rounds {
                    tally.add(&record, 0);
                    each(tally.duels);
                    if let Some(out) = transcripts.as_deref_mut() {
                        transcript::write(out, tally.duels, &duel)?;
                    }
                }
                for agent in &agents {
                    tally.refills += u64::from(self.fill_up(agent).await?);
                }
                self.skip_cooldown().await?;
            }
            if tally.duels >= self.plan.rounds || self.stop.is_cancelled() {
                return Ok(());
            }
            // Told one look later: its last duel may have been settled since this look.
            if let Some((at, status)) = ended {
                return Err(self.left(programs.swap_remove(at), status, tally.duels).await);
            }
            ended = programs
                .iter()
                .enumerate()
                .find_map(|(at, program)| program.ended().map(|status| (at, status)));
            if quiet_since.elapsed() > self.plan.patience {
                return Err(self.stalled(&agents, programs, tally.duels).await?);
            }
            if ended.is_none() {
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    /// The id of a side.
    async fn agent(&self, side: usize) -> Result<String, Fault> {
        self.house
            .store
            .read(move |tx| identity::people::get(tx, nickname(side)).map(|person| person.id))
            .await
    }

    async fn settled(&self, agent: &str, after: i64) -> Result<Vec<News>, Fault> {
        let (agent, service) = (agent.to_owned(), Arc::clone(&self.house.service));
        let read = move |tx: &mut dyn kernel::tx::Tx| {
            let settled = duels::settled_after(tx, &agent, after, LOOK_MAX)?;
            let news = settled.into_iter().map(|(seq, slug, record)| {
                let duel = duels::publics::duel_record(&service, tx, &slug)?;
                Ok(News { seq, record, duel })
            });
            news.collect()
        };
        self.house.store.read(read).await
    }

    async fn fill_up(&self, agent: &str) -> Result<bool, Fault> {
        let (agent, points) = (agent.to_owned(), self.plan.points);
        let fill_up = FillUp { agent, points, seed: OsIds.seed() };
        let filled = self.house.store.write(Box::new(fill_up)).await?;
        Ok(matches!(filled, Verdict::Done(true)))
    }

    async fn skip_cooldown(&self) -> Result<(), Failure> {
        let store = self.house.store.clone();
        tokio::task::spawn_blocking(move || store.advance(COOLDOWN_MS))
            .await
            .map_err(|error| Failure::failed(format!("the clock was not moved: {error}")))??;
        Ok(())
    }

    /// A program ended before the run did.
    async fn left(&self, program: Program, status: ExitStatus, duels: u64) -> Failure {
        let name = program.name();
        let words = program.end().await;
        Failure::new(
            ExitCode::Refused,
            format!("{name} ended after {duels} of {} duels ({status})", self.plan.rounds),
        )
        .hint(if words.is_empty() {
            "it wrote nothing to standard error; run it against `arena demo` to see what it does".to_owned()
        } else {
            format!("its last words: {words}")
        })
    }

    /// Nothing was settled for too long: who never came in, and what the programs said last.
    async fn stalled(
        &self,
        agents: &[String; 2],
        programs: &[Program],
        duels: u64,
    ) -> Result<Failure, Fault> {
        let mut hints = Vec::new();
        for program in programs {
            let agent = agents[program.side].clone();
            if !self.house.store.read(move |tx| duels::simulation::has_entered(tx, &agent)).await? {
                hints.push(format!(
                    "{} never entered the arena: check that it calls enter_arena at ARENA_MCP_URL with ARENA_API_KEY",
                    program.name()
                ));
            }
            let words = program.last_words();
            if !words.is_empty() {
                hints.push(format!("the last words of {}: {words}", program.name()));
            }
        }
        if hints.is_empty() {
            hints.push(
                "check that one side challenges ARENA_OPPONENT and that both demand; an agent that thinks for long needs a lower --clock-speed and more --patience"
                    .to_owned(),
            );
        }
        Ok(Failure::new(
            ExitCode::Refused,
            format!(
                "no duel was settled for {} seconds, after {duels} of {}",
                self.plan.patience.as_secs(),
                self.plan.rounds
            ),
        )
        .hint(hints.join("; ")))
    }
}
