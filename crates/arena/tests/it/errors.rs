//! What goes wrong, said in words, with the exit code of the table, and never with a backtrace.

use std::{
    fs,
    net::TcpListener,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::Command,
};

use serde_json::Value;

use crate::{
    http::free_address,
    process::{Home, Ran},
};

fn assert_words(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "{word:?} is not in {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("stack backtrace"), "{}", ran.stderr);
}

#[test]
fn a_wrong_command_line_is_usage() {
    let home = Home::new();
    for arguments in [
        &["frobnicate"][..],
        &["serve", "--nope"],
        &["admin", "user", "create"],
        &["serve", "--clock-speed", "fast"],
        &["serve", "--listen", "nowhere"],
        &["demo", "--agents", "1"],
        &["demo", "--clock-speed", "5000"],
        &["duels", "verify", "ftp://x/duels/1"],
        &["mcp", "duels", "--server", "not a url"],
        &["completions", "tcsh"],
    ] {
        let ran = home.run(arguments);
        assert_words(&ran, 2, &["error: ", "hint: "]);
        let json = home.run(&[arguments, &["--json"]].concat());
        let error: Value = serde_json::from_str(&json.stderr).unwrap_or_else(|_| panic!("{}", json.stderr));
        assert_eq!(error["error"]["code"], "usage", "{arguments:?}");
        assert!(error["error"]["hint"].is_string(), "{arguments:?}");
    }
    assert!(!home.data().exists(), "nothing was started");
}

#[test]
fn a_busy_port_is_named_with_how_to_choose_another() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let listen = format!("127.0.0.1:{port}");
    for command in ["serve", "demo"] {
        let mut started = home.command(&[command, "--listen", &listen]);
        let ran = Ran::of(started.env("ARENA_METRICS__LISTEN", "off"));
        assert_words(&ran, 1, &[&port, "in use", "--listen"]);
    }
    let metrics =
        Ran::of(home.command(&["serve", "--listen", "127.0.0.1:0"]).env("ARENA_METRICS__LISTEN", &listen));
    assert_words(&metrics, 1, &[&port, "in use", "metrics.listen"]);
}

#[test]
fn a_held_data_directory_names_its_holder() {
    let home = Home::new();
    let server = home.serve(&[]);
    let ran =
        Ran::of(home.command(&["serve", "--listen", "127.0.0.1:0"]).env("ARENA_METRICS__LISTEN", "off"));
    let holder = format!("pid {}", server.running.id());
    assert_words(&ran, 1, &["held by another process", &holder, "--data-dir"]);
    server.stop();
}

#[test]
fn a_data_directory_that_cannot_be_read_names_path_and_owner() {
    const NOBODY: u32 = 65_534;
    let home = Home::new();
    let directory = home.data();
    fs::create_dir(&directory).unwrap();
    let as_root =
        fs::metadata(&directory).map(|meta| std::os::unix::fs::MetadataExt::uid(&meta)).unwrap() == 0;
    let mut command;
    if as_root {
        // Root may read everything, so the program runs as somebody else.
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        let program = home.path().join("arena");
        fs::copy(env!("CARGO_BIN_EXE_arena"), &program).unwrap();
        command = Command::new(&program);
        command.uid(NOBODY).gid(NOBODY).env_clear().env("HOME", "/nonexistent");
        command.env("ARENA_DATA_DIR", &directory).args(["admin", "user", "list"]);
    } else {
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o000)).unwrap();
        command = home.command(&["admin", "user", "list"]);
    }
    let ran = Ran::of(&mut command);
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    assert_words(&ran, 1, &["permission denied", directory.to_str().unwrap(), "uid", "chown"]);
}

#[test]
fn a_data_directory_that_is_a_file_is_said() {
    let home = Home::new();
    fs::write(home.data(), "not a directory").unwrap();
    let ran =
        Ran::of(home.command(&["serve", "--listen", "127.0.0.1:0"]).env("ARENA_METRICS__LISTEN", "off"));
    assert_words(&ran, 1, &[home.data().to_str().unwrap(), "error: "]);
}

#[test]
fn a_database_that_is_away_is_the_network() {
    let home = Home::new();
    let url = format!("postgres://arena:hunter2@{}/arena", free_address());
    let ran = home.run(&["admin", "user", "list", "--database-url", &url]);
    assert_words(&ran, 7, &["PostgreSQL"]);
    assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
}

#[test]
fn an_unreachable_server_is_the_network() {
    let home = Home::new();
    let url = format!("http://{}/duels/0123456789abcdef01234567", free_address());
    assert_words(&home.run(&["duels", "verify", &url]), 7, &["cannot be reached"]);
}
