//! What newcomers of such products complain of: each complaint is a test with the real program.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::{
    http::{get, send},
    process::{Home, Ran, Server},
};

/// An unprivileged user, of no group that owns anything.
const NOBODY: u32 = 65534;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The command as another user.
fn as_nobody(command: &Command) -> Command {
    let uid = NOBODY.to_string();
    let mut other = Command::new("setpriv");
    other.args(["--reuid", &uid, "--regid", &uid, "--clear-groups"]).arg(command.get_program());
    other.args(command.get_args()).env_clear().stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        other.env(name, value.unwrap_or_default());
    }
    other
}

/// Whether another user can run the program at all: its directory may be closed to others.
fn another_user(home: &Home) -> bool {
    as_nobody(&home.command(&["--version"])).output().is_ok_and(|output| output.status.success())
}

#[test]
fn denied_rights_name_the_path_the_owner_us_and_what_to_run() {
    let test = "first_run::denied_rights_name_the_path_the_owner_us_and_what_to_run";
    let home = Home::new();
    mode(home.path(), 0o755);
    if !rustix::process::geteuid().is_root() || !another_user(&home) {
        return testkit::skip::skip(test, "it takes root and setpriv to be another user");
    }
    home.person("alpha");
    let target = home.path().join("copy.arena");
    assert_eq!(home.run(&["admin", "backup", target.to_str().unwrap()]).code, 0);
    let config = home.path().join("secret.toml");
    fs::write(&config, "[log]\nfilter = \"info\"\n").unwrap();
    mode(&config, 0o600);
    let data = home.data();
    let own = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(own.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let (config, copy) = (config.display().to_string(), target.display().to_string());
    let beside = home.path().join("other.arena").display().to_string();
    let below = home.path().join("below/data").display().to_string();
    let own = own.path().join("data").display().to_string();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let remedy = format!("chown {NOBODY} ");
    // Which arguments, the exit code, the path that is named and the command that helps.
    for (arguments, code, named, help) in [
        (serve.to_vec(), 1, data.display().to_string(), format!("chown -R {NOBODY} {}", data.display())),
        (vec!["admin", "user", "list"], 1, data.display().to_string(), format!("chown -R {NOBODY} ")),
        (
            [&serve[..], &["--data-dir", &below]].concat(),
            1,
            home.path().display().to_string(),
            format!("install -d -m 700 -o {NOBODY} {below}"),
        ),
        (vec!["config", "show", "--config", &config], 2, config.clone(), remedy.clone() + &config),
        (vec!["admin", "restore", &copy, "--data-dir", &own], 1, copy.clone(), remedy.clone() + &copy),
        (vec!["admin", "backup", &beside], 1, data.display().to_string(), remedy.clone()),
    ] {
        let ran = Ran::of(&mut as_nobody(&home.command(&arguments)));
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{arguments:?}: {}", ran.stderr);
        denied(&ran, &arguments, &named, &help);
    }
    // A target in a directory of another's, with data of one's own.
    let made =
        Ran::of(&mut as_nobody(&home.command(&["admin", "user", "create", "beta", "--data-dir", &own])));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let arguments = ["admin", "backup", &beside, "--data-dir", &own];
    let ran = Ran::of(&mut as_nobody(&home.command(&arguments)));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    denied(&ran, &arguments, &home.path().display().to_string(), &remedy);
    // The socket of a server that another user runs.
    let server = home.serve(&[]);
    mode(&data, 0o755);
    let arguments = ["admin", "user", "list"];
    let ran = Ran::of(&mut as_nobody(&home.command(&arguments)));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    denied(&ran, &arguments, &data.join("admin.sock").display().to_string(), &remedy);
    server.stop();
}

/// One error and one hint, with everything that helps.
fn denied(ran: &Ran, arguments: &[&str], named: &str, help: &str) {
    let words = &ran.stderr;
    assert_eq!(words.lines().count(), 2, "{arguments:?}: {words}");
    assert!(words.starts_with("error: ") && words.contains("\nhint: "), "{arguments:?}: {words}");
    for word in [named, "permission denied", "belongs to uid 0", &format!("runs as uid {NOBODY}"), help] {
        assert!(words.contains(word), "{arguments:?} without {word:?}: {words}");
    }
    assert!(!words.contains("os error"), "{arguments:?}: {words}");
}

#[test]
fn rights_that_the_owner_lost_are_told_with_chmod() {
    let home = Home::new();
    let config = home.path().join("arena.toml");
    fs::write(&config, "").unwrap();
    mode(&config, 0o000);
    let mut command = home.command(&["config", "show", "--config", config.to_str().unwrap()]);
    if fs::read(&config).is_ok() {
        // Root reads everything, so that somebody else has to be the owner.
        let test = "first_run::rights_that_the_owner_lost_are_told_with_chmod";
        mode(home.path(), 0o755);
        std::os::unix::fs::chown(&config, Some(NOBODY), Some(NOBODY)).unwrap();
        if !another_user(&home) {
            return testkit::skip::skip(test, "it takes setpriv to be another user");
        }
        command = as_nobody(&command);
    }
    let ran = Ran::of(&mut command);
    assert!(ran.code == 2 && ran.stderr.contains("run: chmod u+rwX"), "{}", ran.stderr);
}

#[test]
fn a_newcomer_who_looks_for_a_password_is_told_how_to_get_in() {
    let home = Home::new();
    let asked = home.run(&["admin"]);
    assert_eq!(asked.code, 2);
    let helped = home.run(&["admin", "--help"]);
    assert_eq!(helped.code, 0);
    for words in [&asked.stderr, &helped.stdout] {
        let flat = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("no default person, key or password"), "{words}");
        for command in
            ["arena admin user create NICKNAME", "arena admin key create NICKNAME", "arena admin key revoke"]
        {
            assert!(flat.contains(command), "{command}: {words}");
        }
    }
}

