//! Passkeys that do not open: what is replayed, meant for somebody else, forged, copied, too much or too often.

use serde_json::{Value, json};
use testkit::authenticator::Authenticator;

use crate::{
    passkeys::{ORIGIN, acts, add, ask, begin, enter, finish, id_of, join, serve},
    process::Home,
    visitor::{Seen, Visitor, encoded},
};

#[track_caller]
fn refused(seen: &Seen, status: u16, words: &str) {
    assert_eq!(seen.status, status, "{}", seen.body);
    assert!(seen.body.contains(words) && seen.body.contains("role=\"alert\""), "{words}: {}", seen.body);
    assert!(seen.headers.iter().all(|(_, value)| !value.starts_with("arena_session=")), "{}", seen.body);
}

#[test]
fn an_answer_counts_once_here_and_for_what_it_was_asked() {
    let home = Home::new();
    let server = serve(&home);
    let (mut browser, mut other) = (Visitor::new(&server.address), Visitor::new(&server.address));
    let mut device = Authenticator::new(1);
    join(&mut browser, &mut device, "alpha");
    browser.forget();
    // Replayed, with the same ticket and with a fresh one.
    let begun = begin(&mut browser, "/sign-in", &[]);
    let answer = device.sign(&begun.options, ORIGIN);
    assert_eq!(finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[]).status, 303);
    browser.submit("/account", "/sign-out", &[]);
    refused(&finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[]), 401, "is over");
    let fresh = begin(&mut browser, "/sign-in", &[]);
    refused(&finish(&mut browser, "/sign-in", &fresh.ticket, &answer, &[]), 401, "does not hold");
    // A good answer after a bad one comes too late.
    let begun = begin(&mut browser, "/sign-in", &[]);
    refused(&finish(&mut browser, "/sign-in", &begun.ticket, &json!({}), &[]), 400, "cannot be read");
    let answer = device.sign(&begun.options, ORIGIN);
    refused(&finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[]), 401, "is over");
    // Begun in another browser: whoever is tricked into ending it gets in nowhere.
    let begun = begin(&mut other, "/sign-in", &[]);
    let answer = device.sign(&begun.options, ORIGIN);
    refused(&finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[]), 401, "another browser");
    refused(&finish(&mut other, "/sign-in", &begun.ticket, &answer, &[]), 401, "is over");
    // Begun for something else.
    let begun = begin(&mut browser, "/sign-up", &[("nickname", "beta")]);
    let challenge = begun.options["publicKey"]["challenge"].clone();
    let asked = json!({"publicKey": {"rpId": "localhost", "challenge": challenge}});
    let answer = device.sign(&asked, ORIGIN);
    refused(&finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[]), 401, "is over");
    let begun = begin(&mut browser, "/sign-in", &[]);
    let answer = Authenticator::new(3).make(&json!({"publicKey": {
        "rp": {"id": "localhost"}, "user": {"id": "AA"}, "challenge": begun.options["publicKey"]["challenge"]
    }}), ORIGIN);
    refused(&finish(&mut browser, "/sign-up", &begun.ticket, &answer, &[]), 401, "is over");
    for ticket in ["", "x", "'; DROP TABLE ceremony", &"A".repeat(43)] {
        refused(&finish(&mut browser, "/sign-in", ticket, &answer, &[]), 401, "is over");
    }
    server.stop();
}

