//! The authorization server as clients use it, and as attackers do.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::{
    http::{Answer, call, free_address, get, send},
    process::{Home, Ran, Running, Server},
    tools::{node, python, repository},
    visitor::{Seen, Visitor, encoded},
};

const PASSWORD: &str = "correct horse battery";
/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://127.0.0.1:41234/callback";

fn register(server: &Server, metadata: &Value) -> Answer {
    send(&server.address, "POST", "/oauth/register", &[], metadata.to_string().as_bytes())
}

pub(crate) fn client(server: &Server) -> String {
    let told =
        register(server, &json!({"client_name": "A client", "redirect_uris": ["http://127.0.0.1/callback"]}));
    assert_eq!(told.status, 201, "{}", told.body);
    told.json()["client_id"].as_str().unwrap().to_owned()
}

/// What a well-meaning client asks, with some of it changed or left out.
pub(crate) fn asked(server: &Server, client: &str, changes: &[(&str, Option<&str>)]) -> String {
    let resource = format!("http://{}/duels/mcp", server.address);
    let mut fields: Vec<(&str, &str)> = vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("resource", &resource),
        ("state", "some state"),
    ];
    for (name, value) in changes {
        fields.retain(|(known, _)| known != name);
        fields.extend(value.map(|value| (*name, value)));
    }
    format!("/oauth/authorize?{}", encoded(&fields))
}

/// Allows what was asked; answers the redirect to the client.
pub(crate) fn allow(browser: &mut Visitor, ask: &str) -> Seen {
    let consent = browser.get(ask).location().to_owned();
    let page = browser.get(&consent);
    let (form, request) = (page.field("form"), page.field("request"));
    browser.post("/oauth/consent", &[("form", &form), ("request", &request), ("act", "allow")])
}

fn token(server: &Server, fields: &[(&str, &str)]) -> Answer {
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    form(&server.address, "/oauth/token", &headers, &encoded(fields))
}

/// A form without a browser around it.
fn form(address: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let Seen { status, headers, body } = Visitor::new(address).ask("POST", path, headers, body);
    let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let raw_head = lines.join("\n");
    Answer { status, head: raw_head.to_lowercase(), raw_head, body }
}

pub(crate) fn redeem(server: &Server, client: &str, code: &str) -> Answer {
    token(
        server,
        &[
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", REDIRECT),
        ],
    )
}

fn begin() -> (Home, Server, Visitor) {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("alpha", PASSWORD);
    (home, server, browser)
}

#[test]
fn every_path_of_the_metadata_is_json_or_a_true_404() {
    let home = Home::new();
    let server = home.serve(&[]);
    let base = format!("http://{}", server.address);
    let document = |path: &str| {
        let answer = get(&format!("{base}{path}"));
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        answer.json()
    };
    for (path, resource) in [("", "/mcp"), ("/mcp", "/mcp"), ("/duels/mcp", "/duels/mcp")] {
        let told = document(&format!("/.well-known/oauth-protected-resource{path}"));
        assert_eq!(told["resource"], format!("{base}{resource}"), "equal to what the client connects to");
        assert_eq!(told["authorization_servers"], json!([base]));
        assert!(!told["scopes_supported"].to_string().contains("offline_access"));
    }
    for name in ["oauth-authorization-server", "openid-configuration"] {
        for path in ["", "/mcp", "/duels/mcp"] {
            let told = document(&format!("/.well-known/{name}{path}"));
            assert_eq!(told["issuer"], json!(base));
            assert_eq!(told["code_challenge_methods_supported"], json!(["S256"]));
            assert_eq!(told["token_endpoint_auth_methods_supported"], json!(["none"]));
            for endpoint in
                ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"]
            {
                assert!(
                    told[endpoint].as_str().unwrap().starts_with(&format!("{base}/oauth/")),
                    "{endpoint}"
                );
            }
        }
    }
    for path in [
        "/.well-known/oauth-protected-resource/other",
        "/mcp/.well-known/oauth-protected-resource",
        "/.well-known/jwks.json",
    ] {
        let answer = get(&format!("{base}{path}"));
        assert_eq!((answer.status, answer.header("content-type")), (404, "application/json"), "{path}");
    }
    server.stop();
}

