//! A thousand callers who break off at random points: nothing stays open, nothing is half done.

use std::{
    collections::BTreeMap,
    io::Write,
    net::{Shutdown, TcpStream},
    thread,
    time::Duration,
};

use kernel::{
    Fault,
    id::{Ids, OsIds},
    tx::Tx,
};
use serde_json::json;
use store::{Options, Place, Store};
use testkit::TestPlace;

use super::{agent::Dice, load, truth, wire::Wire};
use crate::{
    http::call_head,
    process::{Home, PATIENCE, Ran, Server},
};

kernel::statements! {
    OPEN_TRANSACTIONS = "SELECT CAST(COUNT(*) AS BIGINT) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND (state LIKE 'idle in transaction%' OR (state = 'active' AND xact_start IS NOT NULL))";
}

const ABORTED: u64 = 1000;
const THREADS: u64 = 4;
/// Longer than a call takes on a busy machine.
const TRANSIT_MICROS: u64 = 40_000;
const OPENING_POINTS: i64 = 1_000_000;

#[test]
fn on_sqlite() {
    let home = Home::new();
    broken_off(&home, None);
}

#[test]
fn on_postgres() {
    let Some(place) = TestPlace::postgres("faults::aborts::on_postgres") else { return };
    let Place::Postgres(url) = place.place() else { panic!("the place is on PostgreSQL") };
    broken_off(&Home::new(), Some(&url));
}

fn broken_off(home: &Home, url: Option<&str>) {
    let program = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command
            .env("ARENA_METRICS__LISTEN", "off")
            .env("ARENA_DUELS__OPENING_POINTS", OPENING_POINTS.to_string())
            .envs(url.map(|url| ("ARENA_DATABASE__URL", url)));
        command
    };
    let keys = ["alpha", "bravo"].map(|nickname| {
        let ran = Ran::of(&mut program(&["admin", "user", "create", nickname, "--json"]));
        let made: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        made["apiKey"].as_str().unwrap().to_owned()
    });
    // So fast that a thousand calls are within the budget.
    let server = Server::start(&mut program(&["serve", "--listen", "127.0.0.1:0", "--clock-speed", "10000"]));
    let seed = u64::from_le_bytes(OsIds.seed()[..8].try_into().unwrap());
    println!("aborts: seed {seed}");
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (address, key) = (server.address.as_str(), &keys[0]);
            scope.spawn(move || {
                let dice = Dice::new(seed ^ thread << 56);
                for number in 0..ABORTED / THREADS {
                    break_off(address, key, &format!("aborted-{thread}-{number}"), &dice);
                }
            });
        }
    });

    // A change works at once, and again for the other side, whose lock the aborted calls wanted too.
    let mut wire = Wire::new(&server.address, PATIENCE);
    for (agent, other) in [(0, "bravo"), (1, "alpha")] {
        let body = json!({"nickname": other, "count": 1, "message": "after"}).to_string();
        let reply = wire.call("transfer", &keys[agent], None, &body).unwrap();
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(wire.get(path).unwrap().status, 200, "{path}");
    }
    if let Some(url) = url {
        let mut options = Options::new(Place::Postgres(url.to_owned()));
        (options.readers, options.writers) = (1, 1);
        let store = Store::open(options).unwrap();
        load::until("no transaction stays open", || {
            store.read_blocking(|tx| tx.row(&OPEN_TRANSACTIONS, &[])?.unwrap().i64(0)).unwrap() == 0
        });
        store.close();
    }
    let doctor = Ran::of(&mut program(&["doctor"]));
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
    server.stop();
    let gifts = gifts(home, url);
    assert!(gifts.values().all(|times| *times == 1 || *times == 2), "{gifts:?}");
    assert_eq!(gifts.get("after"), Some(&2));
    let done = gifts.keys().filter(|note| note.starts_with("aborted-")).count();
    assert!(gifts.iter().all(|(note, times)| note == "after" || *times == 1), "{gifts:?}");
    println!("{ABORTED} requests broken off, {done} of them after they were sent and so done once");
    assert!(done > 0 && done < usize::try_from(ABORTED).unwrap());
}

/// Sends a part of a gift and leaves.
fn break_off(address: &str, key: &str, note: &str, dice: &Dice) {
    let body = json!({"nickname": "bravo", "count": 1, "message": note}).to_string();
    let whole = format!("{}{body}", call_head(address, "transfer", key, body.len()));
    let head = whole.len() - body.len();
    let below = |end: usize| usize::try_from(dice.below(end as u64)).unwrap();
    let sent = match dice.below(4) {
        0 => 0,
        1 => 1 + below(head - 1),
        2 => head + below(body.len()),
        _ => whole.len(),
    };
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&whole.as_bytes()[..sent]).unwrap();
    match (dice.below(3), sent == whole.len()) {
        // A polite end of what it says, and it leaves all the same.
        (0, _) => stream.shutdown(Shutdown::Write).unwrap(),
        // It leaves while the call is on its way through the server.
        (1, true) => thread::sleep(Duration::from_micros(dice.below(TRANSIT_MICROS))),
        // It leaves when the answer begins, without reading it.
        (2, true) => drop(stream.peek(&mut [0])),
        _ => {}
    }
}

fn gifts(home: &Home, url: Option<&str>) -> BTreeMap<String, i64> {
    let place = url.map_or_else(|| Place::Directory(home.data()), |url| Place::Postgres(url.to_owned()));
    let mut options = Options::new(place);
    options.schemas = vec![store::SCHEMA, identity::SCHEMA, duels::SCHEMA];
    let store = Store::open(options).unwrap();
    let read = |tx: &mut dyn Tx| -> Result<_, Fault> { truth::read(tx, 0) };
    let truth = store.read_blocking(read).unwrap();
    assert_eq!(truth.violations, Vec::<String>::new());
    store.close();
    truth.gifts
}
