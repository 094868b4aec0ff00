//! People who sign in at other issuers: npm's `oidc-provider` in the place of Google, and a GitHub of three routes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Stdio},
    thread,
};

use serde_json::json;
use testkit::node::Node;

use crate::{
    http::{call, free_address},
    oauth::{allow, asked, client, redeem},
    process::{Home, Server},
    tools::repository,
    visitor::{Seen, Visitor, encoded},
};

fn serve(home: &Home, address: &str, settings: &[(&str, &str)]) -> Server {
    let mut command = home.command(&["serve", "--listen", address]);
    Server::start(command.envs(settings.iter().copied()).env("ARENA_METRICS__LISTEN", "off"))
}

/// The real issuer of another project, ended with the test.
struct Google {
    base: String,
    child: Child,
}

impl Google {
    fn start(test: &str, callback: &str) -> Option<Self> {
        let node = Node::find(test)?;
        let mut command = node.command();
        command.arg(repository("crates/upstream/tests/it/issuer.mjs")).arg(&node.modules).arg(callback);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut base = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut base).unwrap();
        assert!(base.starts_with("http://"), "the issuer ended; run the script by hand to see why");
        Some(Self { base: base.trim().to_owned(), child })
    }

    fn settings(&self) -> [(&'static str, &str); 3] {
        [
            ("ARENA_SIGN_IN__GOOGLE_CLIENT_ID", "RS256"),
            ("ARENA_SIGN_IN__GOOGLE_CLIENT_SECRET", "s3cret/of RS256"),
            ("ARENA_SIGN_IN__GOOGLE_ISSUER", &self.base),
        ]
    }

    /// Signs in there as `login` and allows what is asked; the path and query that the browser is sent back to.
    fn visit(&self, url: &str, login: &str) -> String {
        let mut browser = Visitor::new(self.base.strip_prefix("http://").unwrap());
        let mut seen = browser.get(url.strip_prefix(&self.base).unwrap());
        let mut at = String::new();
        for _ in 0..20 {
            if matches!(seen.status, 302 | 303) {
                let next = seen.location().to_owned();
                let Some(path) =
                    next.strip_prefix(&self.base).or(next.strip_prefix('/').map(|_| next.as_str()))
                else {
                    return path_of(&next);
                };
                path.clone_into(&mut at);
                seen = browser.get(&at);
                continue;
            }
            let form = if seen.body.contains("value=\"login\"") {
                encoded(&[("prompt", "login"), ("login", login), ("password", "x")])
            } else {
                assert!(seen.body.contains("value=\"consent\""), "{at}: {} {}", seen.status, seen.body);
                encoded(&[("prompt", "consent")])
            };
            seen = browser.ask("POST", &at, &[], &form);
        }
        panic!("{at} leads nowhere");
    }
}

impl Drop for Google {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Path and query of an absolute address.
fn path_of(url: &str) -> String {
    let (_, rest) = url.split_once("://").unwrap();
    rest[rest.find('/').unwrap()..].to_owned()
}

/// GitHub as far as a sign-in needs it. A code is `number-login`; other codes are answered with trouble.
fn github() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the test's process.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    base
}

fn answer(mut stream: TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let mut body = vec![0; field("content-length:").map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let (status, told) = if head.starts_with("post /login/oauth/access_token ") {
        let code = body.split('&').find_map(|pair| pair.strip_prefix("code=")).unwrap();
        match code {
            "spent" => (200, json!({"error": "bad_verification_code"})),
            "trouble" => (500, json!({})),
            code => (200, json!({"access_token": code, "token_type": "bearer", "scope": "read:user"})),
        }
    } else {
        assert!(head.starts_with("get /user "), "{head}");
        match field("authorization: bearer ").unwrap().split_once('-') {
            Some((id, login)) => {
                (200, json!({"id": id.parse::<u64>().unwrap(), "login": login, "name": "<b>Name</b>"}))
            }
            None => (200, json!({"nonsense": true})),
        }
    };
    let told = told.to_string();
    // Whoever asked may be gone.
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{told}",
        told.len()
    );
}