#[test]
fn a_client_signs_a_person_in_and_acts_until_it_is_sent_away() {
    let (_home, server, mut browser) = begin();
    let client = client(&server);
    let answered = allow(&mut browser, &asked(&server, &client, &[]));
    assert!(answered.location().starts_with(&format!("{REDIRECT}?code=")), "{}", answered.location());
    assert_eq!(answered.parameter("state").as_deref(), Some("some state"));
    assert_eq!(answered.parameter("iss").unwrap(), format!("http://{}", server.address));
    let told = redeem(&server, &client, &answered.parameter("code").unwrap());
    assert_eq!((told.status, told.header("cache-control")), (200, "no-store"), "{}", told.body);
    let issued = told.json();
    let access = issued["access_token"].as_str().unwrap();
    let who = call(&server.address, "whoami", access, &json!({})).json();
    assert_eq!(
        (&who["agent"]["nickname"], &who["oauth"]["current_provider"]),
        (&json!("alpha"), &json!("local"))
    );
    let page = browser.get("/account");
    assert!(page.body.contains("A client"), "{}", page.body);
    let id = page.field("id");
    assert_eq!(browser.submit("/account", "/account/revoke", &[("id", &id)]).status, 303);
    let out = call(&server.address, "whoami", access, &json!({}));
    let challenge =
        out.raw_head.lines().find(|line| line.starts_with("www-authenticate")).unwrap().to_owned();
    assert!(out.status == 401 && challenge.contains("error=\"invalid_token\""), "{challenge}");
    let metadata = format!(
        "resource_metadata=\"http://{}/.well-known/oauth-protected-resource/duels/mcp\"",
        server.address
    );
    assert!(challenge.contains(&metadata) && challenge.contains("scope=\"duels:play\""), "{challenge}");
    server.stop();
}

/// The way in is told for the address that the client used.
#[test]
fn a_challenge_names_the_metadata_of_its_own_address() {
    let home = Home::new();
    let server = home.serve(&[]);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}});
    for path in ["/mcp", "/duels/mcp"] {
        let headers =
            [("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-11-25")];
        let told = send(&server.address, "POST", path, &headers, body.to_string().as_bytes());
        let challenge = told.header("www-authenticate").to_owned();
        assert!(
            told.status == 401 && challenge.contains(&format!("oauth-protected-resource{path}\"")),
            "{challenge}"
        );
    }
    server.stop();
}

/// On loopback `localhost` and the number are one place; clients compare what they are told with what they call.
#[test]
fn a_client_that_calls_localhost_is_told_of_localhost() {
    let (_home, server, mut browser) = begin();
    let named = server.address.replace("127.0.0.1", "localhost");
    let resource = format!("http://{named}/duels/mcp");
    let headers = [("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-11-25")];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}});
    let told = send(&named, "POST", "/duels/mcp", &headers, body.to_string().as_bytes());
    let path = "/.well-known/oauth-protected-resource/duels/mcp";
    let challenge = told.header("www-authenticate");
    assert!(challenge.contains(&format!("resource_metadata=\"http://{named}{path}\"")), "{challenge}");
    let told = send(&named, "GET", path, &[], b"").json();
    assert_eq!(told["resource"], json!(resource));
    assert_eq!(told["authorization_servers"], json!([format!("http://{}", server.address)]));
    let client = client(&server);
    let asking = asked(&server, &client, &[("resource", Some(&resource))]);
    let answered = allow(&mut browser, &asking);
    let code = answered.parameter("code").unwrap();
    let tokens = token(
        &server,
        &[
            ("grant_type", "authorization_code"),
            ("client_id", &client),
            ("code", &code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", REDIRECT),
            ("resource", &resource),
        ],
    );
    assert_eq!(tokens.status, 200, "{}", tokens.body);
    let issued = tokens.json();
    let who = call(&server.address, "whoami", issued["access_token"].as_str().unwrap(), &json!({}));
    assert_eq!(who.status, 200, "{}", who.body);
    // Another port is another server.
    let elsewhere = asked(&server, &client, &[("resource", Some("http://localhost:1/duels/mcp"))]);
    assert!(browser.get(&elsewhere).location().contains("error=invalid_target"));
    server.stop();
}

