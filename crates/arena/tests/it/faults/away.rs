//! PostgreSQL goes away under a running server and comes back: refusals with a time to wait meanwhile,
//! and no restart afterwards.

use std::{
    thread,
    time::{Duration, Instant},
};

use kernel::id::{Ids, OsIds};
use store::Place;
use testkit::TestPlace;

use super::{
    load::{self, Shared},
    relay::Relay,
    truth::History,
    wire::{Reply, Wire},
};
use crate::process::{Home, PATIENCE};

const OUTAGES: usize = 2;

#[test]
fn a_server_outlives_the_absence_of_its_database() {
    let test = "faults::away::a_server_outlives_the_absence_of_its_database";
    let Some(place) = TestPlace::postgres(test) else { return };
    let Place::Postgres(url) = place.place() else { panic!("the place is on PostgreSQL") };
    let (home, seed) = (Home::new(), u64::from_le_bytes(OsIds.seed()[..8].try_into().unwrap()));
    println!("away: seed {seed}");
    let mut agents = load::agents(&home, Some(&url), seed);
    let mut relay = Relay::new(&url);
    let server = home.serve(&["--clock-speed", load::SPEED, "--database-url", relay.url()]);
    let shared = Shared::open(&url);
    let mut history = History::default();
    let mut wire = Wire::new(&server.address, PATIENCE);
    let mut until = |path: &str, wanted: &dyn Fn(&Reply) -> bool| {
        let since = Instant::now();
        loop {
            let reply = wire.get(path).unwrap();
            if wanted(&reply) {
                return since.elapsed();
            }
            assert!(since.elapsed() < PATIENCE, "{path} answers {} {}", reply.status, reply.body);
            thread::sleep(Duration::from_millis(20));
        }
    };
    let mut recovered = Duration::ZERO;
    for _ in 0..OUTAGES {
        let before: u64 = agents.iter().map(|agent| agent.unavailable).sum();
        let took = load::while_running(&mut agents, &[&server.address], PATIENCE, || {
            shared.until_settled(history.settled() + 4);
            relay.take_down();
            until("/readyz", &|reply| reply.status == 503);
            // Longer than a call waits for the database, so that callers are told.
            thread::sleep(load::AWAY);
            until("/healthz", &|reply| reply.status == 200);
            relay.put_up();
            until("/readyz", &|reply| reply.status == 200)
        });
        recovered = recovered.max(took);
        let after: u64 = agents.iter().map(|agent| agent.unavailable).sum();
        assert!(after > before, "somebody was told that the server cannot now");
        load::answer_all(&mut agents, &server.address);
        let (truth, _) = load::at_rest(Instant::now(), || shared.truth());
        history.check(&truth);
        for agent in &agents {
            agent.check(&truth);
        }
    }
    println!(
        "PostgreSQL away {OUTAGES} times: {} answers 503, {} duels settled, ready {} ms after its return",
        agents.iter().map(|agent| agent.unavailable).sum::<u64>(),
        history.settled(),
        recovered.as_millis()
    );
    server.stop();
}
