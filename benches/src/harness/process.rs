//! A server as a child process: started, awaited, measured from outside, and ended by its id.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{Outcome, http::Connection};

/// Python's heaviest server needs seconds on a busy machine.
const READY_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(1);
const END_MAX: Duration = Duration::from_secs(10);
/// Linux counts CPU time for other processes in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Dropping it ends the process.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From the start of the process to its first good answer.
    pub(crate) ready_after: Duration,
}

impl Server {
    /// Starts what `command` makes of a free address and waits until `path` answers; with a path that is
    /// empty an open port is enough.
    pub(crate) async fn start(command: impl FnOnce(SocketAddr) -> Command, path: &str) -> Outcome<Self> {
        let address = free_address()?;
        let began = Instant::now();
        let child =
            command(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut server = Self { child, address, ready_after: Duration::ZERO };
        while !answers(address, path).await {
            if let Some(status) = server.child.try_wait()? {
                return Err(format!("the server ended at once with {status}").into());
            }
            if began.elapsed() > READY_MAX {
                return Err("the server did not become ready".into());
            }
            tokio::time::sleep(POLL).await;
        }
        server.ready_after = began.elapsed();
        Ok(server)
    }

    /// User and system time of all its threads so far.
    pub(crate) fn cpu(&self) -> Outcome<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in brackets may hold anything; the times are the 12th and 13th field after it.
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let ticks: Vec<f64> =
            after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse().ok()).collect();
        Ok(Duration::from_secs_f64(ticks.iter().sum::<f64>() / TICKS_PER_SECOND))
    }

    /// Memory that is resident now, in MiB.
    pub(crate) fn resident_mib(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kib / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child, Signal::TERM);
    }
}

/// Asks a child to end, and kills it if it does not.
pub(crate) fn end(child: &mut Child, signal: Signal) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // A child that has ended already has nothing to be told.
        let _ = kill_process(pid, signal);
    }
    let began = Instant::now();
    while began.elapsed() < END_MAX {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    if child.kill().is_ok() {
        let _ = child.wait();
    }
}

async fn answers(address: SocketAddr, path: &str) -> bool {
    let Ok(mut connection) = Connection::open(address).await else { return false };
    if path.is_empty() {
        return true;
    }
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    matches!(connection.call(request.as_bytes()).await, Ok(answer) if answer.status == 200)
}

pub(crate) fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// A program that was built beside this one.
pub(crate) fn sibling(name: &str) -> Outcome<PathBuf> {
    let path = directory()?.join(name);
    if path.exists() {
        return Ok(path);
    }
    Err(format!("{name} is not built; run `cargo xtask bench`, which builds it").into())
}

/// Where Cargo put this program: a place on a real disk, which a temporary directory may not be.
pub(crate) fn directory() -> Outcome<PathBuf> {
    Ok(std::env::current_exe()?.parent().ok_or("this program is nowhere")?.to_owned())
}

/// `arena serve` on an address, with nothing of the surrounding environment that could steer it.
pub(crate) fn arena(program: &std::path::Path, data: &std::path::Path, address: SocketAddr) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", data)
        .env("ARENA_DATA_DIR", data)
        // On, as it is by default, but on a port that nobody else has.
        .env("ARENA_METRICS__LISTEN", "127.0.0.1:0")
        .args(["serve", "--listen", &address.to_string()]);
    command
}