#[test]
fn what_is_wrong_before_the_address_is_known_is_sent_nowhere() {
    let (_home, server, mut browser) = begin();
    let client = client(&server);
    for (changes, words) in [
        (vec![("client_id", None)], "client_id is missing"),
        (vec![("client_id", Some("dcr_000000000000000000000000"))], "not registered here"),
        (vec![("client_id", Some("other"))], "neither registered here nor an https address"),
        (vec![("client_id", Some("https://127.0.0.1/client.json"))], "was not fetched"),
        (vec![("client_id", Some("https://localhost/client.json"))], "was not fetched"),
        (vec![("client_id", Some("https://[::ffff:a9fe:a9fe]/c"))], "was not fetched"),
        (vec![("redirect_uri", Some("https://evil.example/callback"))], "nothing was sent to it"),
        (vec![("redirect_uri", Some("http://127.0.0.1:1/other"))], "nothing was sent to it"),
        (vec![("redirect_uri", Some("http://127.0.0.1.evil.example/callback"))], "nothing was sent to it"),
    ] {
        let told = browser.get(&asked(&server, &client, &changes));
        assert!(
            matches!(told.status, 400 | 404),
            "{changes:?}: {} {:?}",
            told.status,
            told.header("location")
        );
        assert!(told.header("location").is_none() && told.body.contains(words), "{words}: {}", told.body);
    }
    server.stop();
}

#[test]
fn what_is_wrong_afterwards_the_client_is_told() {
    let (_home, server, mut browser) = begin();
    let client = client(&server);
    let long = "x".repeat(2001);
    for (changes, error) in [
        (vec![("response_type", Some("token"))], "unsupported_response_type"),
        (vec![("response_type", None)], "invalid_request"),
        (vec![("code_challenge", None)], "invalid_request"),
        (vec![("code_challenge_method", Some("plain"))], "invalid_request"),
        (vec![("code_challenge_method", None)], "invalid_request"),
        (vec![("code_challenge", Some("short"))], "invalid_request"),
        (vec![("resource", Some("https://other.example/mcp"))], "invalid_target"),
        (vec![("resource", Some("http://127.0.0.1:1/duels/mcp"))], "invalid_target"),
        (vec![("scope", Some("admin"))], "invalid_scope"),
        (vec![("response_mode", Some("fragment"))], "invalid_request"),
        (vec![("request_uri", Some("https://x.example/r"))], "request_not_supported"),
        (vec![("prompt", Some("none"))], "interaction_required"),
        (vec![("state", Some(long.as_str()))], "invalid_request"),
    ] {
        let told = browser.get(&asked(&server, &client, &changes));
        assert_eq!(
            told.parameter("error").as_deref(),
            Some(error),
            "{changes:?}: {} {}",
            told.status,
            told.body
        );
        assert!(told.location().starts_with(&format!("{REDIRECT}?")) && told.parameter("code").is_none());
        assert_eq!(told.parameter("iss").unwrap(), format!("http://{}", server.address));
    }
    server.stop();
}

