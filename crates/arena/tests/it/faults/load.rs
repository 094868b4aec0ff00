//! Agents that duel on one or more servers at once, until the servers are gone or the test has enough.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use kernel::{Fault, tx::Tx};
use store::{Options, Place, Store};

use super::{
    agent::{Agent, Step},
    truth::{self, Truth},
    wire::Wire,
};
use crate::process::{Home, PATIENCE, Ran};

/// So many that stakes stay large however much is burned.
pub(crate) const OPENING_POINTS: i64 = 1_000_000_000;
/// A duel lasts two real seconds, and a call costs no agent its budget.
pub(crate) const SPEED_MILLI: i64 = 300_000;
pub(crate) const SPEED: &str = "300";
const NICKNAMES: [&str; 8] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];
/// How soon after a restart nothing may be overdue by as much.
const SETTLED_WITHIN: Duration = Duration::from_secs(1);

/// Makes the people with the program itself.
pub(crate) fn agents(home: &Home, database_url: Option<&str>, seed: u64) -> Vec<Agent> {
    let make = |(number, nickname): (usize, &&str)| {
        let mut command = home.command(&["admin", "user", "create", nickname, "--json"]);
        command.env("ARENA_DUELS__OPENING_POINTS", OPENING_POINTS.to_string());
        command.envs(database_url.map(|url| ("ARENA_DATABASE__URL", url)));
        let ran = Ran::of(&mut command);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let made: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let rivals = NICKNAMES.iter().filter(|other| *other != nickname).map(|&other| other.into()).collect();
        Agent::new(
            nickname,
            made["apiKey"].as_str().unwrap().to_owned(),
            rivals,
            seed ^ (number as u64) << 56,
        )
    };
    NICKNAMES.iter().enumerate().map(make).collect()
}

/// Everybody plays on this server until it answers no more.
pub(crate) fn until_gone(agents: &mut [Agent], address: &str) {
    let since = Instant::now();
    thread::scope(|scope| {
        for agent in agents {
            scope.spawn(move || {
                let mut wire = Wire::new(address, PATIENCE);
                agent.wake();
                while agent.step(&mut wire) != Step::NoAnswer {
                    assert!(since.elapsed() < PATIENCE, "the server lives on");
                }
            });
        }
    });
}

/// Everybody plays on these servers, now on one, now on another, while `during` runs.
pub(crate) fn while_running<T>(
    agents: &mut [Agent],
    addresses: &[&str],
    patience: Duration,
    during: impl FnOnce() -> T,
) -> T {
    let enough = AtomicBool::new(false);
    thread::scope(|scope| {
        let enough = &enough;
        // Also when `during` fails: the threads are waited for.
        let _stop = Stop(enough);
        for agent in agents {
            agent.wake();
            scope.spawn(move || {
                let mut wires: Vec<_> = addresses.iter().map(|at| Wire::new(at, patience)).collect();
                while !enough.load(Ordering::SeqCst) {
                    let index = usize::try_from(agent.roll(wires.len() as u64)).unwrap();
                    if agent.step(&mut wires[index]) == Step::NoAnswer {
                        thread::sleep(Duration::from_millis(2));
                    }
                }
            });
        }
        during()
    })
}

struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Everybody repeats what has no answer until it has one.
pub(crate) fn answer_all(agents: &mut [Agent], address: &str) {
    let since = Instant::now();
    let mut wire = Wire::new(address, PATIENCE);
    for agent in agents {
        while agent.waits() {
            agent.step(&mut wire);
            assert!(since.elapsed() < PATIENCE, "{} gets no answer", agent.nickname);
        }
    }
}

/// The state when nothing is due and no job waits. Fails when a duel stays unsettled for longer than it
/// may after `ready_at`.
pub(crate) fn at_rest(ready_at: Instant, mut read: impl FnMut() -> Truth) -> (Truth, Duration) {
    let mut overdue_until = Duration::ZERO;
    loop {
        let asked_at = ready_at.elapsed();
        let truth = read();
        if truth.overdue > 0 {
            overdue_until = asked_at;
        }
        assert!(
            asked_at < SETTLED_WITHIN || truth.late == 0,
            "{} duels are unsettled more than a second after their deadline, {asked_at:?} after the start",
            truth.late
        );
        if truth.overdue == 0 && truth.jobs == 0 {
            return (truth, overdue_until);
        }
        assert!(asked_at < PATIENCE, "{} overdue, {} jobs", truth.overdue, truth.jobs);
        thread::sleep(Duration::from_millis(10));
    }
}

/// Longer than a call waits for a database that is away.
pub(crate) const AWAY: Duration = Duration::from_secs(6);

/// A look, beside the servers, at the database that they share.
pub(crate) struct Shared(Store);

impl Shared {
    pub(crate) fn open(url: &str) -> Self {
        let mut options = Options::new(Place::Postgres(url.to_owned()));
        options.schemas = vec![store::SCHEMA, identity::SCHEMA, duels::SCHEMA];
        (options.readers, options.writers) = (1, 1);
        Self(Store::open(options).unwrap())
    }

    /// Jobs are not counted: what a killed server had claimed stays its own for a minute.
    pub(crate) fn truth(&self) -> Truth {
        let mut truth = self.read(|tx| truth::read(tx, SPEED_MILLI));
        truth.jobs = 0;
        truth
    }

    pub(crate) fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut dyn Tx) -> Result<T, Fault> + Send + 'static,
    ) -> T {
        self.0.read_blocking(query).unwrap()
    }

    /// Waits until so many duels are settled.
    pub(crate) fn until_settled(&self, count: usize) {
        let wanted = i64::try_from(count).unwrap();
        until("duels settle", || self.read(|tx| duels::audit::settled(tx)) >= wanted);
    }
}

/// Waits until it holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < PATIENCE, "in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
