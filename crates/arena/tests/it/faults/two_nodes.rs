//! Two servers on one PostgreSQL: one is killed, one is frozen and thawed, and budgets hold over both.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use kernel::id::{Ids, OsIds};
use store::Place;
use testkit::TestPlace;

use super::{
    agent::{Agent, Dice},
    load::{self, Shared},
    truth::History,
    wire::Wire,
};
use crate::process::{Home, PATIENCE, Server};

/// How long an agent waits for a server that may be frozen. Who gives up too soon only adds load: a
/// change goes on when its caller has left.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);
const KILLS: usize = 6;
const FREEZES: usize = 2;
/// Settled duels on the other node while one is gone.
const SETTLED_ALONE: usize = 6;

fn node(home: &Home, url: &str, speed: &str) -> Server {
    home.serve(&["--clock-speed", speed, "--database-url", url])
}

#[test]
fn a_killed_and_a_frozen_node_settle_nothing_twice() {
    let test = "faults::two_nodes::a_killed_and_a_frozen_node_settle_nothing_twice";
    let Some(place) = TestPlace::postgres(test) else { return };
    let Place::Postgres(url) = place.place() else { panic!("the place is on PostgreSQL") };
    let seed = u64::from_le_bytes(OsIds.seed()[..8].try_into().unwrap());
    println!("two nodes: seed {seed}");
    let (homes, dice) = ([Home::new(), Home::new()], Dice::new(seed));
    let mut agents = load::agents(&homes[0], Some(&url), seed);
    let mut nodes = homes.each_ref().map(|home| Some(node(home, &url, load::SPEED)));
    let shared = Shared::open(&url);
    let mut history = History::default();
    for round in 0..KILLS + FREEZES {
        let addresses = nodes.each_ref().map(|node| node.as_ref().unwrap().address.clone());
        let victim = round % 2;
        let addresses = [addresses[0].as_str(), addresses[1].as_str()];
        let victim_node = nodes[victim].take().unwrap();
        nodes[victim] = load::while_running(&mut agents, &addresses, SHORT_PATIENCE, || {
            thread::sleep(Duration::from_millis(dice.below(300)));
            let settled = shared.read(|tx| duels::audit::settled(tx));
            let wanted = usize::try_from(settled).unwrap() + SETTLED_ALONE;
            if round < KILLS {
                victim_node.kill();
                shared.until_settled(wanted);
                None
            } else {
                victim_node.running.signal("STOP");
                shared.until_settled(wanted);
                // What it held locked is free again when the database has given it up.
                load::until("nothing stays unsettled", || shared.truth().late == 0);
                victim_node.running.signal("CONT");
                let settled = shared.read(|tx| duels::audit::settled(tx));
                shared.until_settled(usize::try_from(settled).unwrap() + SETTLED_ALONE);
                Some(victim_node)
            }
        });
        let home = &homes[victim];
        let started = nodes[victim].is_none();
        let ready = nodes[victim].get_or_insert_with(|| node(home, &url, load::SPEED));
        load::answer_all(&mut agents, &ready.address);
        let (truth, _) = load::at_rest(Instant::now(), || shared.truth());
        history.check(&truth);
        for agent in &agents {
            agent.check(&truth);
        }
        assert_eq!(started, round < KILLS);
    }
    println!(
        "two nodes: killed {KILLS} times, frozen {FREEZES} times, {} acknowledged changes, 0 lost, {} calls repeated, \
         0 done twice, {} duels settled, 0 twice",
        agents.iter().map(Agent::acknowledged).sum::<usize>(),
        agents.iter().map(|agent| agent.repeated).sum::<u64>(),
        history.settled()
    );
    nodes.into_iter().flatten().for_each(Server::stop);
}

#[test]
fn the_budget_of_an_account_is_exact_over_both() {
    let test = "faults::two_nodes::the_budget_of_an_account_is_exact_over_both";
    let Some(place) = TestPlace::postgres(test) else { return };
    let Place::Postgres(url) = place.place() else { panic!("the place is on PostgreSQL") };
    let homes = [Home::new(), Home::new()];
    let mut command = homes[0].command(&["admin", "user", "create", "alpha", "--json"]);
    let made = crate::process::Ran::of(command.env("ARENA_DATABASE__URL", &url));
    let made: serde_json::Value = serde_json::from_str(&made.stdout).unwrap();
    let key = made["apiKey"].as_str().unwrap();
    // A minute of Arena time outlasts the test by far.
    let nodes = homes.each_ref().map(|home| node(home, &url, "0.001"));
    let addresses = nodes.each_ref().map(|node| node.address.as_str());
    let (admitted, refused) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for first in 0..8_usize {
            let (admitted, refused) = (&admitted, &refused);
            scope.spawn(move || {
                let mut wires = addresses.map(|address| Wire::new(address, PATIENCE));
                for number in 0..40 {
                    let reply = wires[(first + number) % 2].call("whoami", key, None, "{}").unwrap();
                    match reply.status {
                        200 => admitted.fetch_add(1, Ordering::SeqCst),
                        429 => {
                            assert!(reply.retry_after.is_some_and(|seconds| seconds > 0));
                            refused.fetch_add(1, Ordering::SeqCst)
                        }
                        status => panic!("{status}: {}", reply.body),
                    };
                }
            });
        }
    });
    let (admitted, refused) = (admitted.into_inner(), refused.into_inner());
    assert_eq!((admitted, refused), (duels::BUDGET.per_minute, 320 - duels::BUDGET.per_minute));
    println!("budget over two nodes: {admitted} admitted, {refused} refused");
    nodes.into_iter().for_each(Server::stop);
}