#[test]
fn a_person_says_no_or_is_somebody_else() {
    let (_home, server, mut browser) = begin();
    let client = client(&server);
    let consent = browser.get(&asked(&server, &client, &[])).location().to_owned();
    let page = browser.get(&consent);
    for words in
        ["A client", "alpha", "a program on this computer", "Any program on this computer", "duels:play"]
    {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    assert!(
        page.header("content-security-policy")
            .unwrap()
            .contains("form-action 'self' http://127.0.0.1:41234;")
    );
    let request = page.field("request");
    let form = page.field("form");
    let no = browser.post("/oauth/consent", &[("form", &form), ("request", &request), ("act", "refuse")]);
    assert_eq!(
        (no.parameter("error").as_deref(), no.parameter("state").as_deref()),
        (Some("access_denied"), Some("some state"))
    );
    let again = browser.post("/oauth/consent", &[("form", &form), ("request", &request), ("act", "allow")]);
    assert_eq!(again.status, 404, "answered once: {}", again.body);
    // Whoever is not signed in signs in first and comes back to the same question.
    let mut other = Visitor::new(&server.address);
    let consent = other.get(&asked(&server, &client, &[])).location().to_owned();
    let to_sign_in = other.get(&consent).location().to_owned();
    assert!(to_sign_in.starts_with("/sign-in?back=%2Foauth%2Fconsent%3Frequest%3D"), "{to_sign_in}");
    let page = other.get(&to_sign_in);
    let (form, back) = (page.field("form"), page.field("back"));
    let fields = [("form", form.as_str()), ("back", &back), ("nickname", "alpha"), ("password", PASSWORD)];
    assert_eq!(other.post("/sign-in", &fields).location(), consent);
    // Without the page's token nobody answers for the person.
    let request = other.get(&consent).field("request");
    assert_eq!(other.post("/oauth/consent", &[("request", &request), ("act", "allow")]).status, 403);
    server.stop();
}

#[test]
fn a_stolen_code_is_worth_nothing_and_ends_what_came_of_it() {
    let (_home, server, mut browser) = begin();
    let (client, other) = (client(&server), client(&server));
    let code = allow(&mut browser, &asked(&server, &client, &[])).parameter("code").unwrap();
    let base = [("grant_type", "authorization_code"), ("code", code.as_str()), ("code_verifier", VERIFIER)];
    let with = |more: &[(&'static str, &str)]| {
        let mut fields: Vec<(&str, &str)> = base.to_vec();
        for (name, value) in more {
            fields.retain(|(known, _)| known != name);
            fields.push((name, value));
        }
        let told = token(&server, &fields);
        (told.status, told.json()["error"].as_str().unwrap_or_default().to_owned())
    };
    let refused = |status, error: &str| (status, error.to_owned());
    assert_eq!(with(&[("client_id", &other)]), refused(400, "invalid_grant"));
    assert_eq!(with(&[("client_id", "dcr_unknown")]), refused(401, "invalid_client"));
    assert_eq!(with(&[]), refused(401, "invalid_client"));
    assert_eq!(with(&[("client_id", &client), ("client_secret", "x")]), refused(401, "invalid_client"));
    assert_eq!(with(&[("client_id", &client), ("code_verifier", "y")]), refused(400, "invalid_grant"));
    assert_eq!(
        with(&[("client_id", &client), ("redirect_uri", "http://127.0.0.1:9/callback")]),
        refused(400, "invalid_grant")
    );
    assert_eq!(
        with(&[("client_id", &client), ("resource", "https://other.example/mcp")]),
        refused(400, "invalid_target")
    );
    assert_eq!(
        with(&[("client_id", &client), ("grant_type", "password")]),
        refused(400, "unsupported_grant_type")
    );
    assert_eq!(with(&[("client_id", &client), ("code", "")]), refused(400, "invalid_request"));
    let issued = redeem(&server, &client, &code).json();
    let access = issued["access_token"].as_str().unwrap();
    assert_eq!(call(&server.address, "whoami", access, &json!({})).status, 200);
    assert_eq!(redeem(&server, &client, &code).json()["error"], "invalid_grant");
    assert_eq!(call(&server.address, "whoami", access, &json!({})).status, 401);
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", issued["refresh_token"].as_str().unwrap()),
    ];
    assert_eq!(token(&server, &fields).json()["error"], "invalid_grant");
    server.stop();
}

#[test]
fn only_sound_clients_register() {
    let home = Home::new();
    let server = home.serve(&[]);
    for (metadata, error) in [
        (json!({}), "invalid_client_metadata"),
        (json!([]), "invalid_client_metadata"),
        (json!({"redirect_uris": []}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["http://evil.example/"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["javascript:alert(1)"]}), "invalid_redirect_uri"),
        (
            json!({"redirect_uris": ["http://127.0.0.1/"], "token_endpoint_auth_method": "client_secret_basic"}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": ["http://127.0.0.1/"], "grant_types": ["implicit"]}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": ["http://127.0.0.1/"], "client_name": "x".repeat(101)}),
            "invalid_client_metadata",
        ),
    ] {
        let told = register(&server, &metadata);
        assert_eq!(
            (told.status, told.json()["error"].as_str()),
            (400, Some(error)),
            "{metadata}: {}",
            told.body
        );
    }
    let preflight = Visitor::new(&server.address).ask(
        "OPTIONS",
        "/oauth/token",
        &[("origin", "https://inspector.example")],
        "",
    );
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("*")));
    assert_eq!(Visitor::new(&server.address).ask("GET", "/oauth/token", &[], "").status, 405);
    server.stop();
}

/// Clients break when their registration vanishes, and when a random port of theirs is not taken.
#[test]
fn a_registration_outlives_a_restart_and_any_port_of_loopback_does() {
    let (home, server, mut browser) = begin();
    let client = client(&server);
    let code = allow(&mut browser, &asked(&server, &client, &[])).parameter("code").unwrap();
    let issued = redeem(&server, &client, &code).json();
    let address = server.address.clone();
    server.kill();
    let mut again = home.command(&["serve", "--listen", &address]);
    let server = Server::start(again.env("ARENA_METRICS__LISTEN", "off"));
    let other = "http://127.0.0.1:5/callback";
    let answered = allow(&mut browser, &asked(&server, &client, &[("redirect_uri", Some(other))]));
    assert!(answered.location().starts_with(other), "{}", answered.location());
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", issued["refresh_token"].as_str().unwrap()),
    ];
    let renewed = token(&server, &fields);
    assert_eq!(renewed.status, 200, "{}", renewed.body);
    assert_eq!(
        call(&address, "whoami", renewed.json()["access_token"].as_str().unwrap(), &json!({})).status,
        200
    );
    server.stop();
}

