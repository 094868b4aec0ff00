//! A directory has one process, and its owner alone may look inside.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use store::{OpenError, Options, Place, Store};
use testkit::TestPlace;

use crate::commands::{SCHEMA, add, done};

#[test]
fn a_second_process_is_refused_by_name() {
    let place = TestPlace::sqlite();
    let directory = place.directory().unwrap();
    let store = place.open(&[SCHEMA]);
    done(store.write_blocking(add("one", 1)));
    let lock = directory.join("arena.lock");
    let refused = Command::new("flock").arg("-n").arg(&lock).arg("true").status().unwrap();
    assert!(!refused.success(), "another process took the lock");
    let Err(error) = Store::open(place.options(&[SCHEMA])) else { panic!("opened twice") };
    let words = error.to_string();
    assert!(words.contains(directory.to_str().unwrap()), "{words}");
    assert!(words.contains(&format!("pid {}", std::process::id())), "{words}");
    store.close();

    let mut holder = Command::new("flock")
        .arg(&lock)
        .arg("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (holder.stdin.take().unwrap(), holder.stdout.take().unwrap());
    input.write_all(b"held?\n").unwrap();
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    // It answers, so it holds the lock.
    assert_eq!(line, "held?\n");
    let Err(error) = Store::open(place.options(&[SCHEMA])) else { panic!("opened a held directory") };
    assert!(matches!(error, OpenError::Held { .. }), "{error}");
    drop(input);
    assert!(holder.wait().unwrap().success());
    place.open(&[SCHEMA]).close();
}

#[test]
fn the_directory_is_the_owners_alone() {
    let place = TestPlace::sqlite();
    place.open(&[]).close();
    let directory = place.directory().unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for file in ["arena.db", "arena.lock"] {
        assert_eq!(mode(&directory.join(file)), 0o600, "{file}");
    }
    let log = directory.join("arena.db-wal").metadata().map_or(0, |log| log.len());
    assert_eq!(log, 0, "closing folds the log into the file");
}

#[test]
fn a_path_that_is_no_directory_is_named() {
    let place = TestPlace::sqlite();
    let file = place.directory().unwrap();
    std::fs::write(&file, "not a directory").unwrap();
    let Err(error) = Store::open(place.options(&[])) else { panic!("a file was taken for a directory") };
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
}

#[test]
fn memory_reads_what_it_wrote() {
    let store = Store::open(Options { schemas: vec![SCHEMA], ..Options::new(Place::Memory) }).unwrap();
    done(store.write_blocking(add("one", 2)));
    assert_eq!(store.read_blocking(|tx| crate::commands::value(tx, "one")), Ok(2));
    let fault = store.read_blocking(|tx| tx.exec(&crate::commands::SET, &["one".into(), 3.into()]));
    assert!(fault.is_err());
    assert_eq!(done(store.write_blocking(add("one", 1))), 3);
}
