//! `arena doctor` on installations that are well and on ones that are not.

use std::io::{Seek, SeekFrom, Write};

use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};
use serde_json::Value;
use store::{Options, Place, Store};

use crate::process::Home;

fn outcome<'a>(report: &'a Value, name: &str) -> &'a str {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check is called {name}: {report}"))["outcome"].as_str().unwrap()
}

#[test]
fn a_directory_never_used_is_well_and_stays_unused() {
    let home = Home::new();
    let report = home.json(&["doctor", "--json"]);
    assert_eq!(report["ok"], true);
    assert_eq!(outcome(&report, "database"), "skipped");
    assert!(!home.data().exists(), "a doctor changes nothing");
}

#[test]
fn all_holds_with_the_server_stopped_and_running() {
    let home = Home::new();
    home.person("alice");
    let report = home.json(&["doctor", "--json"]);
    for name in ["config", "data directory", "disk", "database", "schema", "ledger", "clock", "jobs"] {
        assert_eq!(outcome(&report, name), "holds", "{name}");
    }
    assert_eq!(outcome(&report, "server"), "skipped");

    let server = home.serve(&["--clock-speed", "2.5"]);
    let report = home.json(&["doctor", "--json"]);
    assert_eq!(outcome(&report, "server"), "holds");
    assert_eq!(outcome(&report, "overdue duels"), "holds");
    let shown = home.run(&["doctor"]);
    assert_eq!(shown.code, 0);
    assert!(
        shown.stdout.contains("✓ holds") && shown.stdout.contains("2.5 times real time"),
        "{}",
        shown.stdout
    );
    server.stop();
}

kernel::statements! {
    GIVE_AWAY = "UPDATE balance SET available = available + 1";
}

/// What no part of Arena does: points from nowhere.
struct Counterfeit;

impl Command for Counterfeit {
    type Out = u64;

    fn name(&self) -> &'static str {
        "test.counterfeit"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<u64>, Fault> {
        tx.exec(&GIVE_AWAY, &[]).map(Verdict::Done)
    }
}

#[test]
fn a_ledger_that_contradicts_itself_is_found() {
    let home = Home::new();
    home.person("alice");
    let mut options = Options::new(Place::Directory(home.data()));
    options.schemas = vec![store::SCHEMA, identity::SCHEMA, duels::SCHEMA];
    let store = Store::open(options).unwrap();
    assert_eq!(store.write_blocking(Box::new(Counterfeit)).unwrap(), Verdict::Done(1));
    store.close();

    let ran = home.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((report["ok"].as_bool(), outcome(&report, "ledger")), (Some(false), "fails"));
    let shown = home.run(&["doctor"]);
    assert_eq!(shown.code, 1);
    assert!(shown.stdout.contains("✗ FAILS"), "{}", shown.stdout);
}

#[test]
fn a_damaged_file_is_found() {
    let home = Home::new();
    home.person("alice");
    let mut file = std::fs::OpenOptions::new().write(true).open(home.data().join("arena.db")).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&[0x55; 4096]).unwrap();
    drop(file);
    let ran = home.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(outcome(&report, "database"), "fails");
}

#[test]
fn a_directory_that_others_can_enter_is_found() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.person("alice");
    std::fs::set_permissions(home.data(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("chmod 700"), "{}", ran.stdout);
}
