//! What others depend on, byte for byte: documents, tool definitions, help, error codes, metrics.
//!
//! `cargo xtask golden` writes the files anew; the difference is what a release changes for others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use testkit::golden::compare;

use crate::{
    http::{call, free_address, get},
    mcp_http::{ERAS, Era, McpClient},
    process::{Home, Server},
};

/// The address that documents name, so that they do not depend on a port.
const PUBLIC_URL: &str = "https://arena.example";

fn serve(home: &Home) -> Server {
    home.serve(&["--public-url", PUBLIC_URL])
}

fn pretty(value: &Value) -> String {
    format!("{}\n", serde_json::to_string_pretty(value).unwrap())
}

#[test]
fn documents_of_the_server() {
    let home = Home::new();
    let server = serve(&home);
    let url = |path: &str| format!("http://{}{path}", server.address);
    compare("openapi.json", &pretty(&get(&url("/openapi.json")).json()));
    compare("llms.txt", &get(&url("/llms.txt")).body);
    server.stop();
}

#[test]
fn what_a_client_is_told_of_the_tools() {
    let home = Home::new();
    let server = serve(&home);
    let [legacy, modern] = ERAS.map(|era| McpClient::new(&server.address, None, era));
    let tools = modern.tools();
    assert_eq!(tools, legacy.tools(), "both revisions define the same tools");
    let root = McpClient { path: "/mcp", ..modern.clone() };
    assert_eq!(tools, root.tools(), "/mcp is /duels/mcp");
    for tool in &tools {
        compare(&format!("tools/{}.json", tool["name"].as_str().unwrap()), &pretty(tool));
    }
    let order: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    compare("tools/order.txt", &format!("{}\n", order.join("\n")));
    compare("mcp/discover.json", &pretty(&modern.result("server/discover", json!({}))));
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "golden", "version": "1"},
    });
    compare("mcp/initialize.json", &pretty(&legacy.result("initialize", hello)));
    server.stop();
}

/// The commands that a help text lists.
fn commands_in(help: &str) -> Vec<String> {
    let listed = help.split("Commands:\n").nth(1).unwrap_or_default();
    let rows = listed.lines().take_while(|line| line.starts_with("  "));
    rows.filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn help_of_every_command() {
    let home = Home::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    let mut seen = 0;
    while let Some(command) = open.pop() {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let ran = home.run(&[&words[..], &["--help"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}");
        let name = if words.is_empty() { "arena".to_owned() } else { words.join("-") };
        compare(&format!("help/{name}.txt"), &ran.stdout);
        seen += 1;
        open.extend(commands_in(&ran.stdout).into_iter().map(|next| [command.clone(), vec![next]].concat()));
    }
    assert!(seen > 15, "only {seen} commands were found in the help");
    compare("help/exit-codes.txt", &home.run(&["help", "exit-codes"]).stdout);
    let topics = home.run(&["help", "exit-codes", "--json"]);
    compare("json/exit-codes.json", &pretty(&serde_json::from_str(&topics.stdout).unwrap()));
}

/// The label names of each metric, without the values.
fn metrics_in(text: &str) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let mut metrics = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        metrics.insert(name.to_owned(), (kind.to_owned(), BTreeSet::new()));
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((name, rest)) = line.split_once('{') else { continue };
        let base =
            ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let (_, labels) = metrics.get_mut(base).unwrap_or_else(|| panic!("{line} has no type"));
        let list = rest.split('}').next().unwrap();
        labels.extend(list.split("\",").filter_map(|pair| pair.split('=').next()).map(str::to_owned));
    }
    metrics
}

#[test]
fn names_of_metrics() {
    let home = Home::new();
    let key = home.person("alice");
    let metrics = free_address();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::start(command.env("ARENA_METRICS__LISTEN", &metrics));
    call(&server.address, "whoami", &key, &json!({}));
    call(&server.address, "whoami", "arena_sk_wrong", &json!({}));
    McpClient::new(&server.address, Some(&key), Era::Modern).tool("whoami", &json!({}));
    let told = get(&format!("http://{metrics}/metrics")).body;
    let mut out = String::new();
    for (name, (kind, labels)) in metrics_in(&told) {
        let labels: Vec<String> = labels.into_iter().collect();
        out.push_str(format!("{name} {kind} {}", labels.join(",")).trim_end());
        out.push('\n');
    }
    compare("metrics.txt", &out);
    server.stop();
}
