//! Others' judges: the MCP conformance suite in both revisions, and the Inspector.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::{
    http::{free_address, get, send},
    process::{Home, Ran, Running},
    proxy::KeyProxy,
    tools::{node, repository},
    visitor::Visitor,
};

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn baseline(revision: &str) -> String {
    format!("tests/tools/conformance-baseline-{revision}.yml")
}

/// The checks of one revision: none fails that is not in the baseline, and none passes that is.
fn conforms(revision: &str) {
    let home = Home::new();
    let Some(mut suite) = node(&format!("conformance::{revision}"), "conformance", home.path()) else {
        return;
    };
    let key = home.person("alice");
    let server = home.serve(&[]);
    let proxy = KeyProxy::before(&server.address, &key);
    let url = format!("http://{}/mcp", proxy.address);
    let results = home.path().join("results");
    suite.args(["server", "--url", &url, "--requirements", revision, "--expected-failures"]);
    suite.arg(repository(&baseline(revision))).arg("-o").arg(&results);
    let ran = Ran::of(&mut suite);
    let summary = ran.stdout.split("=== SUMMARY ===").nth(1).unwrap_or(&ran.stdout);
    assert_eq!(ran.code, 0, "{summary}\n{}", ran.stderr);
    assert!(summary.contains("Baseline check passed"), "{summary}");

    let mut judged = 0;
    for scenario in fs::read_dir(&results).unwrap() {
        judged += all_messages_are_valid(&scenario.unwrap().path());
    }
    // The suite says nothing when it finds nothing to do.
    assert!(judged > 20, "only {judged} scenarios had messages to validate");
    drop(proxy);
    server.stop();
}

/// Whether a scenario's messages were validated; also holds for scenarios that are not scored.
fn all_messages_are_valid(scenario: &Path) -> usize {
    let text = fs::read_to_string(scenario.join("checks.json")).unwrap();
    let checks: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut judged = 0;
    for check in checks.iter().filter(|check| check["id"] == "wire-schema-valid") {
        assert_eq!(check["status"], "SUCCESS", "{}: {check}", scenario.display());
        judged = 1;
    }
    judged
}

#[test]
fn the_suite_of_2025_11_25_finds_nothing_but_what_is_not_offered() {
    conforms("2025-11-25");
}

#[test]
fn the_suite_of_2026_07_28_finds_nothing_but_what_is_not_offered() {
    conforms("2026-07-28");
}

/// The scenarios of an authorization server: its metadata, and a code from the question to the token.
#[test]
fn the_authorization_server_passes_every_scenario() {
    let home = Home::new();
    let Some(mut suite) = node("conformance::authorization", "conformance", home.path()) else { return };
    let server = home.serve(&[]);
    let base = format!("http://{}", server.address);
    let metadata = br#"{"client_name": "suite", "redirect_uris": ["http://127.0.0.1/callback"]}"#;
    let client = send(&server.address, "POST", "/oauth/register", &[], metadata).json();
    let port = free_address().rsplit(':').next().unwrap().to_owned();
    suite.args(["authorization", "--url", &base, "--port", &port]);
    suite.args(["--client-id", client["client_id"].as_str().unwrap(), "--resource", &format!("{base}/mcp")]);
    let mut running = Running::start(&mut suite);
    let asked = running.stdout_line(|line| line.starts_with(&base) && line.contains("/oauth/authorize?"));
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("alice", "correct horse battery");
    let consent = browser.get(asked.strip_prefix(&base).unwrap()).location().to_owned();
    let page = browser.get(&consent);
    let fields =
        [("form", page.field("form")), ("request", page.field("request")), ("act", "allow".to_owned())];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let back = browser.post("/oauth/consent", &fields).location().to_owned();
    assert_eq!(get(&back).status, 200);
    let (status, stdout, stderr) = running.wait();
    let told = stdout.join("\n");
    assert!(status.success() && !told.contains("FAILURE"), "{status}\n{told}\n{stderr:?}");
    assert!(told.contains("authorization-code-grant") && !told.contains("SKIPPED"), "{told}");
    server.stop();
}

