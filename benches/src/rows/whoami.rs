//! Row `whoami`: CPU that a server spends on one `tools/call`, Arena's with key, budget and state.
//!
//! The server's own CPU time is counted, not the clock's, so that the load generator on the same cores
//! and whatever else runs there stay out of it. All servers take turns within a round.

use std::{path::Path, process::Command};

use store::Place;
use tempfile::TempDir;

use super::{Name, Row, peers};
use crate::{
    Effort,
    harness::{
        Outcome,
        cluster::Cluster,
        http::post,
        load::{self, Request},
        people,
        process::{self, Server},
        progress::Progress,
        rounds::{Rounds, figure},
    },
};

const CONNECTIONS: usize = 32;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// An account's budget of 200 calls a minute would end the run at once. With the fastest clock a minute
/// of Arena time is 0.6 ms, so that every call passes the budget's arithmetic and none is refused.
const CLOCK_SPEED: &str = "100000";
/// What the answer of every other server holds.
const BARE_NICKNAME: &str = "caller-000";

/// A server under load.
struct Contender {
    what: &'static str,
    server: Server,
    requests: Vec<Request>,
    /// Requests of one round with 32 connections; slow servers get fewer.
    count: usize,
    many: Rounds,
    one: Rounds,
    /// Milliseconds, with 32 connections.
    p50: Rounds,
    p99: Rounds,
    /// Requests a second, with 32 connections.
    rate: Rounds,
    _data: Option<TempDir>,
}

struct Counts {
    rounds: usize,
    fast: usize,
    slow: usize,
}

const WHAT_ARENA: &str = "Arena on SQLite";
const WHAT_RMCP: &str = "bare rmcp server";

pub(crate) async fn measure(effort: Effort) -> Outcome<Vec<Row>> {
    let counts = match effort {
        Effort::Quick => Counts { rounds: 2, fast: 2_000, slow: 100 },
        Effort::Full => Counts { rounds: 5, fast: 40_000, slow: 2_000 },
    };
    let progress = Progress::new("whoami");
    progress.say("starting the servers");
    let cluster = tokio::task::spawn_blocking(Cluster::start).await??;
    let (mut contenders, mut absent) = (Vec::new(), Vec::new());
    let data = tempfile::tempdir_in(process::directory()?)?;
    let sqlite = Place::Directory(data.path().to_owned());
    let requests = callers(sqlite).await?;
    let arena = process::sibling("arena")?;
    let server = Server::start(|at| arena_server(&arena, data.path(), at, None), "/readyz").await?;
    contenders.push(Contender::new(WHAT_ARENA, server, &requests, counts.fast, Some(data)));
    for (what, kind) in [(WHAT_RMCP, "rmcp"), ("raw axum, the floor", "axum")] {
        let bare = process::sibling("bare")?;
        let command = |at: std::net::SocketAddr| {
            let mut command = Command::new(bare);
            command.args([kind, &at.to_string()]);
            command
        };
        let server = Server::start(command, "").await?;
        contenders.push(Contender::new(what, server, &[Call::anonymous()], counts.fast, None));
    }
    let what = "Arena on PostgreSQL";
    match &cluster {
        Some(cluster) => {
            let data = tempfile::tempdir_in(process::directory()?)?;
            let requests = callers(Place::Postgres(cluster.url.clone())).await?;
            let url = Some(cluster.url.as_str());
            let server = Server::start(|at| arena_server(&arena, data.path(), at, url), "/readyz").await?;
            contenders.push(Contender::new(what, server, &requests, counts.slow, Some(data)));
        }
        None => absent.push(what),
    }
    for peer in peers::ALL {
        match peer.start().await? {
            Some(server) => {
                contenders.push(Contender::new(peer.what, server, &[Call::anonymous()], counts.slow, None));
            }
            None => absent.push(peer.what),
        }
    }
    progress.say("warming up");
    for contender in &mut contenders {
        contender.warm_up().await?;
    }
    for round in 1..=counts.rounds {
        progress.say(&format!("round {round} of {}, {} servers", counts.rounds, contenders.len()));
        for contender in &mut contenders {
            contender.round().await?;
        }
    }
    Ok(rows(&contenders, &absent))
}

fn arena_server(program: &Path, data: &Path, address: std::net::SocketAddr, url: Option<&str>) -> Command {
    let mut command = process::arena(program, data, address);
    command.args(["--clock-speed", CLOCK_SPEED]);
    if let Some(url) = url {
        command.env("ARENA_DATABASE__URL", url);
    }
    command
}

