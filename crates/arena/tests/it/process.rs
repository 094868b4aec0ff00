//! Starts the program in an environment of its own, and ends what it started.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything takes on a busy machine; reaching it is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A home directory for one test, with a data directory that does not exist yet.
pub(crate) struct Home {
    directory: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The program, with nothing of the surrounding environment but PATH.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("ARENA_DATA_DIR", self.data())
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.command(arguments))
    }

    /// Runs a command that must succeed and print one JSON document.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", ran.stdout))
    }

    /// Makes a person and answers the key.
    pub(crate) fn person(&self, nickname: &str) -> String {
        let made = self.json(&["admin", "user", "create", nickname, "--json"]);
        made["apiKey"].as_str().unwrap().to_owned()
    }

    /// A server on a free port, ready.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.args(arguments).env("ARENA_METRICS__LISTEN", "off");
        Server::start(&mut command)
    }

    /// The same with settings of its own.
    pub(crate) fn serve_with(&self, settings: &[(&str, &str)]) -> Server {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.envs(settings.iter().copied()).env("ARENA_METRICS__LISTEN", "off");
        Server::start(&mut command)
    }
}

/// A command that ran to its end.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A process whose output is read line by line; dropping it kills it by its id.
pub(crate) struct Running {
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = Lines::of(child.stdout.take().unwrap());
        let stderr = Lines::of(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line on standard output that `wanted` accepts.
    pub(crate) fn stdout_line(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        self.stdout.wait_for(wanted)
    }

    pub(crate) fn stderr_line(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        self.stderr.wait_for(wanted)
    }

    pub(crate) fn signal(&self, name: &str) {
        let status =
            Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end; answers how it ended and what was printed since the last line waited for.
    pub(crate) fn wait(mut self) -> (ExitStatus, Vec<String>, Vec<String>) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the process did not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        (status, self.stdout.rest(), self.stderr.rest())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Lines {
    incoming: Receiver<String>,
    seen: Vec<String>,
}

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let (sender, incoming) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { incoming, seen: Vec::new() }
    }

    fn wait_for(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.incoming.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if wanted(&line) => return line,
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("the line did not come; there was:\n{}", self.seen.join("\n"))
                }
            }
        }
    }

    fn rest(&self) -> Vec<String> {
        self.incoming.iter().collect()
    }
}

/// A server that is ready.
pub(crate) struct Server {
    pub(crate) running: Running,
    /// For example `127.0.0.1:40123`.
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::of(Running::start(command))
    }

    /// One that was started, as soon as it is ready.
    pub(crate) fn of(mut running: Running) -> Self {
        let line = running.stderr_line(|line| line.starts_with("ready on "));
        let address = line.trim_start_matches("ready on http://").to_owned();
        Self { running, address }
    }

    /// Ends it as an operator would.
    pub(crate) fn stop(self) {
        self.running.signal("TERM");
        let (status, _, stderr) = self.running.wait();
        assert!(status.success(), "{status}: {}", stderr.join("\n"));
    }

    /// Ends it without a chance to tidy up.
    pub(crate) fn kill(self) {
        self.running.signal("KILL");
        self.running.wait();
    }
}

/// What is in a directory, sorted.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Changes a database file behind the program's back.
pub(crate) fn sql(database: &Path, text: &str) {
    let script =
        "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.stdin.read()); c.commit()";
    let mut child =
        Command::new("python3").args(["-c", script]).arg(database).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
