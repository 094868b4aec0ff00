//! One program that plays: how it is started, what it said last, and that nothing of it stays behind.

use std::{
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::{
    io::{AsyncReadExt, BufReader},
    process::{Child, Command},
    task::JoinHandle,
};

use super::plan::nickname;
use crate::failure::Failure;

/// How long a program may take to end when it is asked to.
const GRACE: Duration = Duration::from_millis(500);
/// What is kept of what a program wrote to standard error.
const LAST_WORDS_BYTES: usize = 800;
/// How many lines of that are shown.
const LAST_LINES: usize = 6;
/// How much of it is read at once.
const READ_BYTES: usize = 4096;

/// A program in a process group of its own, so that what it starts ends with it.
pub(super) struct Program {
    pub(super) side: usize,
    name: String,
    child: Child,
    said: Arc<Mutex<Vec<u8>>>,
    listening: JoinHandle<()>,
}

/// Where a program connects, and as whom.
pub(super) struct Ticket<'t> {
    pub(super) base: &'t str,
    pub(super) side: usize,
    pub(super) key: &'t str,
    pub(super) duels: u64,
}

impl Program {
    pub(super) fn start(words: &[String], ticket: &Ticket<'_>) -> Result<Self, Failure> {
        let &Ticket { base, side, key, duels } = ticket;
        let name = words.join(" ");
        let mut command = Command::new(words.first().map_or("", String::as_str));
        command
            .args(words.get(1..).unwrap_or_default())
            .env("ARENA_URL", base)
            .env("ARENA_MCP_URL", format!("{base}/duels/mcp"))
            .env("ARENA_API_KEY", key)
            .env("ARENA_NICKNAME", nickname(side))
            .env("ARENA_OPPONENT", nickname(1 - side))
            .env("ARENA_DUELS", duels.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| {
            Failure::usage(format!("{name:?} cannot be started: {error}"))
                .hint("check the path and that it may be executed; quote an argument that has a space")
        })?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let (stderr, hears) = (child.stderr.take(), Arc::clone(&said));
        let listening = tokio::spawn(async move {
            let Some(stderr) = stderr else { return };
            let (mut stream, mut some) = (BufReader::new(stderr), [0; READ_BYTES]);
            // Bytes rather than lines: an endless line must not fill the memory.
            while let Ok(count @ 1..) = stream.read(&mut some).await {
                let mut kept = hears.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&some[..count]);
                let surplus = kept.len().saturating_sub(LAST_WORDS_BYTES);
                kept.drain(..surplus);
            }
        });
        Ok(Self { side, name, child, said, listening })
    }

    /// The side and the command, for messages.
    pub(super) fn name(&self) -> String {
        format!("{} ({})", nickname(self.side), self.name)
    }

    /// How it ended, if it did. It is not waited for yet: until then its group keeps its number, so that
    /// what it started can still be ended.
    pub(super) fn ended(&self) -> Option<ExitStatus> {
        let left = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.group()?), left).ok().flatten()?;
        let code = status.exit_status().map(|code| code << 8);
        Some(ExitStatus::from_raw(code.or(status.terminating_signal()).unwrap_or(0)))
    }

    fn group(&self) -> Option<Pid> {
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    /// What it wrote to standard error last, so far.
    pub(super) fn last_words(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = text.trim_matches(['\u{fffd}', '\n', ' ']).lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }

    /// Ends the program and everything in its group, waits for it, and answers its last words.
    pub(super) async fn end(mut self) -> String {
        if let Some(group) = self.group() {
            // A group that is gone already needs no signal.
            let _ = kill_process_group(group, Signal::TERM);
            let left = tokio::time::timeout(GRACE, self.child.wait()).await;
            let _ = kill_process_group(group, Signal::KILL);
            if left.is_err() {
                let _ = self.child.wait().await;
            }
        }
        // Whatever held the stream is gone, so that this ends.
        let _ = tokio::time::timeout(GRACE, &mut self.listening).await;
        self.listening.abort();
        self.last_words()
    }
}
