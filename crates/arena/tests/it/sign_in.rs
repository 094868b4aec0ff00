//! People in browsers: who gets in, who does not, and that nobody else acts for them.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::{
    http::{call, send},
    process::{Home, Running},
    visitor::Visitor,
};

const PASSWORD: &str = "correct horse battery";

#[test]
fn a_person_joins_comes_back_and_leaves() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    assert_eq!(browser.get("/account").location(), "/sign-in?back=%2Faccount");
    let joined = browser.sign_up("alpha", PASSWORD);
    assert_eq!((joined.status, joined.location()), (303, "/account"));
    let cookie = joined.headers.iter().find(|(_, value)| value.starts_with("arena_session=")).unwrap();
    assert!(cookie.1.contains("HttpOnly; SameSite=Lax") && cookie.1.contains("Path=/"), "{}", cookie.1);
    let page = browser.get("/account");
    assert!(
        page.status == 200 && page.body.contains("alpha") && page.body.contains("this one"),
        "{}",
        page.body
    );
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert!(page.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
    let first = browser.session().unwrap().clone();
    assert_eq!(browser.submit("/account", "/sign-out", &[]).location(), "/");
    assert_eq!(browser.session(), None);
    // The secret that was signed out opens nothing any more.
    let mut thief = Visitor::new(&server.address);
    let cookie = format!("arena_session={first}");
    let tried = thief.ask("GET", "/account", &[("accept", "text/html"), ("cookie", &cookie)], "");
    assert_eq!(tried.status, 303);
    let wrong =
        browser.submit("/sign-in", "/sign-in", &[("nickname", "alpha"), ("password", "wrong password")]);
    assert!(
        wrong.status == 401 && wrong.body.contains("nickname or the password is wrong"),
        "{}",
        wrong.body
    );
    assert!(wrong.body.contains("value=\"alpha\""), "what was typed stays");
    let back = browser.submit(
        "/sign-in",
        "/sign-in",
        &[("nickname", "Alpha"), ("password", PASSWORD), ("back", "/account/keys")],
    );
    assert_eq!((back.status, back.location()), (303, "/account/keys"));
    assert_ne!(browser.session(), Some(&first), "a new secret for a new session");
    // A restart forgets nobody.
    server.kill();
    let server = home.serve(&[]);
    let mut again = Visitor::new(&server.address);
    let cookie = format!("arena_session={}", browser.session().unwrap());
    let seen = again.ask("GET", "/account", &[("accept", "text/html"), ("cookie", &cookie)], "");
    assert_eq!(seen.status, 200, "{}", seen.body);
    server.stop();
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn what_does_not_fit_is_told_beside_what_was_typed() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("alpha", PASSWORD);
    browser.forget();
    for (nickname, password, repeated, status, words) in [
        ("alpha", PASSWORD, PASSWORD, 409, "taken"),
        ("a", PASSWORD, PASSWORD, 400, "A nickname has"),
        ("<b>", PASSWORD, PASSWORD, 400, "A nickname has"),
        ("beta", "short", "short", 400, "10 to 200 characters"),
        ("beta", PASSWORD, "another password", 400, "differ"),
    ] {
        let fields = [("nickname", nickname), ("password", password), ("repeated", repeated)];
        let told = browser.submit("/sign-up", "/sign-up", &fields);
        assert_eq!(told.status, status, "{nickname}: {}", told.body);
        assert!(told.body.contains(words) && told.body.contains("role=\"alert\""), "{words}: {}", told.body);
        assert!(!told.body.contains("value=\"<b>"), "{}", told.body);
        assert_eq!(browser.session(), None);
    }
    server.stop();
}

/// A form counts only from our page in this browser.
#[test]
fn nobody_elses_page_acts_for_a_person() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("alpha", PASSWORD);
    let form = browser.get("/account").field("form");
    let ours = format!("http://{}", server.address);
    let body = |form: &str| crate::visitor::encoded(&[("form", form), ("label", "x")]);
    for (why, headers, body) in [
        ("another origin", vec![("origin", "https://evil.example")], body(&form)),
        ("no origin of anybody", vec![("origin", "null")], body(&form)),
        (
            "another site by the browser's word",
            vec![("origin", ours.as_str()), ("sec-fetch-site", "cross-site")],
            body(&form),
        ),
        ("no token", vec![("origin", ours.as_str())], "label=x".to_owned()),
        ("another token", vec![("origin", ours.as_str())], body("x")),
        ("a field twice", vec![("origin", ours.as_str())], format!("{}&form=x", body(&form))),
        (
            "JSON",
            vec![("origin", ours.as_str()), ("content-type", "application/json")],
            json!({"form": form}).to_string(),
        ),
        ("no form", vec![("origin", ours.as_str()), ("content-type", "text/plain")], body(&form)),
    ] {
        let told = browser.ask("POST", "/account/keys", &headers, &body);
        assert!(matches!(told.status, 400 | 403 | 415), "{why}: {} {}", told.status, told.body);
    }
    assert!(browser.get("/account/keys").body.contains("No key yet"));
    // The token of one browser is none in another.
    let mut other = Visitor::new(&server.address);
    other.get("/sign-in");
    let told = other.post("/sign-in", &[("form", &form), ("nickname", "alpha"), ("password", PASSWORD)]);
    assert_eq!(told.status, 403, "{}", told.body);
    server.stop();
}