fn github_settings(base: &str) -> Vec<(&'static str, &str)> {
    vec![
        ("ARENA_SIGN_IN__GITHUB_CLIENT_ID", "arena"),
        ("ARENA_SIGN_IN__GITHUB_CLIENT_SECRET", "s3cret"),
        ("ARENA_SIGN_IN__GITHUB_URL", base),
        ("ARENA_SIGN_IN__GITHUB_API_URL", base),
        ("ARENA_SIGN_IN__LOCAL", "on"),
    ]
}

/// Leaves for GitHub; what it was asked with.
fn leave(browser: &mut Visitor, page: &str) -> Seen {
    browser.submit(page, "/sign-in/github", &[])
}

/// Comes back with a code, in this browser.
fn come_back(browser: &mut Visitor, left: &Seen, code: &str) -> Seen {
    let state = left.parameter("state").unwrap();
    browser.get(&format!("/oauth/callback/github?{}", encoded(&[("code", code), ("state", &state)])))
}

fn join_by_github(browser: &mut Visitor, code: &str, nickname: &str) {
    let left = leave(browser, "/sign-in");
    assert_eq!(come_back(browser, &left, code).location(), "/sign-up");
    assert_eq!(browser.submit("/sign-up", "/sign-up", &[("nickname", nickname)]).status, 303);
}

/// What an agent shows of its owner.
fn owner(server: &Server, browser: &mut Visitor) -> serde_json::Value {
    let made = browser.submit("/account/keys", "/account/keys", &[("label", "x"), ("days", "1")]);
    let at = made.body.find("arena_sk_").unwrap();
    let key = &made.body[at..at + 52];
    let shown = call(&server.address, "set_presentation", key, &json!({"bio": "x"})).json();
    shown["presentation"]["owner"]["profile_url"].clone()
}

