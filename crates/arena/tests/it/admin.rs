//! `arena admin` with the server stopped, running, killed and never started.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::{
    http::call,
    process::{Home, Ran, Server, names_in},
};

fn keys_of(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_person_is_made_on_a_directory_never_used() {
    let home = Home::new();
    // Whoever asks of an arena that is not there has mistyped its directory.
    let asked = home.run(&["admin", "user", "list"]);
    assert!(asked.code == 6 && asked.stderr.contains("there is no arena in"), "{}", asked.stderr);
    assert!(!home.data().join("arena.db").exists());
    let ran = home.run(&["admin", "user", "create", "Alice", "--json"]);
    assert_eq!((ran.code, ran.stderr), (0, format!("a new arena begins in {}\n", home.data().display())));
    assert_eq!(ran.stdout.lines().count(), 1, "{:?}", ran.stdout);
    let made: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(keys_of(&made), ["userId", "nickname", "apiKey", "scopes", "expiresAt"]);
    assert_eq!(made["nickname"], "alice");
    assert_eq!(made["scopes"], json!(["duels:play"]));
    assert_eq!(made["expiresAt"], Value::Null);
    assert_eq!(made["userId"].as_str().unwrap().len(), 24);
    let key = made["apiKey"].as_str().unwrap();
    assert!(key.starts_with("arena_sk_") && key.len() == 52, "{key}");

    let mode = std::fs::metadata(home.data()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "others must not enter");
    assert!(!names_in(&home.data()).contains(&"admin.sock".to_owned()));
}

#[test]
fn an_expiry_is_an_instant() {
    let home = Home::new();
    let made = home.json(&["admin", "user", "create", "alice", "--expires-in-days", "7", "--json"]);
    let expires = made["expiresAt"].as_str().unwrap();
    assert!(expires.ends_with('Z') && expires.len() == 24, "{expires}");
    for (arguments, code) in [
        (["--expires-in-days", "0"], 6),
        (["--expires-in-days", "366"], 6),
        (["--expires-in-days", "x"], 2),
        (["--scopes", "everything"], 6),
    ] {
        let ran = home.run(&[&["admin", "user", "create", "bob"][..], &arguments[..]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{arguments:?} {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
    assert_eq!(home.json(&["admin", "user", "list", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn keys_work_at_once_and_die_at_once_while_the_server_runs() {
    let home = Home::new();
    let server = home.serve(&[]);
    let first = home.person("alice");
    assert_eq!(call(&server.address, "whoami", &first, &json!({})).json()["agent"]["nickname"], "alice");

    let made = home.json(&["admin", "key", "create", "alice", "--json"]);
    assert_eq!(keys_of(&made), ["keyId", "nickname", "apiKey", "scopes", "expiresAt"]);
    let second = made["apiKey"].as_str().unwrap();
    assert_eq!(call(&server.address, "whoami", second, &json!({})).status, 200);

    let revoked = home.json(&["admin", "key", "revoke", "alice", made["keyId"].as_str().unwrap(), "--json"]);
    assert_eq!(revoked["status"], "revoked");
    assert_eq!(call(&server.address, "whoami", second, &json!({})).status, 401);
    assert_eq!(call(&server.address, "whoami", &first, &json!({})).status, 200);

    let by_prefix = home.run(&["admin", "key", "revoke", "alice", &first[..16]]);
    assert_eq!(by_prefix.code, 0, "{}", by_prefix.stderr);
    assert_eq!(call(&server.address, "whoami", &first, &json!({})).status, 401);
    server.stop();

    // The same data, with the server stopped.
    let listed = home.json(&["admin", "key", "list", "alice", "--json"]);
    let states: Vec<&str> =
        listed.as_array().unwrap().iter().map(|key| key["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["revoked", "revoked"]);
    assert!(listed.to_string().find(&first).is_none(), "a list never shows a secret");
    let table = home.run(&["admin", "key", "list", "alice"]);
    assert!(table.stdout.starts_with("KEY ID"), "{}", table.stdout);
}

#[test]
fn the_socket_is_for_its_owner_and_leaves_with_the_server() {
    let home = Home::new();
    let server = home.serve(&[]);
    let socket = home.data().join("admin.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    server.stop();
    assert!(!socket.exists());
}

#[test]
fn a_socket_of_a_killed_server_breaks_nothing() {
    let home = Home::new();
    home.serve(&[]).kill();
    assert!(home.data().join("admin.sock").exists(), "the killed server left its socket");
    home.person("alice");
    let server = home.serve(&[]);
    let key = home.person("bob");
    assert_eq!(call(&server.address, "whoami", &key, &json!({})).status, 200);
    assert_eq!(home.json(&["admin", "user", "list", "--json"]).as_array().unwrap().len(), 2);
    server.stop();
}

#[test]
fn a_data_directory_with_a_long_path_has_a_socket_too() {
    let home = Home::new();
    let deep = home.path().join("long".repeat(30));
    let mut serve = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    serve.env("ARENA_DATA_DIR", &deep).env("ARENA_METRICS__LISTEN", "off");
    let server = Server::start(&mut serve);
    let made =
        Ran::of(home.command(&["admin", "user", "create", "alice", "--json"]).env("ARENA_DATA_DIR", &deep));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!(call(&server.address, "whoami", made["apiKey"].as_str().unwrap(), &json!({})).status, 200);
    server.stop();
}

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let home = Home::new();
    let started: Vec<_> = (0..4)
        .map(|number| {
            let mut command = home.command(&["admin", "user", "create", &format!("agent{number}"), "--json"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in started {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(home.json(&["admin", "user", "list", "--json"]).as_array().unwrap().len(), 4);
}

#[test]
fn what_cannot_be_done_is_refused_with_a_reason() {
    let home = Home::new();
    home.person("alice");
    for (arguments, words) in [
        (&["user", "create", "alice"][..], "taken"),
        (&["user", "create", "2fast"], "3 to 30"),
        (&["key", "create", "nobody"], "nobody is called nobody"),
        (&["key", "list", "nobody"], "nobody is called nobody"),
        (&["key", "revoke", "alice", "arena_sk_zzzzzzz"], "no single key"),
    ] {
        let ran = home.run(&[&["admin"][..], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (6, ""), "{arguments:?}");
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
        let ran = home.run(&[&["admin"][..], arguments, &["--json"]].concat());
        let error: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(
            (error["error"]["code"].as_str(), error["error"]["exitCode"].as_i64()),
            (Some("refused"), Some(6))
        );
    }
    for _ in 0..9 {
        home.json(&["admin", "key", "create", "alice", "--json"]);
    }
    let eleventh = home.run(&["admin", "key", "create", "alice"]);
    assert_eq!(eleventh.code, 6);
    assert!(eleventh.stderr.contains("10 active keys"), "{}", eleventh.stderr);
}
