//! A node that freezes at the worst instant: in the middle of a settlement's transaction, and with a
//! job in its hands past the lease.

use std::{thread, time::Instant};

use kernel::{Fault, tx::Tx};
use serde_json::json;
use store::Place;
use testkit::TestPlace;

use super::{
    child::{self, Jobs, Order},
    load::{self, Shared},
    trap::Trigger,
    truth::{self, History},
    wire::{Reply, Wire},
};
use crate::process::{Home, PATIENCE, Ran, Server};

kernel::statements! {
    JOBS = "SELECT id, state, lease_token, attempts FROM job ORDER BY id";
}

const LEASE_MS: i64 = 500;
const LEASE_LONG_MS: i64 = 600_000;

struct Two {
    _place: TestPlace,
    home: Home,
    url: String,
    keys: [String; 2],
}

impl Two {
    /// Two people on a database of the test's own.
    fn new(test: &str) -> Option<Self> {
        let place = TestPlace::postgres(test)?;
        let Place::Postgres(url) = place.place() else { panic!("the place is on PostgreSQL") };
        let home = Home::new();
        let keys = ["alpha", "bravo"].map(|nickname| {
            let mut command = home.command(&["admin", "user", "create", nickname, "--json"]);
            let ran = Ran::of(command.env("ARENA_DATABASE__URL", &url));
            let made: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            made["apiKey"].as_str().unwrap().to_owned()
        });
        Some(Self { _place: place, home, url, keys })
    }

    fn order(&self, trigger: Option<Trigger>, jobs: Jobs) -> Order {
        let database_url = Some(self.url.clone());
        Order { directory: None, database_url, speed_milli: 1000, trigger, deadlines: false, jobs }
    }

    fn call(&self, wire: &mut Wire, agent: usize, tool: &str, input: &serde_json::Value) -> Reply {
        wire.call(tool, &self.keys[agent], None, &input.to_string()).unwrap()
    }

    /// A duel in which the second demand is still missing.
    fn begin(&self, wire: &mut Wire) {
        for agent in 0..2 {
            assert_eq!(self.call(wire, agent, "enter_arena", &json!({"pitch": "here"})).status, 200);
        }
        let begun = self.call(wire, 0, "challenge_agent", &json!({"nickname": "bravo"}));
        assert_eq!(begun.status, 200, "{}", begun.body);
        let demanded = self.call(wire, 0, "submit_demand", &json!({"nickname": "bravo", "count": 9}));
        assert_eq!(demanded.status, 200, "{}", demanded.body);
    }
}

/// Waits until the process is stopped by a signal.
fn until_frozen(server: &Server) {
    let path = format!("/proc/{}/stat", server.running.id());
    load::until("the process freezes", || {
        let stat = std::fs::read_to_string(&path).unwrap();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
    });
}

#[test]
fn in_the_middle_of_a_settlement() {
    if let Some(order) = child::asked() {
        return child::serve(&order);
    }
    let test = "faults::freeze::in_the_middle_of_a_settlement";
    let Some(two) = Two::new(test) else { return };
    let frozen = child::start(test, &two.order(Some(Trigger::FreezeBeforeCommit), Jobs::Never));
    let mut wire = Wire::new(&frozen.address, PATIENCE);
    two.begin(&mut wire);
    // A call commits its place in the budget first, and then what it is for.
    assert_eq!(wire.get("/fault/arm/2").unwrap().body, "armed");
    let last = json!({"nickname": "alpha", "count": 10});
    thread::scope(|scope| {
        let told = scope.spawn(|| {
            let mut wire = Wire::new(&frozen.address, PATIENCE);
            two.call(&mut wire, 1, "submit_demand", &last)
        });
        until_frozen(&frozen);
        let other = two.home.serve(&["--database-url", &two.url]);
        let mut wire = Wire::new(&other.address, PATIENCE);
        let shared = Shared::open(&two.url);
        assert_eq!(shared.truth().settled, 0, "the settlement is not committed");
        // What the frozen node holds is given up by the database, so the same demand gets through here.
        let since = Instant::now();
        let settled = loop {
            let reply = two.call(&mut wire, 1, "submit_demand", &last);
            if reply.status == 200 {
                break reply;
            }
            assert_eq!(reply.status, 503, "{}", reply.body);
            assert!(reply.retry_after.is_some() && since.elapsed() < PATIENCE, "{}", reply.body);
        };
        let held = since.elapsed();
        assert_eq!(settled.json()["state"], "FINISHED", "{}", settled.body);
        let mut history = History::default();
        let before = shared.truth();
        history.check(&before);
        frozen.running.signal("CONT");
        let late = told.join().unwrap();
        assert_eq!(
            (late.status, late.json()["action"].as_str()),
            (200, Some("FINISHED_DUEL")),
            "{}",
            late.body
        );
        assert_eq!(late.json()["result"], settled.json()["result"], "one settlement, told twice");
        let after = shared.truth();
        history.check(&after);
        assert_eq!((after.settled, after.moved), (1, before.moved));
        // The thawed node goes on working.
        let mut wire = Wire::new(&frozen.address, PATIENCE);
        let gift = two.call(&mut wire, 0, "transfer", &json!({"nickname": "bravo", "count": 1}));
        assert_eq!(gift.status, 200, "{}", gift.body);
        println!("frozen in a settlement: its locks held the other node up for {} ms", held.as_millis());
        other.stop();
    });
}

