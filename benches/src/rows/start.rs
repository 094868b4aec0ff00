//! Row `start`: how soon an empty Arena is ready, how little it holds, and how much its tools say.

use std::time::Duration;

use serde_json::{Value, json};
use store::Place;

use super::{Name, Row};
use crate::{
    Effort,
    harness::{
        Outcome,
        http::{Connection, post},
        people,
        process::{self, Server},
        progress::Progress,
        rounds::{Rounds, figure},
    },
};

const STARTS: usize = 11;
const IDLE: Duration = Duration::from_secs(2);
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

pub(crate) async fn measure(effort: Effort) -> Outcome<Vec<Row>> {
    let starts = if effort == Effort::Quick { 3 } else { STARTS };
    let progress = Progress::new("start");
    let arena = process::sibling("arena")?;
    let (mut ready, mut idle) = (Rounds::default(), Rounds::default());
    progress.say(&format!("{starts} starts, each left idle for {} s", IDLE.as_secs()));
    for _ in 0..starts {
        let home = tempfile::tempdir_in(process::directory()?)?;
        let server = Server::start(|at| process::arena(&arena, home.path(), at), "/readyz").await?;
        ready.add(server.ready_after.as_secs_f64() * 1e3);
        tokio::time::sleep(IDLE).await;
        idle.add(server.resident_mib()?);
    }
    progress.say("memory with the model in use");
    let loaded = after_a_search(&arena).await?;
    progress.say("size of the tool list");
    let (tools, tokens) = tool_list().await?;
    let row = |what: &str, rounds: &Rounds, value: String| {
        Row::reported(Name::Start, what, rounds.median(), value, rounds.spread(0))
    };
    let shown = format!("{:.0} ms", ready.median());
    let count = figure(tokens);
    Ok(vec![
        row("start to ready, empty SQLite store", &ready, shown).at_most(300.0, "300 ms"),
        row("memory when idle", &idle, format!("{:.0} MiB", idle.median())).at_most(60.0, "60 MiB"),
        Row::reported(
            Name::Start,
            "memory when idle again after searches in three scripts",
            loaded,
            format!("{loaded:.0} MiB"),
            String::new(),
        )
        .at_most(140.0, "140 MiB"),
        Row::reported(
            Name::Start,
            "duels tools/list, o200k tokens",
            count,
            format!("{tokens} tokens, {tools} tools"),
            String::new(),
        )
        .at_most(5000.0, "5,000"),
    ])
}

/// Memory that stays once the model has embedded something.
async fn after_a_search(arena: &std::path::Path) -> Outcome<f64> {
    let home = tempfile::tempdir_in(process::directory()?)?;
    let store = people::open(Place::Directory(home.path().to_owned()), None)?;
    let reader = people::join(&store, "reader", 1).await?.pop().ok_or("nobody joined")?;
    tokio::task::spawn_blocking(move || store.close()).await?;
    let server = Server::start(|at| process::arena(arena, home.path(), at), "/readyz").await?;
    let headers = [format!("Authorization: Bearer {}", reader.token)];
    for query in ["who keeps agreements", "谁遵守协议", "кто держит слово"] {
        let body = json!({ "query": query }).to_string();
        let request = post(server.address, "/duels/v1/search_agents", &headers, &body);
        let answer = Connection::open(server.address).await?.call(&request).await?;
        if answer.status != 200 {
            return Err(format!("a search answered {}", answer.status).into());
        }
    }
    tokio::time::sleep(IDLE).await;
    server.resident_mib()
}

/// How many tools the server lists on the wire, and the tokens of their names, descriptions and inputs.
async fn tool_list() -> Outcome<(usize, usize)> {
    let home = tempfile::tempdir_in(process::directory()?)?;
    let store = people::open(Place::Directory(home.path().to_owned()), None)?;
    let reader = people::join(&store, "reader", 1).await?.pop().ok_or("nobody joined")?;
    tokio::task::spawn_blocking(move || store.close()).await?;
    let arena = process::sibling("arena")?;
    let server = Server::start(|at| process::arena(&arena, home.path(), at), "/readyz").await?;
    let headers = [
        "Accept: application/json, text/event-stream".to_owned(),
        "MCP-Protocol-Version: 2026-07-28".to_owned(),
        "Mcp-Method: tools/list".to_owned(),
        format!("Authorization: Bearer {}", reader.token),
    ];
    let request = post(server.address, "/duels/mcp", &headers, LIST);
    let answer = Connection::open(server.address).await?.call(&request).await?;
    let answer: Value = serde_json::from_slice(&answer.body)?;
    let tools = answer["result"]["tools"].as_array().ok_or("tools/list answered no tools")?;
    let encoding = tiktoken_rs::o200k_base()?;
    let told: Vec<Value> = tools
        .iter()
        .map(|tool| {
            json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
        })
        .collect();
    let tokens = told.iter().map(|tool| encoding.encode_ordinary(&tool.to_string()).len()).sum();
    Ok((tools.len(), tokens))
}
