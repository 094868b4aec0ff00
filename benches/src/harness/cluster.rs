//! A PostgreSQL cluster of the run's own: durable as its defaults make it, on a free port of loopback,
//! stopped by its process id and deleted with it.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use kernel::id::{Ids, OsIds};
use rustix::process::{Signal, geteuid};
use tempfile::TempDir;

use super::{Outcome, process};

const DEBIAN: &str = "/usr/lib/postgresql";
const READY_MAX: Duration = Duration::from_mins(1);

pub(crate) struct Cluster {
    server: Child,
    pub(crate) url: String,
    _home: TempDir,
}

impl Cluster {
    /// `None` when PostgreSQL is not installed.
    pub(crate) fn start() -> Outcome<Option<Self>> {
        let Some(programs) = programs() else { return Ok(None) };
        let account = account()?;
        let home = tempfile::tempdir()?;
        let password = OsIds.slug();
        let (password_file, data) = (home.path().join("password"), home.path().join("data"));
        fs::write(&password_file, &password)?;
        fs::set_permissions(&password_file, fs::Permissions::from_mode(0o600))?;
        if let Some((user, group)) = account {
            for path in [home.path(), &password_file] {
                chown(path, Some(user), Some(group))?;
            }
        }
        let run = |name: &str| {
            let mut command = Command::new(programs.join(name));
            command.current_dir(home.path()).env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(Stdio::null()).arg("-D").arg(&data);
            if let Some((user, group)) = account {
                command.uid(user).gid(group);
            }
            command
        };
        let made = run("initdb")
            .args(["-U", "arena", "-A", "password", "-E", "UTF8", "--locale=C", "--pwfile"])
            .arg(&password_file)
            .status()?;
        if !made.success() {
            return Err("initdb failed".into());
        }
        let port = process::free_address()?.port();
        let server = run("postgres")
            .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-c", "unix_socket_directories="])
            .spawn()?;
        let url = format!("postgres://arena:{password}@127.0.0.1:{port}/postgres");
        let mut cluster = Self { server, url, _home: home };
        cluster.await_ready(&data)?;
        Ok(Some(cluster))
    }

    fn await_ready(&mut self, data: &Path) -> Outcome<()> {
        let began = Instant::now();
        // The last line of this file is the server's own word on its state.
        while !fs::read_to_string(data.join("postmaster.pid"))
            .is_ok_and(|text| text.trim_end().ends_with("ready"))
        {
            if self.server.try_wait()?.is_some() || began.elapsed() > READY_MAX {
                return Err("PostgreSQL did not become ready".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        process::end(&mut self.server, Signal::INT);
    }
}

/// The newest of Debian's places, unless there is one on `PATH`. A link on `PATH` is followed, because
/// the programs look for their files beside themselves.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).find_map(|place| fs::canonicalize(place.join("initdb")).ok());
    let found = found.and_then(|initdb| initdb.parent().map(Path::to_owned));
    found.or_else(|| {
        let places = fs::read_dir(DEBIAN).ok()?;
        places
            .filter_map(|place| Some(place.ok()?.path().join("bin")))
            .filter(|bin| bin.join("initdb").exists())
            .max()
    })
}

/// The user and group to run it as, because PostgreSQL refuses root.
fn account() -> Outcome<Option<(u32, u32)>> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let accounts = fs::read_to_string("/etc/passwd")?;
    for name in ["postgres", "nobody"] {
        let mut fields = accounts.lines().map(|line| line.split(':')).filter_map(|mut fields| {
            (fields.next() == Some(name))
                .then(|| fields.skip(1).filter_map(|field| field.parse::<u32>().ok()))
        });
        if let Some(mut ids) = fields.next()
            && let (Some(user), Some(group)) = (ids.next(), ids.next())
        {
            return Ok(Some((user, group)));
        }
    }
    Err("PostgreSQL does not run as root, and there is no user postgres or nobody".into())
}