#[test]
fn nothing_leads_away_from_here() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("alpha", PASSWORD);
    for back in [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/x\r\nset-cookie: a=b",
        "",
        "account",
    ] {
        browser.forget();
        let fields = [("nickname", "alpha"), ("password", PASSWORD), ("back", back)];
        let seen = browser.submit("/sign-in", "/sign-in", &fields);
        assert_eq!((seen.status, seen.location()), (303, "/account"), "{back:?}");
        assert_eq!(
            browser.get(&format!("/sign-in?back={}", back.replace(['\r', '\n', ' '], "%0A"))).location(),
            "/account"
        );
    }
    server.stop();
}

#[test]
fn passwords_are_not_guessed_without_end() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("alpha", PASSWORD);
    browser.forget();
    for attempt in 0..12 {
        let told = browser.submit(
            "/sign-in",
            "/sign-in",
            &[("nickname", "alpha"), ("password", "guess number one")],
        );
        assert_eq!(told.status, if attempt < 10 { 401 } else { 429 }, "{attempt}: {}", told.body);
        if told.status == 429 {
            assert!(told.header("retry-after").unwrap().parse::<u64>().unwrap() > 0);
        }
    }
    let right = browser.submit("/sign-in", "/sign-in", &[("nickname", "alpha"), ("password", PASSWORD)]);
    assert_eq!(right.status, 429, "also the right one has to wait: {}", right.body);
    // Another person is not kept out by it.
    assert_eq!(browser.sign_up("beta", PASSWORD).status, 303);
    server.stop();
}

#[test]
fn keys_are_made_and_revoked_in_the_browser() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("alpha", PASSWORD);
    let made = browser.submit("/account/keys", "/account/keys", &[("label", "<i>agent</i>"), ("days", "30")]);
    assert_eq!(made.status, 200, "{}", made.body);
    let at = made.body.find("arena_sk_").unwrap();
    let key = made.body[at..at + 52].to_owned();
    // The same form once more, as by a reload, makes no second key.
    let form = browser.get("/account/keys");
    let (form, id) = (form.field("form"), form.field("id"));
    let once = [("form", &*form), ("id", &*id), ("label", "once"), ("days", "30")];
    assert_eq!(browser.post("/account/keys", &once).status, 200);
    let again = browser.post("/account/keys", &once);
    assert!(again.status == 409 && again.body.contains("made already"), "{}", again.body);
    assert!(
        again.body.contains("value=\"once\"") && again.body.contains("value=\"30\""),
        "what was typed stays"
    );
    assert_ne!(again.field("id"), id, "the next press makes one");
    assert_eq!(again.body.matches("<bdi>once</bdi>").count(), 1, "{}", again.body);
    assert!(made.body.contains("&lt;i&gt;agent") && !made.body.contains("<i>agent"), "{}", made.body);
    let who = call(&server.address, "whoami", &key, &json!({})).json();
    assert_eq!(
        (&who["agent"]["nickname"], &who["oauth"]["current_provider"]),
        (&json!("alpha"), &json!("key"))
    );
    assert_eq!(who["oauth"]["linked_providers"], json!(["local"]));
    // The page that waits for its first call hears of it, and nobody else does.
    let at = made.body.find("/account/keys/called?id=").unwrap();
    let path = made.body[at..at + 48].to_owned();
    let called = |browser: &mut Visitor| {
        let seen = browser.get(&path);
        (seen.status, serde_json::from_str::<Value>(&seen.body).unwrap()["called"].as_bool())
    };
    let begun = std::time::Instant::now();
    while called(&mut browser) != (200, Some(true)) {
        assert!(begun.elapsed() < crate::process::PATIENCE, "the first call is not noted");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let other = browser.submit("/account/keys", "/account/keys", &[("label", "quiet"), ("days", "30")]);
    let at = other.body.find("/account/keys/called?id=").unwrap();
    assert!(browser.get(&other.body[at..at + 48]).body.contains("false"));
    let mut stranger = Visitor::new(&server.address);
    assert_eq!(called(&mut stranger), (401, None));
    stranger.sign_up("beta", PASSWORD);
    assert_eq!(called(&mut stranger), (404, None));
    let page = browser.get("/account/keys");
    assert!(!page.body.contains(&key) && page.body.contains(&key[..16]), "shown once");
    let id = {
        // The newest stands first.
        let at = page.body.rfind("name=\"revoke\" value=\"").unwrap() + 21;
        page.body[at..at + 24].to_owned()
    };
    assert_eq!(browser.submit("/account/keys", "/account/keys", &[("revoke", &id)]).status, 303);
    assert_eq!(call(&server.address, "whoami", &key, &json!({})).status, 401);
    for (label, days) in [("", "30"), ("x", "0"), ("x", "366"), ("x", "many"), (&*"x".repeat(61), "")] {
        let told = browser.submit("/account/keys", "/account/keys", &[("label", label), ("days", days)]);
        let fits = label.is_empty();
        assert_eq!(told.status, if fits { 200 } else { 400 }, "{label:?} {days:?}");
    }
    server.stop();
}

