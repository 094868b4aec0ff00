//! `arena demo`: agents duel over MCP, settlements show, and it ends cleanly.

use std::path::Path;

use serde_json::{Value, json};

use crate::{
    http::{call, get},
    process::{Home, Running},
};

fn start(home: &Home, arguments: &[&str]) -> Running {
    let mut command = home.command(&["demo", "--listen", "127.0.0.1:0"]);
    Running::start(command.args(arguments).env("TMPDIR", home.path()))
}

#[test]
fn duels_settle_in_sight_and_an_interrupt_ends_it() {
    let home = Home::new();
    let mut demo = start(&home, &[]);
    let told = demo.stdout_line(|line| line.contains("times as fast as real time"));
    assert!(told.contains("60 times"), "{told}");
    let feed = demo.stdout_line(|line| line.contains("/duels/v1/settled"));
    let feed = feed.split_whitespace().last().unwrap().to_owned();
    let claude = demo.stdout_line(|line| line.starts_with("claude mcp add --transport http arena http://"));
    let key = claude.split("Bearer ").nth(1).unwrap().trim_end_matches('"').to_owned();
    let settled = demo.stdout_line(|line| line.contains("settled") && line.contains("asked"));
    assert!(settled.contains('█') && !settled.contains('\u{1b}'), "plain off a terminal: {settled}");

    let duels = get(&feed).json();
    let url = duels["duels"][0]["duel_url"].as_str().unwrap().to_owned();
    let address = feed.trim_start_matches("http://").split('/').next().unwrap();
    assert_eq!(call(address, "whoami", &key, &json!({})).status, 200, "the key of the snippets works");
    let verified = home.run(&["duels", "verify", &url]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);

    // Twice at once, as when a process and its group are signalled: still one wish to end.
    demo.signal("INT");
    demo.signal("INT");
    let (status, stdout, stderr) = demo.wait();
    assert!(status.success(), "{status}: {stderr:?}");
    assert!(stdout.last().unwrap().contains("ended"), "{stdout:?}");
    assert_eq!(stderr, Vec::<String>::new());
    let left: Vec<String> = crate::process::names_in(home.path());
    assert_eq!(left, Vec::<String>::new(), "the temporary directory is gone");
}

#[test]
fn json_events_are_lines_and_sigterm_ends_it() {
    let home = Home::new();
    let mut demo = start(&home, &["--json", "--clock-speed", "120"]);
    let first: Value = serde_json::from_str(&demo.stdout_line(|_| true)).unwrap();
    assert_eq!(first["event"], "started");
    assert!(Path::new(first["dataDir"].as_str().unwrap()).exists());
    assert_eq!(first["clockSpeed"], "120");
    let settled = demo.stdout_line(|line| line.contains(r#""event":"settled""#));
    let settled: Value = serde_json::from_str(&settled).unwrap();
    let [a, b] = [&settled["sides"][0], &settled["sides"][1]];
    let number = |value: &Value| value.as_i64().unwrap();
    let gross = number(&settled["pot"]) + 1;
    assert_eq!(number(&a["payout"]) + number(&b["payout"]) + number(&settled["burned"]), gross);
    demo.signal("TERM");
    let (status, stdout, _) = demo.wait();
    assert!(status.success(), "{status}");
    for line in &stdout {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
    assert!(stdout.last().unwrap().contains(r#""event":"ended""#), "{stdout:?}");
    assert!(!Path::new(first["dataDir"].as_str().unwrap()).exists());
}

#[test]
fn a_number_of_duels_ends_it_and_new_agents_follow_spent_ones() {
    let home = Home::new();
    let mut command =
        home.command(&["demo", "--listen", "127.0.0.1:0", "--json", "--duels", "12", "--agents", "6"]);
    // Six points: whoever loses one stake is spent.
    let demo = Running::start(command.env("TMPDIR", home.path()).env("ARENA_DUELS__OPENING_POINTS", "6"));
    let (status, stdout, stderr) = demo.wait();
    assert!(status.success(), "{status}: {stderr:?}");
    let events: Vec<Value> = stdout.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!(of("settled"), 12);
    assert_eq!(of("trouble"), 0, "{stdout:?}");
    let entered: Vec<&str> = events
        .iter()
        .filter(|event| event["event"] == "entered")
        .filter_map(|event| event["agent"].as_str())
        .collect();
    assert!(entered.contains(&"ada-2"), "the fifth and sixth agents repeat the scripts: {entered:?}");
    assert!(of("retired") > 0 && entered.len() > 6, "nobody was replaced: {stdout:?}");
}
