//! A small process that ends what a run started, however the run ends.
//!
//! It reads its orders from a pipe and acts when the pipe closes, which the kernel does for a run
//! that was interrupted, killed or crashed just as for one that came to its end. So there is one
//! path of cleaning up, no signal handler, and nothing is ended but by an id the run itself was given.

use std::{
    io::{self, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

/// Orders: `group N` (the process group to end, 0 for none), `server N` (a process to stop, 0 for
/// none), `remove DIR`. Grace: 5 s for a group, 10 s + 5 s for the server.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
group=0 server=0 dir=
while read -r order value; do
  case $order in group) group=$value ;; server) server=$value ;; remove) dir=$value ;; esac
done
gone() { # gone ID TENTHS: waits until the process or group is gone
  left=$2
  while kill -0 "$1" 2>/dev/null; do
    [ "$left" -gt 0 ] || return 1
    left=$((left - 1)); sleep 0.1
  done
}
if [ "$group" -gt 1 ]; then
  kill -TERM "-$group" 2>/dev/null
  gone "-$group" 50 || kill -KILL "-$group" 2>/dev/null
fi
if [ "$server" -gt 1 ]; then
  kill -INT "$server" 2>/dev/null
  gone "$server" 100 || { kill -QUIT "$server" 2>/dev/null; gone "$server" 50 || kill -KILL "$server" 2>/dev/null; }
fi
[ -z "$dir" ] || rm -rf -- "$dir"
"#;

/// The pipe to the keeper. Dropping it is the order to clean up, and waits until that is done.
#[derive(Debug)]
pub(crate) struct Keeper {
    process: Child,
    orders: Option<ChildStdin>,
    server: Option<Child>,
}

impl Keeper {
    pub(crate) fn start() -> io::Result<Self> {
        let mut process = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // A terminal's Ctrl-C goes to the run's own group; the keeper must outlive it.
            .process_group(0)
            .spawn()?;
        let orders = process.stdin.take();
        Ok(Self { process, orders, server: None })
    }

    fn order(&mut self, line: &str) -> io::Result<()> {
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(orders, "{line}")
    }

    /// Starts a command in a group of its own, which is ended if the run is.
    pub(crate) fn spawn(&mut self, command: &mut Command) -> io::Result<Child> {
        let mut child = command.stdin(Stdio::null()).process_group(0).spawn()?;
        if let Err(error) = self.order(&format!("group {}", child.id())) {
            child.kill()?;
            return Err(error);
        }
        Ok(child)
    }

    /// Forgets the group of the last command: it has ended, and its number may be given anew.
    pub(crate) fn ended(&mut self) -> io::Result<()> {
        self.order("group 0")
    }

    /// Hands over a server that is stopped when the run ends.
    pub(crate) fn stop_at_end(&mut self, mut server: Child) -> io::Result<&mut Child> {
        if let Err(error) = self.order(&format!("server {}", server.id())) {
            server.kill()?;
            return Err(error);
        }
        Ok(self.server.insert(server))
    }

    /// Forgets the server: it has ended by itself.
    pub(crate) fn server_ended(&mut self) -> io::Result<()> {
        self.server = None;
        self.order("server 0")
    }

    /// A directory that is removed when the run ends, after the server has stopped.
    pub(crate) fn remove_at_end(&mut self, directory: &Path) -> io::Result<()> {
        self.order(&format!("remove {}", directory.display()))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.orders.take());
        // Reaping the server is what lets the keeper see that it is gone.
        if let Some(server) = &mut self.server {
            server.wait().ok();
        }
        self.process.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Command {
        let mut command = Command::new("sleep");
        command.arg("600");
        command
    }

    #[test]
    fn dropping_it_stops_the_server_ends_the_group_and_removes_the_directory() {
        let directory = std::env::temp_dir().join(format!("arena-keeper-{}", std::process::id()));
        std::fs::create_dir_all(directory.join("inside")).unwrap();
        let mut keeper = Keeper::start().unwrap();
        keeper.remove_at_end(&directory).unwrap();
        let server = sleeper().stdin(Stdio::null()).spawn().unwrap();
        let server_id = server.id();
        keeper.stop_at_end(server).unwrap();
        let mut grouped = keeper.spawn(&mut sleeper()).unwrap();
        let waiter = std::thread::spawn(move || grouped.wait().unwrap());
        drop(keeper);
        assert!(!waiter.join().unwrap().success());
        assert!(!Path::new(&format!("/proc/{server_id}")).exists());
        assert!(!directory.exists());
    }

    #[test]
    fn a_group_that_ended_is_left_alone() {
        let mut keeper = Keeper::start().unwrap();
        let mut grouped = keeper.spawn(&mut sleeper()).unwrap();
        keeper.ended().unwrap();
        drop(keeper);
        assert!(grouped.try_wait().unwrap().is_none());
        grouped.kill().unwrap();
        grouped.wait().unwrap();
    }
}