#[test]
fn a_new_password_ends_the_other_browsers() {
    let home = Home::new();
    let server = home.serve(&[]);
    let (mut one, mut two) = (Visitor::new(&server.address), Visitor::new(&server.address));
    one.sign_up("alpha", PASSWORD);
    two.submit("/sign-in", "/sign-in", &[("nickname", "alpha"), ("password", PASSWORD)]);
    assert_eq!(two.get("/account").status, 200);
    let new = "another good password";
    let told =
        one.submit("/account", "/account/password", &[("current", "not it at all"), ("password", new)]);
    assert!(told.status == 401 && told.body.contains("The password now is another one"), "{}", told.body);
    let told = one.submit("/account", "/account/password", &[("current", PASSWORD), ("password", new)]);
    assert_eq!(told.status, 303, "{}", told.body);
    assert_eq!((one.get("/account").status, two.get("/account").status), (200, 303));
    let old = two.submit("/sign-in", "/sign-in", &[("nickname", "alpha"), ("password", PASSWORD)]);
    assert_eq!(old.status, 401);
    server.stop();
}

#[test]
fn a_closed_server_takes_nobody_and_one_without_passwords_says_so() {
    let home = Home::new();
    let server = home.serve_with(&[("ARENA_SIGN_IN__OPEN", "off")]);
    let mut browser = Visitor::new(&server.address);
    assert!(browser.get("/sign-up").body.contains("takes no new people"));
    let form = browser.get("/sign-in").field("form");
    let fields =
        [("form", form.as_str()), ("nickname", "alpha"), ("password", PASSWORD), ("repeated", PASSWORD)];
    assert_eq!(browser.post("/sign-up", &fields).status, 403);
    server.stop();
    let server = home.serve_with(&[("ARENA_SIGN_IN__LOCAL", "off")]);
    let mut browser = Visitor::new(&server.address);
    let page = browser.get("/sign-in");
    assert!(
        page.body.contains("no way to sign in") && !page.body.contains("type=\"password\""),
        "{}",
        page.body
    );
    server.stop();
}

/// The operator shuts a person out, everywhere and at once, and every act is in the book.
#[test]
fn the_operator_shuts_people_out_and_the_book_tells() {
    let home = Home::new();
    let key = home.person("alpha");
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("beta", PASSWORD);
    let works = |key: &str| call(&server.address, "whoami", key, &json!({})).status == 200;
    assert!(works(&key));
    assert_eq!(home.json(&["admin", "user", "disable", "alpha", "--json"])["disabled"], true);
    assert!(!works(&key));
    assert_eq!(home.run(&["admin", "user", "enable", "alpha"]).code, 0);
    assert!(works(&key));
    let out = home.json(&["admin", "user", "sign-out", "alpha", "--json"]);
    assert_eq!((&out["keys"], &out["sessions"]), (&json!(1), &json!(0)));
    assert!(!works(&key), "a key that was ended stays so");
    let out = home.json(&["admin", "user", "sign-out", "beta", "--json"]);
    assert_eq!((&out["keys"], &out["sessions"]), (&json!(0), &json!(1)));
    assert_eq!(browser.get("/account").status, 303);
    home.run(&["admin", "user", "disable", "beta"]);
    let told = browser.submit("/sign-in", "/sign-in", &[("nickname", "beta"), ("password", PASSWORD)]);
    assert!(told.status == 403 && told.body.contains("disabled"), "{}", told.body);
    let acts: Vec<Value> = home.json(&["admin", "audit", "--json"]).as_array().unwrap().clone();
    let told: Vec<String> = acts
        .iter()
        .map(|act| ["actor", "act", "subject"].map(|name| act[name].as_str().unwrap()).join(" "))
        .collect();
    assert_eq!(
        told,
        [
            "admin user.disable beta",
            "admin user.sign_out beta",
            "admin user.sign_out alpha",
            "admin user.enable alpha",
            "admin user.disable alpha",
            "beta user.sign_up beta",
            "admin user.create alpha",
        ]
    );
    let older =
        home.json(&["admin", "audit", "--json", "--limit", "2", "--before", acts[1]["id"].as_str().unwrap()]);
    assert_eq!(older.as_array().unwrap().as_slice(), &acts[2..4]);
    assert!(home.run(&["admin", "audit"]).stdout.starts_with("AT"));
    let unknown = home.run(&["admin", "user", "disable", "nobody-here"]);
    assert_eq!(unknown.code, 6, "{}", unknown.stderr);
    server.stop();
}

