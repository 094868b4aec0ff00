//! The Python MCP client plays a whole duel against a real server, in both of its modes.

use serde_json::Value;

use crate::{
    process::{Home, Ran},
    tools::{python, repository},
};

fn play(mode: &str, version: &str) {
    let Some(mut client) = python(&format!("python_client::{mode}")) else { return };
    let home = Home::new();
    let keys = [home.person("alpha"), home.person("beta")];
    let server = home.serve(&[]);
    let url = format!("http://{}/duels/mcp", server.address);
    client.arg(repository("tests/clients/whole_duel.py")).args([&url, mode]).args(&keys);
    let ran = Ran::of(client.env("HOME", home.path()).env("PYTHONDONTWRITEBYTECODE", "1"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["version"], version);
    // What the clients played is what anybody can recompute.
    let verified = home.run(&["duels", "verify", told["duel_url"].as_str().unwrap()]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    server.stop();
    let doctor = home.json(&["doctor", "--json"]);
    assert_eq!(doctor["ok"], true, "{doctor}");
}

#[test]
fn a_whole_duel_with_a_handshake() {
    play("legacy", "2025-11-25");
}

#[test]
fn a_whole_duel_without_one() {
    play("2026-07-28", "2026-07-28");
}

#[test]
fn a_whole_duel_when_the_client_finds_out() {
    play("auto", "2026-07-28");
}