/// Makes one caller a connection in a place, and what each of them sends.
async fn callers(place: Place) -> Outcome<Vec<Call>> {
    let store = people::open(place, None)?;
    let callers = people::join(&store, "caller", CONNECTIONS).await?;
    tokio::task::spawn_blocking(move || store.close()).await?;
    Ok(callers
        .iter()
        .map(|person| Call { token: Some(person.token.clone()), nickname: person.principal.nickname.clone() })
        .collect())
}

/// What a connection asks and what it must be told.
struct Call {
    token: Option<String>,
    nickname: String,
}

impl Call {
    fn anonymous() -> Self {
        Self { token: None, nickname: BARE_NICKNAME.to_owned() }
    }

    fn request(&self, server: &Server) -> Request {
        let mut headers: Vec<String> = [
            "Accept: application/json, text/event-stream",
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            "Mcp-Name: whoami",
        ]
        .map(str::to_owned)
        .into();
        headers.extend(self.token.iter().map(|token| format!("Authorization: Bearer {token}")));
        let bytes = post(server.address, "/mcp", &headers, CALL);
        Request { bytes, holds: format!(r#""nickname":"{}""#, self.nickname).into_bytes() }
    }
}

impl Contender {
    fn new(what: &'static str, server: Server, calls: &[Call], count: usize, data: Option<TempDir>) -> Self {
        let requests = calls.iter().map(|call| call.request(&server)).collect();
        let [many, one, p50, p99, rate] = [(); 5].map(|()| Rounds::default());
        Self { what, server, requests, count, many, one, p50, p99, rate, _data: data }
    }

    async fn warm_up(&self) -> Outcome<()> {
        self.send(CONNECTIONS, self.count / 4).await.map(|_| ()).map_err(|error| self.named(&*error))
    }

    fn named(&self, error: &dyn std::error::Error) -> Box<dyn std::error::Error + Send + Sync> {
        format!("{}: {error}", self.what).into()
    }

    async fn send(&self, connections: usize, count: usize) -> Outcome<load::Load> {
        load::send(self.server.address, &self.requests, connections, count).await
    }

    async fn round(&mut self) -> Outcome<()> {
        let before = self.server.cpu()?;
        let load = self.send(CONNECTIONS, self.count).await.map_err(|error| self.named(&*error))?;
        let between = self.server.cpu()?;
        let few = self.count / 4;
        self.send(1, few).await.map_err(|error| self.named(&*error))?;
        let after = self.server.cpu()?;
        let each = |spent: std::time::Duration, count: usize| spent.as_secs_f64() * 1e6 / figure(count);
        self.many.add(each(between.saturating_sub(before), self.count));
        self.one.add(each(after.saturating_sub(between), few));
        self.p50.add(load.median.as_secs_f64() * 1e3);
        self.p99.add(load.p99.as_secs_f64() * 1e3);
        self.rate.add(figure(self.count) / load.wall.as_secs_f64());
        Ok(())
    }
}

fn rows(contenders: &[Contender], absent: &[&'static str]) -> Vec<Row> {
    let mut rows = Vec::new();
    let find = |what: &str| contenders.iter().find(|contender| contender.what == what);
    if let (Some(arena), Some(rmcp)) = (find(WHAT_ARENA), find(WHAT_RMCP)) {
        let ratio = arena.many.over(&rmcp.many);
        let what = format!("CPU of Arena ÷ bare rmcp, {CONNECTIONS} connections");
        let value = format!("{:.2}", ratio.median());
        rows.push(
            Row::reported(Name::Whoami, &what, ratio.median(), value, ratio.spread(2)).at_most(1.3, "1.3"),
        );
        let ratio = arena.one.over(&rmcp.one);
        let (what, value) = ("CPU of Arena ÷ bare rmcp, 1 connection", format!("{:.2}", ratio.median()));
        rows.push(Row::reported(Name::Whoami, what, ratio.median(), value, ratio.spread(2)));
    }
    for contender in contenders {
        let (many, one) = (contender.many.median(), contender.one.median());
        let value = format!(
            "{many:.0} µs CPU ({one:.0} with 1 connection), {:.0}/s, p50 {:.1} ms, p99 {:.1} ms",
            contender.rate.median(),
            contender.p50.median(),
            contender.p99.median()
        );
        rows.push(Row::reported(Name::Whoami, contender.what, many, value, contender.many.spread(0)));
    }
    rows.extend(absent.iter().map(|what| Row::absent(Name::Whoami, what)));
    rows
}