#[test]
fn a_command_line_is_let_in_by_its_code() {
    let home = Home::new();
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("alpha", PASSWORD);
    let begin = || send(&server.address, "POST", "/pair/start", &[], br#"{"label":"a host"}"#).json();
    let poll = |pairing: &Value| {
        let body = json!({"secret": pairing["secret"]}).to_string();
        send(&server.address, "POST", "/pair/poll", &[], body.as_bytes()).json()
    };
    let pairing = begin();
    let code = pairing["code"].as_str().unwrap();
    assert_eq!(poll(&pairing), json!({"status": "waiting"}));
    for wrong in ["BCDF-GHJK", "x", ""] {
        let told = browser.submit("/pair", "/pair", &[("code", wrong), ("act", "allow")]);
        assert!(told.status == 404 && told.body.contains("No command line waits"), "{}", told.body);
    }
    let asked = browser.get(&format!("/pair?code={code}"));
    assert!(asked.body.contains("<bdi>a host</bdi>"), "{}", asked.body);
    let typed = code.to_lowercase().replace('-', "");
    let told = browser.submit("/pair", "/pair", &[("code", &typed), ("act", "allow")]);
    assert!(told.status == 200 && told.body.contains("signed in"), "{}", told.body);
    let allowed = poll(&pairing);
    assert_eq!((&allowed["status"], &allowed["nickname"]), (&json!("allowed"), &json!("alpha")));
    let key = allowed["apiKey"].as_str().unwrap();
    assert_eq!(call(&server.address, "whoami", key, &json!({})).status, 200);
    assert_eq!(poll(&pairing), json!({"status": "expired"}), "the key is answered once");
    assert!(browser.get("/account/keys").body.contains("<bdi>a host</bdi>"), "the key is called like it");
    // The same by the program itself.
    let base = format!("http://{}", server.address);
    let mut waiting =
        Running::start(home.command(&["login", "--server", &base, "--json"]).stdin(Stdio::null()));
    let line = waiting.stderr_line(|line| line.contains("compare the code"));
    let code = line.rsplit(' ').next().unwrap().to_owned();
    browser.submit("/pair", "/pair", &[("code", &code), ("act", "allow")]);
    let (status, stdout, stderr) = waiting.wait();
    assert!(status.success(), "{stderr:?}");
    let told: Value = serde_json::from_str(&stdout.concat()).unwrap();
    assert_eq!((&told["nickname"], &told["server"]), (&json!("alpha"), &json!(base)));
    assert_eq!(call(&server.address, "whoami", told["apiKey"].as_str().unwrap(), &json!({})).status, 200);
    let refused = begin();
    browser.submit("/pair", "/pair", &[("code", refused["code"].as_str().unwrap()), ("act", "refuse")]);
    assert_eq!(poll(&refused), json!({"status": "refused"}));
    assert_eq!(poll(&json!({"secret": "guess"})), json!({"status": "expired"}));
    server.stop();
}

/// A refused method is told with those that would do, on every path where people and clients sign in.
#[test]
fn a_refused_method_names_those_that_are_taken() {
    let home = Home::new();
    let server = home.serve(&[]);
    let paths = "/sign-in /sign-in/link /sign-out /sign-up /sign-in/passkey/begin /sign-in/passkey/finish \
        /oauth/callback/github /sign-up/passkey/begin /sign-up/passkey/finish /account/passkey/begin /account/passkey/finish /account \
        /account/end /account/keys /account/keys/called /pair /pair/start /pair/poll /oauth/authorize \
        /oauth/consent /oauth/token /oauth/register /oauth/revoke /.well-known/oauth-authorization-server \
        /.well-known/oauth-protected-resource/duels/mcp";
    for path in paths.split_whitespace() {
        let refused = send(&server.address, "PUT", path, &[], b"");
        assert_eq!(refused.status, 405, "{path}");
        let allow = refused.header("allow").to_ascii_uppercase();
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let answer = send(&server.address, method, path, &[], b"");
            let listed = allow.split(", ").any(|one| one == method);
            assert_eq!(answer.status != 405, listed, "{method} {path}: {allow}");
        }
    }
    server.stop();
}