#[test]
fn a_person_of_google_chooses_a_nickname_once_and_plays_by_a_client() {
    let test = "elsewhere::a_person_of_google_chooses_a_nickname_once_and_plays_by_a_client";
    let (home, address) = (Home::new(), free_address());
    let callback = format!("http://{address}/oauth/callback/google");
    let Some(google) = Google::start(test, &callback) else { return };
    let server = serve(&home, &address, &google.settings());
    let mut browser = Visitor::new(&server.address);
    let page = browser.get("/sign-in");
    assert!(
        page.body.contains("Continue with Google") && !page.body.contains("type=\"password\""),
        "{}",
        page.body
    );
    let left = browser.submit("/sign-in", "/sign-in/google", &[("back", "/account/keys")]);
    assert!(left.location().starts_with(&google.base), "{}", left.location());
    assert!(left.location().contains("code_challenge_method=S256") && left.location().contains("nonce="));
    let back = google.visit(left.location(), "ada");
    // The server may be restarted while somebody is away.
    server.stop();
    let server = serve(&home, &address, &google.settings());
    assert_eq!(browser.get(&back).location(), "/sign-up");
    let form = browser.get("/sign-up");
    assert!(form.body.contains("value=\"ada\""), "the name there is proposed: {}", form.body);
    let joined = browser.submit("/sign-up", "/sign-up", &[("nickname", "lovelace")]);
    assert_eq!((joined.status, joined.location()), (303, "/account/keys"));
    let page = browser.get("/account");
    assert!(page.body.contains("lovelace") && page.body.contains("ada@example.test"), "{}", page.body);
    // A client is let in by the same person, and knows by whom she was vouched for.
    let client = client(&server);
    let answered = allow(&mut browser, &asked(&server, &client, &[]));
    let issued = redeem(&server, &client, &answered.parameter("code").unwrap()).json();
    let who = call(&server.address, "whoami", issued["access_token"].as_str().unwrap(), &json!({})).json();
    assert_eq!(
        (&who["agent"]["nickname"], &who["oauth"]),
        (&json!("lovelace"), &json!({"current_provider": "google", "linked_providers": ["google"]}))
    );
    // The next time nothing is asked here.
    browser.forget();
    let left = browser.submit("/sign-in", "/sign-in/google", &[]);
    let back = google.visit(left.location(), "ada");
    assert_eq!(browser.get(&back).location(), "/account");
    assert!(browser.get("/account").body.contains("lovelace"));
    server.stop();
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn github_names_the_profile_once_and_is_linked_to_one_person() {
    let (home, base) = (Home::new(), github());
    let server = home.serve_with(&github_settings(&base));
    let mut browser = Visitor::new(&server.address);
    join_by_github(&mut browser, "583231-octocat", "alpha");
    assert_eq!(owner(&server, &mut browser), json!("https://github.com/octocat"));
    let page = browser.get("/account");
    assert!(page.body.contains("octocat") && !page.body.contains("<b>Name"), "{}", page.body);
    // The only way in stays.
    let unlink = [("provider", "github"), ("subject", "583231")];
    let kept = browser.submit("/account", "/account/unlink", &unlink);
    assert!(kept.status == 409 && kept.body.contains("only way to sign in"), "{}", kept.body);
    // The account was renamed there: the person is the same, and the link stays as it was set first.
    browser.forget();
    let left = leave(&mut browser, "/sign-in");
    assert_eq!(come_back(&mut browser, &left, "583231-renamed").location(), "/account");
    assert_eq!(owner(&server, &mut browser), json!("https://github.com/octocat"));
    // Another person with a password links an account of her own, but not one that is somebody's.
    let mut other = Visitor::new(&server.address);
    other.sign_up("beta", "correct horse battery");
    let left = leave(&mut other, "/account");
    let taken = come_back(&mut other, &left, "583231-octocat");
    assert!(taken.status == 409 && taken.body.contains("belongs to another person"), "{}", taken.body);
    let left = leave(&mut other, "/account");
    assert_eq!(come_back(&mut other, &left, "42-mona").location(), "/account");
    assert_eq!(owner(&server, &mut other), json!("https://github.com/mona"));
    let unlinked = other.submit("/account", "/account/unlink", &[("provider", "github"), ("subject", "42")]);
    assert_eq!(unlinked.status, 303, "{}", unlinked.body);
    let left = leave(&mut other, "/account");
    come_back(&mut other, &left, "43-lisa");
    assert_eq!(owner(&server, &mut other), json!("https://github.com/mona"), "set once");
    server.stop();
    let book = home.json(&["admin", "audit", "--json"]).to_string();
    assert!(book.contains("login.link"), "{book}");
}

#[test]
fn a_return_counts_once_and_only_in_the_browser_that_left() {
    let (home, base) = (Home::new(), github());
    let server = home.serve_with(&github_settings(&base));
    let mut browser = Visitor::new(&server.address);
    let mut victim = Visitor::new(&server.address);
    victim.get("/sign-in");
    let left = leave(&mut browser, "/sign-in");
    // Somebody leads another's browser to a return of his own: nobody is signed in.
    let told = come_back(&mut victim, &left, "1-mallory");
    assert!(told.status == 400 && told.body.contains("begin again"), "{}", told.body);
    assert_eq!(victim.session(), None);
    let state = left.parameter("state").unwrap();
    for query in [
        String::new(),
        encoded(&[("code", "1-mallory")]),
        encoded(&[("code", "1-mallory"), ("state", "x")]),
        encoded(&[("state", &state)]),
        format!("{}&state=x", encoded(&[("code", "1-a"), ("state", &state)])),
    ] {
        let told = browser.get(&format!("/oauth/callback/github?{query}"));
        assert_eq!(told.status, 400, "{query}: {}", told.body);
        assert_eq!(browser.session(), None);
    }
    // What the last of them spent is spent; a new one works, once.
    let left = leave(&mut browser, "/sign-in");
    assert_eq!(come_back(&mut browser, &left, "1-mallory").location(), "/sign-up");
    assert_eq!(come_back(&mut browser, &left, "1-mallory").status, 400);
    for provider in ["google", "apple", "oidc:house", "x"] {
        let told = browser.get(&format!("/oauth/callback/{provider}?code=1-a&state={state}"));
        assert_eq!(told.status, 404, "{provider}: {}", told.body);
        assert_eq!(browser.submit("/sign-in", &format!("/sign-in/{provider}"), &[]).status, 404);
    }
    server.stop();
}

#[test]
fn an_issuer_that_fails_is_told_of_and_changes_nothing() {
    let (home, base) = (Home::new(), github());
    let server = home.serve_with(&github_settings(&base));
    let mut browser = Visitor::new(&server.address);
    for (code, status, words) in [
        ("spent", 400, "begin again"),
        ("trouble", 503, "status 500"),
        ("nonsense", 503, "cannot be understood"),
    ] {
        let left = leave(&mut browser, "/sign-in");
        let told = come_back(&mut browser, &left, code);
        assert!(told.status == status && told.body.contains(words), "{code}: {} {}", told.status, told.body);
        assert_eq!(browser.session(), None);
    }
    let left = leave(&mut browser, "/sign-in");
    let state = left.parameter("state").unwrap();
    let query = encoded(&[("error", "access_denied"), ("error_description", "<script>"), ("state", &state)]);
    let told = browser.get(&format!("/oauth/callback/github?{query}"));
    assert!(
        told.status == 403 && told.body.contains("cancelled there") && !told.body.contains("<script>,"),
        "{}",
        told.body
    );
    server.stop();
    // One that is away.
    let away = format!("http://{}", free_address());
    let settings = [
        ("ARENA_SIGN_IN__OIDC_CLIENT_ID", "arena"),
        ("ARENA_SIGN_IN__OIDC_CLIENT_SECRET", "s3cret"),
        ("ARENA_SIGN_IN__OIDC_ISSUER", away.as_str()),
        ("ARENA_SIGN_IN__OIDC_TITLE", "the <house>"),
    ];
    let server = home.serve_with(&settings);
    let mut browser = Visitor::new(&server.address);
    let page = browser.get("/sign-in");
    assert!(page.body.contains("Continue with the &lt;house&gt;"), "{}", page.body);
    let told = browser.submit("/sign-in", "/sign-in/oidc:house", &[]);
    assert!(
        told.status == 503 && told.body.contains("could not be reached"),
        "{} {}",
        told.status,
        told.body
    );
    assert!(home.json(&["admin", "user", "list", "--json"]).as_array().unwrap().is_empty());
    server.stop();
}

#[test]
fn settings_that_cannot_work_are_told_at_the_start() {
    let home = Home::new();
    for (settings, words) in [
        (
            vec![("GOOGLE_CLIENT_ID", "x")],
            "sign_in.google_client_id is set without sign_in.google_client_secret",
        ),
        (
            vec![("OIDC_ISSUER", "https://id.example"), ("OIDC_CLIENT_ID", "x")],
            "without sign_in.oidc_client_secret",
        ),
        (vec![("GITHUB_CLIENT_ID", "x"), ("GITHUB_CLIENT_SECRET", " ")], "is empty"),
        (
            vec![
                ("GITHUB_CLIENT_ID", "x"),
                ("GITHUB_CLIENT_SECRET", "y"),
                ("GITHUB_URL", "http://github.example"),
            ],
            "not https",
        ),
        (
            vec![
                ("OIDC_ISSUER", "https://id.example"),
                ("OIDC_CLIENT_ID", "x"),
                ("OIDC_CLIENT_SECRET", "y"),
                ("OIDC_NAME", "My House"),
            ],
            "choose another",
        ),
        (vec![("LOCAL", "perhaps")], "sign_in.local"),
    ] {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        for (key, value) in settings {
            command.env(format!("ARENA_SIGN_IN__{key}"), value);
        }
        let ran = crate::process::Ran::of(&mut command);
        assert_eq!(ran.code, 2, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}