#[test]
fn only_the_device_of_a_person_on_our_page_opens() {
    let home = Home::new();
    let server = serve(&home);
    let mut browser = Visitor::new(&server.address);
    let mut device = Authenticator::new(1);
    join(&mut browser, &mut device, "alpha");
    browser.forget();
    let mut sign = |device: &mut Authenticator, origin: &str| {
        let begun = begin(&mut browser, "/sign-in", &[]);
        let answer = device.sign(&begun.options, origin);
        finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[])
    };
    for origin in
        ["http://localhost:7998", "https://localhost:7999", "http://127.0.0.1:7999", "http://evil.example"]
    {
        refused(&sign(&mut device, origin), 401, "another address");
    }
    let bent = |bend: &dyn Fn(&mut Authenticator)| {
        let mut bent = device.clone();
        bend(&mut bent);
        bent
    };
    refused(
        &sign(&mut bent(&|device| device.party = Some("evil.example".to_owned())), ORIGIN),
        401,
        "another address",
    );
    refused(&sign(&mut bent(&|device| device.verifies = false), ORIGIN), 401, "did not check that it is you");
    refused(
        &sign(&mut bent(&|device| device.credential = vec![9; 20]), ORIGIN),
        401,
        "Nobody here has this passkey",
    );
    refused(&sign(&mut bent(&|device| device.handle = vec![9; 16]), ORIGIN), 401, "somebody else");
    let mut forged = Authenticator::new(8);
    forged.credential.clone_from(&device.credential);
    forged.handle.clone_from(&device.handle);
    refused(&sign(&mut forged, ORIGIN), 401, "does not hold");
    // Somebody whom the operator has shut out, and let in again.
    assert_eq!(home.run(&["admin", "user", "disable", "alpha"]).code, 0);
    refused(&sign(&mut device, ORIGIN), 403, "disabled");
    assert_eq!(home.run(&["admin", "user", "enable", "alpha"]).code, 0);
    assert_eq!(sign(&mut device, ORIGIN).status, 303);
    server.stop();
}

#[test]
fn a_copy_is_refused_and_written_down() {
    let home = Home::new();
    let server = serve(&home);
    let mut browser = Visitor::new(&server.address);
    let mut device = Authenticator::new(1);
    device.counter = 10;
    join(&mut browser, &mut device, "alpha");
    let mut copy = device.clone();
    browser.forget();
    assert_eq!(enter(&mut browser, &mut device).status, 303);
    browser.forget();
    refused(&enter(&mut browser, &mut copy), 401, "may have been copied");
    assert_eq!(acts(&home)[0], "alpha passkey.copied my passkey");
    // The one that is ahead goes on.
    assert_eq!(enter(&mut browser, &mut device).status, 303);
    server.stop();
}

#[test]
fn a_passkey_belongs_to_one_person_and_a_nickname_too() {
    let home = Home::new();
    let server = serve(&home);
    let (mut alpha, mut beta) = (Visitor::new(&server.address), Visitor::new(&server.address));
    let mut device = Authenticator::new(1);
    join(&mut alpha, &mut device, "alpha");
    // A device that hands out what another has made.
    let mut copy = Authenticator::new(1);
    refused(&join(&mut beta, &mut copy, "beta"), 409, "belongs to an account already");
    assert_eq!(
        home.json(&["admin", "user", "list", "--json"]).as_array().unwrap().len(),
        1,
        "nobody was made"
    );
    assert_eq!(join(&mut beta, &mut Authenticator::new(2), "beta").status, 303);
    refused(&add(&mut beta, &mut copy, "stolen"), 409, "belongs to an account already");
    // One's own twice.
    refused(&add(&mut alpha, &mut device, "again"), 401, "does not hold");
    // Somebody else's passkey is neither named nor removed.
    let id = id_of(&mut alpha, "my passkey");
    for act in ["/account/passkey-remove", "/account/passkey-name"] {
        let fields = [("id", id.as_str()), ("label", "mine")];
        refused(&beta.submit("/account", act, &fields), 404, "no such passkey");
    }
    // A nickname that is taken, before and between the halves.
    let mut gamma = Visitor::new(&server.address);
    let told = ask(&mut gamma, "/sign-up", "/sign-up/passkey/begin", &[("nickname", "alpha")]);
    assert!(told.status == 409 && told.body.contains("taken"), "{}", told.body);
    let begun = begin(&mut gamma, "/sign-up", &[("nickname", "gamma")]);
    Visitor::new(&server.address).sign_up("gamma", "correct horse battery");
    let answer = Authenticator::new(3).make(&begun.options, ORIGIN);
    refused(&finish(&mut gamma, "/sign-up", &begun.ticket, &answer, &[]), 409, "taken");
    // One who adds, after somebody else signed in through the same browser.
    let begun = begin(&mut alpha, "/account", &[("label", "x")]);
    alpha.submit("/account", "/sign-out", &[]);
    alpha.submit("/sign-in", "/sign-in", &[("nickname", "gamma"), ("password", "correct horse battery")]);
    let answer = Authenticator::new(4).make(&begun.options, ORIGIN);
    refused(&finish(&mut alpha, "/account", &begun.ticket, &answer, &[("label", "x")]), 401, "is over");
    server.stop();
}