/// A token is for one address (RFC 8707). A key is for the person, wherever the server is reached.
#[test]
fn a_token_for_another_address_opens_nothing() {
    let (home, server, mut browser) = begin();
    let client = client(&server);
    let code = allow(&mut browser, &asked(&server, &client, &[])).parameter("code").unwrap();
    let issued = redeem(&server, &client, &code).json();
    let (access, key) = (issued["access_token"].as_str().unwrap(), home.person("beta"));
    assert_eq!(call(&server.address, "whoami", access, &json!({})).status, 200);
    server.stop();
    let moved = home.serve(&["--public-url", "https://moved.example"]);
    let refused = call(&moved.address, "whoami", access, &json!({}));
    assert!(
        refused.status == 401 && refused.raw_head.contains("error=\"invalid_token\""),
        "{}",
        refused.raw_head
    );
    assert!(refused.body.contains("for another resource"), "{}", refused.body);
    let streamed = Visitor::new(&moved.address).ask(
        "GET",
        "/duels/v1/events",
        &[("authorization", &format!("Bearer {access}"))],
        "",
    );
    assert_eq!(streamed.status, 401);
    assert_eq!(call(&moved.address, "whoami", &key, &json!({})).status, 200);
    moved.stop();
}

/// The MCP client of Python finds everything by itself: metadata, registration, sign-in, token, call.
#[test]
fn the_python_client_needs_nothing_but_the_address() {
    let Some(mut client) = python("oauth::the_python_client_needs_nothing_but_the_address") else { return };
    let home = Home::new();
    let server = home.serve(&[]);
    let url = format!("http://{}/duels/mcp", server.address);
    client.arg(repository("tests/clients/sign_in.py")).arg(&url);
    let ran = Ran::of(client.env("HOME", home.path()).env("PYTHONDONTWRITEBYTECODE", "1"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let told: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(told, json!({"nickname": "pythonista", "provider": "local"}));
    server.stop();
}

/// So does the Inspector, with a person in a browser beside it.
#[test]
fn the_inspector_needs_nothing_but_the_address_and_a_person() {
    let test = "oauth::the_inspector_needs_nothing_but_the_address_and_a_person";
    let (home, server, mut browser) = begin();
    let Some(mut inspector) = node(test, "mcp-inspector", home.path()) else { return };
    let callback = format!("http://{}/oauth/callback", free_address());
    inspector
        .args(["--cli", "--transport", "http", "--method", "tools/call", "--tool-name", "whoami"])
        .args(["--callback-url", &callback, "--format", "json", "--server-url"])
        .arg(format!("http://{}/duels/mcp", server.address))
        // It believes otherwise that nobody is there to ask.
        .env("MCP_AUTO_OPEN_ENABLED", "true")
        .env("MCP_INSPECTOR_SECRET_STORE", "memory")
        .stdin(Stdio::null());
    let mut waiting = Running::start(&mut inspector);
    let line = waiting.stderr_line(|line| line.contains("navigate to: "));
    let (_, url) = line.split_once("navigate to: ").unwrap();
    let ask = url.trim().strip_prefix(&format!("http://{}", server.address)).unwrap();
    let consent = browser.get(ask).location().to_owned();
    assert!(browser.get(&consent).body.contains("127.0.0.1"), "the page says where the answer goes");
    let answered = allow(&mut browser, ask);
    let back = answered.location().strip_prefix("http://").unwrap();
    let (listener, path) = back.split_at(back.find('/').unwrap());
    assert_eq!(Visitor::new(listener).get(path).status, 200);
    let (status, stdout, stderr) = waiting.wait();
    assert!(status.success(), "{stderr:?}");
    let told: Value = serde_json::from_str(&stdout.concat()).unwrap();
    assert_eq!(told["result"]["structuredContent"]["agent"]["nickname"], json!("alpha"), "{told}");
    server.stop();
}
