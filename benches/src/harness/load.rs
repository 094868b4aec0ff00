//! A fixed number of requests over a fixed number of kept connections, every answer checked.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use super::{
    Outcome,
    http::{Connection, holds},
};

/// A request and what its answer must hold.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) bytes: Vec<u8>,
    pub(crate) holds: Vec<u8>,
}

/// What a load took.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) wall: Duration,
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
}

/// Sends `total` requests; connection `i` sends request `i` of `requests`, round and round.
pub(crate) async fn send(
    address: SocketAddr,
    requests: &[Request],
    connections: usize,
    total: usize,
) -> Outcome<Load> {
    let left = Arc::new(AtomicI64::new(i64::try_from(total)?));
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(address).await?);
    }
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for (mut connection, request) in open.into_iter().zip(requests.iter().cycle().cloned()) {
        let left = Arc::clone(&left);
        tasks.spawn(async move {
            let mut times = Vec::new();
            while left.fetch_sub(1, Ordering::Relaxed) > 0 {
                let sent = Instant::now();
                let answer = connection.call(&request.bytes).await?;
                times.push(sent.elapsed());
                if answer.status != 200 || !holds(&answer.body, &request.holds) {
                    let text = String::from_utf8_lossy(&answer.body).into_owned();
                    return Err(format!("status {} and {text}", answer.status).into());
                }
            }
            Outcome::Ok(times)
        });
    }
    let mut times = Vec::with_capacity(total);
    while let Some(done) = tasks.join_next().await {
        times.extend(done??);
    }
    Ok(Load::of(began.elapsed(), times))
}

impl Load {
    fn of(wall: Duration, mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        Self { wall, median: at(50), p99: at(99) }
    }
}

/// Sends `request` so many times a second, whether or not the answers come: each is timed from when it was due.
pub(crate) async fn paced(
    address: SocketAddr,
    request: &Request,
    connections: usize,
    per_second: u32,
    span: Duration,
) -> Outcome<Load> {
    let gap = Duration::from_secs(1) / per_second;
    let began = tokio::time::Instant::now();
    let mut tasks = JoinSet::new();
    for first in 0..u32::try_from(connections)? {
        let (mut connection, request) = (Connection::open(address).await?, request.clone());
        let stride = u32::try_from(connections)?;
        tasks.spawn(async move {
            let mut times = Vec::new();
            for at in (first..).step_by(usize::try_from(stride)?) {
                let due = began + gap * at;
                if due.duration_since(began) >= span {
                    break;
                }
                tokio::time::sleep_until(due).await;
                let answer = connection.call(&request.bytes).await?;
                times.push(due.elapsed());
                if answer.status != 200 || !holds(&answer.body, &request.holds) {
                    return Err(format!("status {}", answer.status).into());
                }
            }
            Outcome::Ok(times)
        });
    }
    let mut times = Vec::new();
    while let Some(done) = tasks.join_next().await {
        times.extend(done??);
    }
    Ok(Load::of(began.elapsed(), times))
}