#[test]
fn pages_of_others_and_strangers_begin_nothing() {
    let home = Home::new();
    let server = serve(&home);
    let mut browser = Visitor::new(&server.address);
    let form = browser.get("/sign-in").field("form");
    let body = |form: &str| encoded(&[("form", form), ("nickname", "alpha"), ("label", "x")]);
    for path in ["/sign-in/passkey", "/sign-up/passkey", "/account/passkey"] {
        for half in ["begin", "finish"] {
            let path = format!("{path}/{half}");
            let mut told = |headers: &[(&str, &str)], body: &str| {
                let headers = [&[("accept", "application/json")], headers].concat();
                browser.ask("POST", &path, &headers, body)
            };
            for (why, headers, body) in [
                ("another origin", vec![("origin", "https://evil.example")], body(&form)),
                ("another site", vec![("origin", ORIGIN), ("sec-fetch-site", "cross-site")], body(&form)),
                ("no token", vec![("origin", ORIGIN)], "label=x".to_owned()),
                ("another token", vec![("origin", ORIGIN)], body("x")),
            ] {
                let told = told(&headers, &body);
                assert_eq!(told.status, 403, "{path} {why}: {}", told.body);
            }
            let large = format!("{}&answer={}", body(&form), "x".repeat(16 * 1024));
            assert_eq!(told(&[("origin", ORIGIN)], &large).status, 413, "{path}");
            let json = [("origin", ORIGIN), ("content-type", "application/json")];
            assert_eq!(told(&json, "{}").status, 415, "{path}");
            assert_eq!(
                browser.ask("GET", &path, &[("accept", "application/json")], "").status,
                405,
                "{path}"
            );
        }
    }
    let told = ask(&mut browser, "/sign-in", "/account/passkey/begin", &[("label", "x")]);
    assert_eq!(told.status, 401, "nobody is signed in: {}", told.body);
    let told = ask(&mut browser, "/sign-up", "/sign-up/passkey/begin", &[("nickname", "<b>")]);
    assert!(told.status == 400 && told.body.contains("a nickname has"), "{}", told.body);
    let error: Value = serde_json::from_str(&told.body).unwrap();
    assert_eq!(error["error"]["code"], "INVALID_REQUEST", "{error}");
    server.stop();
}

#[test]
fn too_many_and_too_often_are_refused() {
    let home = Home::new();
    let server = serve(&home);
    let mut browser = Visitor::new(&server.address);
    let mut device = Authenticator::new(1);
    join(&mut browser, &mut device, "alpha");
    for label in ["", " ", "\u{202e}", &"x".repeat(61)] {
        let told = ask(&mut browser, "/account", "/account/passkey/begin", &[("label", label)]);
        assert!(told.status == 400 && told.body.contains("1 to 60 characters"), "{}", told.body);
    }
    // Begun while there was room for one.
    let late = begin(&mut browser, "/account", &[("label", "late")]);
    for seed in 2..=20 {
        assert_eq!(add(&mut browser, &mut Authenticator::new(seed), "one of many").status, 303, "{seed}");
    }
    let told = ask(&mut browser, "/account", "/account/passkey/begin", &[("label", "x")]);
    assert!(told.status == 409 && told.body.contains("20 passkeys"), "{}", told.body);
    let answer = Authenticator::new(21).make(&late.options, ORIGIN);
    refused(
        &finish(&mut browser, "/account", &late.ticket, &answer, &[("label", "late")]),
        409,
        "20 passkeys",
    );
    browser.forget();
    let mut forged = Authenticator::new(9);
    forged.credential.clone_from(&device.credential);
    forged.handle.clone_from(&device.handle);
    let seen: Vec<u16> = (0..21).map(|_| enter(&mut browser, &mut forged).status).collect();
    assert_eq!((&seen[..20], seen[20]), (&[401; 20][..], 429));
    let told = enter(&mut browser, &mut device);
    assert!(told.status == 429 && told.header("retry-after").is_some(), "{}", told.body);
    server.stop();
}
