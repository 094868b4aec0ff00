//! `kill -9` at four points of a commit, under load, over and over on one data directory.
//!
//! What a sudden loss of power does to unsynced writes is not tested: a killed process leaves what it
//! wrote to the operating system.

use std::{os::unix::process::ExitStatusExt, time::Instant};

use kernel::id::{Ids, OsIds};

use super::{
    agent::{Agent, Dice},
    child::{self, Jobs, Order},
    load,
    trap::Trigger,
    truth::{History, Truth},
    wire::Wire,
};
use crate::process::{Home, PATIENCE};

const KILLS: u32 = 100;
const SIGKILL: i32 = 9;

#[test]
fn before_a_commit() {
    killed("faults::kill::before_a_commit", Trigger::KillBeforeCommit, 40);
}

#[test]
fn in_the_middle_of_a_batch() {
    killed("faults::kill::in_the_middle_of_a_batch", Trigger::KillInBatch, 150);
}

#[test]
fn after_a_commit_before_any_answer() {
    killed("faults::kill::after_a_commit_before_any_answer", Trigger::KillAfterCommit, 40);
}

#[test]
fn after_a_settlement_before_its_jobs() {
    killed("faults::kill::after_a_settlement_before_its_jobs", Trigger::KillAfterSettlement, 3);
}

/// `hits_max`: the kill comes at the first to this hit of the point.
fn killed(test: &str, trigger: Trigger, hits_max: u64) {
    if let Some(order) = child::asked() {
        return child::serve(&order);
    }
    let seed = u64::from_le_bytes(OsIds.seed()[..8].try_into().unwrap());
    println!("{trigger:?}: seed {seed}");
    let (dice, home) = (Dice::new(seed), Home::new());
    let settlements = trigger == Trigger::KillAfterSettlement;
    let order = Order {
        directory: Some(home.data()),
        database_url: None,
        speed_milli: load::SPEED_MILLI,
        trigger: Some(trigger),
        deadlines: true,
        jobs: if settlements { Jobs::UntilArmed } else { Jobs::Always },
    };
    let mut agents = load::agents(&home, None, seed);
    let mut history = History::default();
    let mut slowest = std::time::Duration::ZERO;
    for kill in 0..KILLS {
        let server = child::start(test, &order);
        let ready_at = Instant::now();
        let mut wire = Wire::new(&server.address, PATIENCE);
        let (truth, overdue_until) = load::at_rest(ready_at, || told(&mut wire));
        slowest = slowest.max(overdue_until);
        check(&truth, &agents, &mut history);
        if settlements && kill > 0 {
            assert!(truth.jobs_at_start >= 2, "the jobs of the last settlement were there at the start");
        }
        let hits = dice.below(hits_max) + 1;
        // The kill may come before this is answered.
        drop(wire.get(&format!("/fault/arm/{hits}")));
        load::until_gone(&mut agents, &server.address);
        let (status, _, stderr) = server.running.wait();
        assert_eq!(status.signal(), Some(SIGKILL), "{status}: {}", stderr.join("\n"));
    }

    let server = child::start(test, &Order { trigger: None, jobs: Jobs::Always, ..order });
    load::answer_all(&mut agents, &server.address);
    let mut wire = Wire::new(&server.address, PATIENCE);
    let (truth, _) = load::at_rest(Instant::now(), || told(&mut wire));
    check(&truth, &agents, &mut history);
    server.kill();
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
    let acknowledged: usize = agents.iter().map(Agent::acknowledged).sum();
    let repeated: u64 = agents.iter().map(|agent| agent.repeated).sum();
    println!(
        "killed {KILLS} times at {trigger:?}: {acknowledged} acknowledged changes, 0 lost, {repeated} calls repeated, \
         0 done twice, {} duels settled, 0 twice, the last overdue one settled {} ms after a restart",
        history.settled(),
        slowest.as_millis()
    );
    assert!(history.settled() > 0 && acknowledged > 0 && repeated > 0, "this run has shown nothing");
}

fn told(wire: &mut Wire) -> Truth {
    serde_json::from_str(&wire.get("/fault/truth").unwrap().body).unwrap()
}

fn check(truth: &Truth, agents: &[Agent], history: &mut History) {
    history.check(truth);
    for agent in agents {
        agent.check(truth);
    }
    for (nickname, (duels, bio)) in &truth.bios {
        let counted = format!("over {} duel", (*duels).min(duels::behaviour::WINDOW_DUELS));
        assert!(bio.as_ref().is_some_and(|bio| bio.contains(&counted)), "{nickname} {duels}: {bio:?}");
    }
}