/// A stale entry fails, so the suite itself must see to that: an entry for a check that passes.
#[test]
fn an_entry_whose_check_passes_is_refused() {
    let home = Home::new();
    let Some(mut suite) = node("conformance::stale", "conformance", home.path()) else { return };
    let server = home.serve(&[]);
    let stale = home.path().join("stale.yml");
    fs::write(&stale, "server:\n  - ping:ping\n").unwrap();
    suite.args(["server", "--url", &format!("http://{}/mcp", server.address), "--scenario", "ping"]);
    suite.args(["--spec-version", "2025-11-25", "--expected-failures"]).arg(&stale);
    let ran = Ran::of(&mut suite);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("stale") || ran.stderr.contains("stale"), "{}{}", ran.stdout, ran.stderr);
    server.stop();
}

/// Entries by group, as the comments of a baseline head them.
fn groups(revision: &str) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(repository(&baseline(revision))).unwrap();
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    let mut group = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("  # ") {
            group = Some(name.to_owned());
        } else if let Some(entry) = line.strip_prefix("  - ") {
            assert!(entry.contains(':'), "{entry} excuses a whole scenario; name the check");
            *groups.entry(group.clone().unwrap()).or_default() += 1;
        }
    }
    groups
}

#[test]
fn the_document_counts_what_is_in_the_baselines() {
    let document = fs::read_to_string(repository("docs/conformance.md")).unwrap();
    let rows = document.lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut told: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [group, older, newer, why] = cells[..] else { panic!("{row}") };
        assert!(group == "all" || why.ends_with('.'), "{group} has no reason");
        told.insert(group.to_owned(), [older.parse().unwrap(), newer.parse().unwrap()]);
    }
    let all = told.remove("all").unwrap();
    for (index, revision) in REVISIONS.into_iter().enumerate() {
        let counted = groups(revision);
        assert_eq!(counted.values().sum::<usize>(), all[index], "{revision}");
        for (group, numbers) in &told {
            assert_eq!(counted.get(group).copied().unwrap_or(0), numbers[index], "{group} of {revision}");
        }
        assert!(counted.keys().all(|group| told.contains_key(group)), "{counted:?}");
    }
}

#[test]
fn the_inspector_finds_no_error_and_calls_in_every_era() {
    let home = Home::new();
    let inspect = || node("conformance::inspector", "mcp-inspector", home.path());
    if inspect().is_none() {
        return;
    }
    let key = home.person("alice");
    let server = home.serve(&[]);
    let url = format!("http://{}/mcp", server.address);
    let credential = format!("Authorization: Bearer {key}");
    let run = |arguments: &[&str]| {
        let mut command = inspect().unwrap();
        command.args(["--cli", "--server-url", &url, "--transport", "http", "--header", &credential]);
        Ran::of(command.args(arguments))
    };
    let strict = run(&["--method", "tools/list", "--strict"]);
    let told = format!("{}{}", strict.stdout, strict.stderr);
    assert_eq!(strict.code, 0, "{told}");
    assert!(told.contains("0 errors") || told.contains("no issues"), "{}", strict.stderr);
    for era in ["legacy", "auto", "modern"] {
        let ran = run(&[
            "--protocol-era",
            era,
            "--method",
            "tools/call",
            "--tool-name",
            "whoami",
            "--format",
            "json",
            "-q",
        ]);
        assert_eq!(ran.code, 0, "{era}: {}{}", ran.stdout, ran.stderr);
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        let result = &told["result"];
        assert_eq!(result["structuredContent"]["agent"]["nickname"], "alice", "{era}: {told}");
        assert_eq!(result["isError"], false, "{era}");
    }
    server.stop();
}