/// Id, state, token and attempts of each job.
type Held = Vec<(String, String, Option<String>, i64)>;

fn held(tx: &mut dyn Tx) -> Result<Held, Fault> {
    let rows = tx.rows(&JOBS, &[])?;
    rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?, row.opt_text(2)?, row.i64(3)?))).collect()
}

#[test]
fn with_a_job_past_its_lease() {
    if let Some(order) = child::asked() {
        return child::serve(&order);
    }
    let test = "faults::freeze::with_a_job_past_its_lease";
    let Some(two) = Two::new(test) else { return };
    let frozen = child::start(test, &two.order(None, Jobs::FreezeOnce { lease_ms: LEASE_MS }));
    let shared = Shared::open(&two.url);
    // The settlement comes from a node without jobs, so that the freeze cannot swallow its answer.
    let quiet = child::start(test, &two.order(None, Jobs::Never));
    let mut wire = Wire::new(&quiet.address, PATIENCE);
    two.begin(&mut wire);
    let settled = two.call(&mut wire, 1, "submit_demand", &json!({"nickname": "alpha", "count": 10}));
    assert_eq!(settled.json()["state"], "FINISHED", "{}", settled.body);
    until_frozen(&frozen);
    let first = shared.read(held);
    assert!(first.iter().all(|(_, state, _, attempts)| state == "running" && *attempts == 1), "{first:?}");
    assert_eq!(first.len(), 2, "one job for each agent: {first:?}");

    let other = child::start(test, &two.order(None, Jobs::Held { lease_ms: LEASE_LONG_MS }));
    load::until("the other node claims what the frozen one held", || {
        shared.read(held).iter().all(|(_, state, _, attempts)| state == "running" && *attempts == 2)
    });
    let claimed = shared.read(held);
    assert!(claimed.iter().zip(&first).all(|(now, then)| now.0 == then.0 && now.2 != then.2));
    frozen.running.signal("CONT");
    let mut thawed = Wire::new(&frozen.address, PATIENCE);
    // Two looks later the thawed node has said of both jobs that they are done.
    let looks = |wire: &mut Wire| wire.get("/fault/looks").unwrap().body.parse::<u64>().unwrap();
    let before = looks(&mut thawed);
    load::until("the thawed node looks again", || looks(&mut thawed) >= before + 2);
    assert_eq!(shared.read(held), claimed, "who lost the lease ends nothing");

    let mut wire = Wire::new(&other.address, PATIENCE);
    assert_eq!(wire.get("/fault/release").unwrap().body, "released");
    load::until("the holder of the lease ends the jobs", || shared.read(|tx| truth::pending_jobs(tx)) == 0);
    let truth = shared.truth();
    History::default().check(&truth);
    for (nickname, (duels, bio)) in &truth.bios {
        assert!(
            *duels == 1 && bio.as_ref().is_some_and(|bio| bio.contains("over 1 duel")),
            "{nickname} {bio:?}"
        );
    }
    println!("frozen past its lease: {} stale ends of jobs were fenced", claimed.len());
}
