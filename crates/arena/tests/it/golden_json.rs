//! The shapes of what commands print with `--json`: every path with its kinds, without the values.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::golden::compare;

use crate::{
    faults::load::until,
    http::{call, get},
    process::{Home, Running},
    seen::{self, Kinds},
};

fn shape(value: &Value) -> Value {
    let mut kinds = Kinds::new();
    seen::add(value, ".", &mut kinds);
    as_json(&kinds)
}

fn as_json(kinds: &Kinds) -> Value {
    let rows =
        kinds.iter().map(|(path, kinds)| (path, kinds.iter().copied().collect::<Vec<_>>().join(" or ")));
    json!(rows.collect::<BTreeMap<_, _>>())
}

#[test]
fn golden_shapes_of_commands() {
    let home = Home::new();
    let mut shapes = BTreeMap::new();
    let mut run = |command: &str| {
        let words: Vec<&str> = command.split(' ').collect();
        let told = home.json(&[&words[..], &["--json"]].concat());
        let name = command.replace(&home.path().display().to_string(), "DIR");
        shapes.insert(name, shape(&told));
        told
    };
    let alpha = run("admin user create alpha")["apiKey"].as_str().unwrap().to_owned();
    let beta = run("admin user create beta --expires-in-days 30")["apiKey"].as_str().unwrap().to_owned();
    run("admin user list");
    let key = run("admin key create alpha --expires-in-days 30");
    run("admin key list alpha");
    let prefix: String = key["apiKey"].as_str().unwrap().chars().take(identity::keys::SHOWN_CHARS).collect();
    let revoked = home.json(&["admin", "key", "revoke", "alpha", &prefix, "--json"]);
    run("config show");
    run("doctor");

    let server = home.serve(&[]);
    for key in [&alpha, &beta] {
        call(&server.address, "enter_arena", key, &json!({"pitch": "hi"}));
    }
    call(&server.address, "challenge_agent", &alpha, &json!({"nickname": "beta"}));
    call(&server.address, "submit_demand", &alpha, &json!({"nickname": "beta", "count": 9}));
    call(&server.address, "submit_demand", &beta, &json!({"nickname": "alpha", "count": 10}));
    let settled = get(&format!("http://{}/duels/v1/settled", server.address)).json();
    let url = settled["duels"][0]["duel_url"].as_str().unwrap().to_owned();
    let verified = home.json(&["duels", "verify", &url, "--json"]);
    let file = home.path().join("duels.jsonl").display().to_string();
    let server_url = format!("http://{}", server.address);
    let window = ["--since", "2020-01-01", "--server", &server_url, "--output", &file];
    let exported = home.json(&[&["duels", "export", "--json"], &window[..]].concat());
    // The chronicler may not have been there yet, and a page without duels has no shape of theirs.
    until("the duel is in the chronicle", || {
        get(&format!("{server_url}/duels/v1/export")).json()["through"] == 1
    });
    let profile = get(&url).json()["participants"][0]["public_profile_url"].as_str().unwrap().to_owned();
    let agent = profile.split_once(&server.address).unwrap().1.to_owned();
    let messages =
        url.replace("/duels/", "/duels/v1/messages/").split_once(&server.address).unwrap().1.to_owned();
    for (name, path) in [
        ("GET /duels/v1/settled", "/duels/v1/settled".to_owned()),
        ("GET /duels/{slug}", url.split_once(&server.address).unwrap().1.to_owned()),
        ("GET /duels/v1/export", "/duels/v1/export".to_owned()),
        ("GET /duels/v1/messages/{slug}", messages),
        ("GET /leaderboard/agents", "/leaderboard/agents".to_owned()),
        ("GET /leaderboard/models", "/leaderboard/models".to_owned()),
        ("GET /agents/{id}", agent),
        ("GET /readyz", "/readyz".to_owned()),
        ("GET /healthz", "/healthz".to_owned()),
    ] {
        shapes.insert(name.to_owned(), shape(&get(&format!("http://{}{path}", server.address)).json()));
    }
    server.stop();
    shapes.insert("admin key revoke alpha PREFIX".to_owned(), shape(&revoked));
    shapes.insert("duels verify URL".to_owned(), shape(&verified));
    shapes.insert("duels export --since WHEN".to_owned(), shape(&exported));
    let failed = home.run(&["admin", "user", "create", "alpha", "--json"]);
    shapes.insert("a failure, on stderr".to_owned(), shape(&serde_json::from_str(&failed.stderr).unwrap()));
    compare("json/shapes.json", &format!("{}\n", serde_json::to_string_pretty(&shapes).unwrap()));
}

/// The events that every demo has; the others depend on how the dice fall.
const EVENTS: [&str; 7] = ["started", "entered", "challenged", "said", "demanded", "settled", "ended"];

#[test]
fn golden_shapes_of_demo_events() {
    let home = Home::new();
    let mut command = home.command(&["demo", "--listen", "127.0.0.1:0", "--json", "--duels", "4"]);
    let (status, stdout, stderr) = Running::start(command.env("TMPDIR", home.path())).wait();
    assert!(status.success(), "{status}: {stderr:?}");
    let mut shapes: BTreeMap<String, Kinds> = BTreeMap::new();
    for line in &stdout {
        let event: Value = serde_json::from_str(line).unwrap();
        let name = event["event"].as_str().unwrap();
        if EVENTS.contains(&name) {
            seen::add(&event, ".", shapes.entry(name.to_owned()).or_default());
        }
    }
    let shapes: BTreeMap<&String, Value> =
        shapes.iter().map(|(name, kinds)| (name, as_json(kinds))).collect();
    compare("json/demo-events.json", &format!("{}\n", serde_json::to_string_pretty(&shapes).unwrap()));
}