#[test]
fn plain_http_on_loopback_works_and_nothing_sends_the_browser_to_https() {
    let home = Home::new();
    let server = home.serve(&[]);
    for path in ["/", "/docs", "/leaderboard/agents", "/healthz"] {
        let answer = get(&format!("http://{}{path}", server.address));
        assert_eq!(answer.status, 200, "{path}");
        for word in ["strict-transport-security", "upgrade-insecure-requests", "location: https"] {
            assert!(!answer.head.contains(word), "{path}: {}", answer.head);
        }
        let ours = format!("https://{}", server.address);
        assert!(!answer.body.contains(&ours), "{path} leads to an address that does not answer");
    }
    server.stop();
}

#[test]
fn a_client_with_the_session_of_a_server_that_was_restarted_goes_on() {
    let home = Home::new();
    let key = home.person("alpha");
    let server = home.serve(&[]);
    let address = server.address.clone();
    let bearer = format!("Bearer {key}");
    let request = |address: &str, method: &str, session: &str, body: &serde_json::Value| {
        let headers = [
            ("accept", "application/json, text/event-stream"),
            ("authorization", bearer.as_str()),
            ("mcp-protocol-version", "2025-11-25"),
            ("mcp-session-id", session),
        ];
        send(address, method, "/duels/mcp", &headers, body.to_string().as_bytes())
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let hello = request(&address, "POST", "", &initialize);
    assert_eq!(hello.status, 200, "{}", hello.body);
    let given = hello.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned);
    server.kill();
    let mut again = home.command(&["serve", "--listen", &address]);
    let server = Server::start(again.env("ARENA_METRICS__LISTEN", "off"));
    let sessions = given.into_iter().chain(["0b6b8f3e-5a3c-4a53-9a55-2f1c0d6f2a11".to_owned()]);
    for session in sessions {
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}});
        let answer = request(&server.address, "POST", &session, &call);
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body.contains("alpha"), "{}", answer.body);
        let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(request(&server.address, "POST", &session, &note).status, 202);
        for method in ["GET", "DELETE"] {
            let answer = request(&server.address, method, &session, &json!(null));
            assert!(
                [200, 202, 204, 404, 405].contains(&answer.status),
                "{method}: {} {}",
                answer.status,
                answer.body
            );
        }
    }
    server.stop();
}
