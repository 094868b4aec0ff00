//! `arena serve`: its banner, its clock, and an end that loses no accepted work.

use std::io::Write;

use serde_json::json;

use crate::{
    http::{call, call_head, connect, get, read_answer},
    process::{Home, Running},
};

#[test]
fn the_banner_has_every_address() {
    let home = Home::new();
    let mut command =
        home.command(&["serve", "--listen", "127.0.0.1:0", "--public-url", "https://arena.example"]);
    let mut running = Running::start(command.env("ARENA_METRICS__LISTEN", "off"));
    for path in ["/", "/docs", "/duels/mcp", "/openapi.json", "/duels/v1/settled", "/healthz"] {
        let wanted = format!("https://arena.example{path}");
        running.stderr_line(|line| line.ends_with(&wanted));
    }
    let ready = running.stderr_line(|line| line.starts_with("ready on http://127.0.0.1:"));
    let base = ready.trim_start_matches("ready on ");
    assert_eq!(get(&format!("{base}/healthz")).status, 200);
    assert_eq!(get(&format!("{base}/readyz")).status, 200);
    running.signal("INT");
    let (status, stdout, stderr) = running.wait();
    assert!(status.success(), "{status}");
    assert!(stdout.is_empty(), "standard output is for data: {stdout:?}");
    let logged = stderr.iter().filter(|line| line.starts_with('{'));
    for line in logged.clone() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    assert!(logged.count() > 0, "off a terminal, logs are JSON lines: {stderr:?}");
}

#[test]
fn a_request_that_has_begun_is_answered_after_the_signal() {
    let home = Home::new();
    let key = home.person("alice");
    let server = home.serve(&[]);
    let mut stream = connect(&server.address);
    let body = json!({"pitch": "still here"}).to_string();
    let (first, rest) = body.split_at(5);
    write!(stream, "{}{first}", call_head(&server.address, "enter_arena", &key, body.len())).unwrap();
    // A second connection that is answered shows that the first one has been accepted.
    assert_eq!(call(&server.address, "whoami", &key, &json!({})).status, 200);
    server.running.signal("TERM");
    let mut running = server.running;
    running.stderr_line(|line| line.contains("stopping"));
    stream.write_all(rest.as_bytes()).unwrap();
    let answer = read_answer(stream);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["action"], "ENTERED");
    let (status, _, _) = running.wait();
    assert!(status.success(), "{status}");

    // What was answered is there after a restart.
    let server = home.serve(&[]);
    let status = call(&server.address, "get_arena_status", &key, &json!({})).json();
    assert_eq!(status["arena"]["active"], true);
    server.stop();
}

#[test]
fn the_clock_speed_is_announced_and_never_turns_time_back() {
    let home = Home::new();
    let key = home.person("alice");
    let now = |address: &str| {
        let answer = call(address, "whoami", &key, &json!({}));
        (
            answer.json()["server_time"].as_str().unwrap().to_owned(),
            answer.head.contains("x-arena-clock: 5000"),
        )
    };
    let server = home.serve(&["--clock-speed", "5000"]);
    let (fast, announced) = now(&server.address);
    assert!(announced);
    server.stop();
    let server = home.serve(&[]);
    let (slow, announced) = now(&server.address);
    assert!(!announced);
    assert!(slow > fast, "{slow} is before {fast}");
    server.stop();
}
