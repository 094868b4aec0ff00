//! Row `pages`: CPU that a server spends on one page for people, beside an empty page of bare axum.
//!
//! The arena behind the pages has 24 agents, each of which has duelled every other.

use std::{net::SocketAddr, process::Command, sync::Arc, time::Duration};

use serde_json::{Value, json};
use store::Place;

use super::{Name, Row};
use crate::{
    Effort,
    harness::{
        Outcome,
        http::{Connection, get, post},
        load::{self, Request},
        people,
        process::{self, Server},
        progress::Progress,
        rounds::{Rounds, figure},
    },
};

const AGENTS: usize = 24;
const CONNECTIONS: usize = 16;
/// What a site with many visitors has.
const PER_SECOND: u32 = 100;
const EMPTY: &str = "<!doctype html>";

/// A page under load.
struct Shown {
    what: &'static str,
    request: Request,
    cpu: Rounds,
    p99: Rounds,
}

pub(crate) async fn measure(effort: Effort) -> Outcome<Vec<Row>> {
    let (rounds, count, seconds) = match effort {
        Effort::Quick => (2, 200, 1),
        Effort::Full => (5, 4_000, 5),
    };
    let progress = Progress::new("pages");
    progress.say("playing the duels that the pages show");
    let home = tempfile::tempdir_in(process::directory()?)?;
    let store = people::open(Place::Directory(home.path().to_owned()), None)?;
    let callers = people::join(&store, "agent", AGENTS).await?;
    tokio::task::spawn_blocking(move || store.close()).await?;
    let arena = process::sibling("arena")?;
    let server = Server::start(|at| process::arena(&arena, home.path(), at), "/readyz").await?;
    let [duel, agent] = played(&server, &callers).await?;
    let bare = process::sibling("bare")?;
    let floor = Server::start(
        |at: SocketAddr| {
            let mut command = Command::new(bare);
            command.args(["axum", &at.to_string()]);
            command
        },
        "",
    )
    .await?;
    let shown = |what, server: &Server, path: &str, holds: &str| Shown {
        what,
        request: Request {
            bytes: get(server.address, path, &["Accept: text/html"]),
            holds: holds.as_bytes().to_vec(),
        },
        cpu: Rounds::default(),
        p99: Rounds::default(),
    };
    let mut empty = shown("empty page of bare axum, the floor", &floor, "/page", EMPTY);
    let mut pages = [
        shown("home", &server, "/", "</main>"),
        shown("agents by rating", &server, "/leaderboard/agents", "</main>"),
        shown("an agent", &server, &agent, "</main>"),
        shown("a settled duel", &server, &duel, "</main>"),
        shown("sign-in", &server, "/sign-in", "</main>"),
    ];
    for round in 1..=rounds {
        progress.say(&format!("round {round} of {rounds}"));
        empty.round(&floor, count, seconds).await?;
        for page in &mut pages {
            page.round(&server, count, seconds).await?;
        }
    }
    let mut rows: Vec<Row> = pages
        .iter()
        .map(|page| {
            let ratio = page.cpu.over(&empty.cpu);
            let what = format!("CPU of {} ÷ an empty axum page", page.what);
            let value = format!("{:.1}, {}", ratio.median(), page.told());
            Row::reported(Name::Pages, &what, ratio.median(), value, ratio.spread(1))
        })
        .collect();
    rows.push(Row::reported(Name::Pages, empty.what, empty.cpu.median(), empty.told(), empty.cpu.spread(0)));
    Ok(rows)
}

impl Shown {
    async fn round(&mut self, server: &Server, count: usize, seconds: u32) -> Outcome<()> {
        let named = |error: Box<dyn std::error::Error + Send + Sync>| format!("{}: {error}", self.what);
        let requests = std::slice::from_ref(&self.request);
        let before = server.cpu()?;
        load::send(server.address, requests, CONNECTIONS, count).await.map_err(named)?;
        let spent = server.cpu()?.saturating_sub(before);
        self.cpu.add(spent.as_secs_f64() * 1e6 / figure(count));
        let span = Duration::from_secs(u64::from(seconds));
        let paced = load::paced(server.address, &self.request, CONNECTIONS, PER_SECOND, span);
        self.p99.add(paced.await.map_err(named)?.p99.as_secs_f64() * 1e3);
        Ok(())
    }

    fn told(&self) -> String {
        format!(
            "{:.0} µs CPU, p99 {:.1} ms at {PER_SECOND} requests a second",
            self.cpu.median(),
            self.p99.median()
        )
    }
}

/// Every pair plays once; answers the paths of a duel and of an agent.
async fn played(server: &Server, callers: &[Arc<people::Person>]) -> Outcome<[String; 2]> {
    let mut connection = Connection::open(server.address).await?;
    let mut call = async |caller: &people::Person, tool: &str, input: Value| -> Outcome<()> {
        let headers = [format!("Authorization: Bearer {}", caller.token)];
        let path = format!("/duels/v1/{tool}");
        let answer = connection.call(&post(server.address, &path, &headers, &input.to_string())).await?;
        if answer.status == 200 {
            return Ok(());
        }
        Err(format!("{tool}: {} {}", answer.status, String::from_utf8_lossy(&answer.body)).into())
    };
    for caller in callers {
        call(caller, "enter_arena", json!({"pitch": "I keep what I say.", "ttl_minutes": 15})).await?;
    }
    for (at, one) in callers.iter().enumerate() {
        for (offset, two) in callers.iter().skip(at + 1).enumerate() {
            let (a, b) = (&one.principal.nickname, &two.principal.nickname);
            call(one, "challenge_agent", json!({"nickname": b, "message": "Half each?"})).await?;
            call(two, "send_message", json!({"nickname": a, "message": "Gladly."})).await?;
            call(one, "submit_demand", json!({"nickname": b, "count": 4})).await?;
            call(two, "submit_demand", json!({"nickname": a, "count": 3 + (at + offset) % 3})).await?;
        }
    }
    let mut connection = Connection::open(server.address).await?;
    let answer = connection.call(&get(server.address, "/duels/v1/settled", &[])).await?;
    let settled: Value = serde_json::from_slice(&answer.body)?;
    let duel = path_of(&settled["duels"][0]["duel_url"])?;
    let answer = connection.call(&get(server.address, &duel, &[])).await?;
    let record: Value = serde_json::from_slice(&answer.body)?;
    let agent = path_of(&record["participants"][0]["public_profile_url"])?;
    Ok([duel, agent])
}

/// The path of an address that the server told.
fn path_of(url: &Value) -> Outcome<String> {
    let url = url.as_str().ok_or("no address was told")?;
    let (_, rest) = url.split_once("://").ok_or("an address without a scheme")?;
    Ok(rest[rest.find('/').ok_or("an address without a path")?..].to_owned())
}
