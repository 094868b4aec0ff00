//! People with passkeys: by requests with an authenticator in software, through restarts and two nodes, and in a
//! real browser.

use serde_json::{Value, json};
use store::Place;
use testkit::{TestPlace, authenticator::Authenticator};

use crate::{
    http::free_address,
    process::{Home, Running, Server},
    tools,
    visitor::{Seen, Visitor, encoded},
};

/// What the server is called, wherever it listens.
pub(crate) const ORIGIN: &str = "http://localhost:7999";
const PASSWORD: &str = "correct horse battery";

pub(crate) fn serve(home: &Home) -> Server {
    home.serve_with(&[("ARENA_HTTP__PUBLIC_URL", ORIGIN)])
}

/// The first half of a ceremony.
pub(crate) struct Begun {
    pub(crate) ticket: String,
    pub(crate) options: Value,
}

/// Asks as the script of a page does.
pub(crate) fn ask(browser: &mut Visitor, page: &str, path: &str, fields: &[(&str, &str)]) -> Seen {
    let form = browser.get(page).field("form");
    let fields = [&[("form", form.as_str())][..], fields].concat();
    let headers = [("accept", "application/json"), ("origin", ORIGIN)];
    browser.ask("POST", path, &headers, &encoded(&fields))
}

#[track_caller]
pub(crate) fn begin(browser: &mut Visitor, page: &str, fields: &[(&str, &str)]) -> Begun {
    let told = ask(browser, page, &format!("{page}/passkey/begin"), fields);
    assert_eq!(told.status, 200, "{}", told.body);
    assert_eq!(told.header("cache-control"), Some("no-store"));
    let told: Value = serde_json::from_str(&told.body).unwrap();
    Begun { ticket: told["ticket"].as_str().unwrap().to_owned(), options: told["options"].clone() }
}

/// The second half; `page` tells whose form it is.
pub(crate) fn finish(
    browser: &mut Visitor,
    page: &str,
    ticket: &str,
    answer: &Value,
    fields: &[(&str, &str)],
) -> Seen {
    let answer = answer.to_string();
    let fields = [&[("ticket", ticket), ("answer", answer.as_str())][..], fields].concat();
    browser.submit(page, &format!("{page}/passkey/finish"), &fields)
}

pub(crate) fn join(browser: &mut Visitor, device: &mut Authenticator, nickname: &str) -> Seen {
    let begun = begin(browser, "/sign-up", &[("nickname", nickname)]);
    let answer = device.make(&begun.options, ORIGIN);
    finish(browser, "/sign-up", &begun.ticket, &answer, &[("nickname", nickname)])
}

pub(crate) fn enter(browser: &mut Visitor, device: &mut Authenticator) -> Seen {
    let begun = begin(browser, "/sign-in", &[]);
    let answer = device.sign(&begun.options, ORIGIN);
    finish(browser, "/sign-in", &begun.ticket, &answer, &[])
}

pub(crate) fn add(browser: &mut Visitor, device: &mut Authenticator, label: &str) -> Seen {
    let begun = begin(browser, "/account", &[("label", label)]);
    let answer = device.make(&begun.options, ORIGIN);
    finish(browser, "/account", &begun.ticket, &answer, &[("label", label)])
}

/// The id of the passkey that is called so.
pub(crate) fn id_of(browser: &mut Visitor, label: &str) -> String {
    let page = browser.get("/account").body;
    let row = &page[page.find(&format!("<bdi>{label}</bdi>")).unwrap_or_else(|| panic!("{label}: {page}"))..];
    let row = &row[row.find("name=\"id\" value=\"").unwrap() + 17..];
    row[..row.find('"').unwrap()].to_owned()
}

/// Who did what, the newest first.
pub(crate) fn acts(home: &Home) -> Vec<String> {
    let book = home.json(&["admin", "audit", "--json"]);
    let act = |act: &Value| {
        let part = |name: &str| act[name].as_str().unwrap().to_owned();
        format!("{} {} {}", part("actor"), part("act"), part("detail"))
    };
    book.as_array().unwrap().iter().map(act).collect()
}

#[test]
fn a_person_joins_with_a_passkey_comes_back_and_has_another() {
    let home = Home::new();
    let server = serve(&home);
    let mut browser = Visitor::new(&server.address);
    let mut device = Authenticator::new(1);
    device.counter = 3;
    assert!(browser.get("/sign-in").body.contains("Sign in with a passkey"));
    let joined = join(&mut browser, &mut device, "alpha");
    assert_eq!((joined.status, joined.location()), (303, "/account"), "{}", joined.body);
    let page = browser.get("/account").body;
    assert!(
        page.contains("my passkey")
            && page.contains("\"last used\">never</td>")
            && page.contains("<td>local</td>"),
        "{page}"
    );
    assert_eq!(browser.submit("/account", "/sign-out", &[]).status, 303);
    assert_eq!(browser.session(), None);
    let begun = begin(&mut browser, "/sign-in", &[]);
    let answer = device.sign(&begun.options, ORIGIN);
    let back = [("back", "/account/keys")];
    let entered = finish(&mut browser, "/sign-in", &begun.ticket, &answer, &back);
    assert_eq!((entered.status, entered.location()), (303, "/account/keys"), "{}", entered.body);
    assert!(!browser.get("/account").body.contains("\"last used\">never</td>"), "its use is told");
    // Another device, which then is the only one.
    let mut other = Authenticator::new(2);
    assert_eq!(add(&mut browser, &mut other, " the <b>other</b> ").location(), "/account");
    assert!(browser.get("/account").body.contains("2 passkeys"));
    let id = id_of(&mut browser, "the &lt;b&gt;other&lt;/b&gt;");
    let fields = [("id", id.as_str()), ("label", "key on my ring")];
    assert_eq!(browser.submit("/account", "/account/passkey-name", &fields).status, 303);
    let mut elsewhere = Visitor::new(&server.address);
    assert_eq!(enter(&mut elsewhere, &mut device).status, 303);
    let id = id_of(&mut browser, "my passkey");
    assert_eq!(browser.submit("/account", "/account/passkey-remove", &[("id", &id)]).status, 303);
    assert_eq!(elsewhere.get("/account").status, 303, "whoever came in by it is out");
    assert_eq!(browser.get("/account").status, 200);
    let refused = enter(&mut elsewhere, &mut device);
    assert!(
        refused.status == 401 && refused.body.contains("Nobody here has this passkey"),
        "{}",
        refused.body
    );
    assert_eq!(enter(&mut elsewhere, &mut other).status, 303);
    let id = id_of(&mut browser, "key on my ring");
    let refused = browser.submit("/account", "/account/passkey-remove", &[("id", &id)]);
    assert!(refused.status == 409 && refused.body.contains("only way to sign in"), "{}", refused.body);
    // A password is another way in, and goes again.
    assert_eq!(browser.submit("/account", "/account/password", &[("password", PASSWORD)]).status, 303);
    assert_eq!(browser.submit("/account", "/account/password-remove", &[]).status, 303);
    assert_eq!(browser.submit("/account", "/account/password-remove", &[]).status, 404);
    assert_eq!(
        acts(&home),
        [
            "alpha password.remove ",
            "alpha password.set ",
            "alpha passkey.remove my passkey",
            "alpha passkey.rename key on my ring",
            "alpha passkey.add the <b>other</b>",
            "alpha user.sign_up local, by a passkey",
        ]
    );
    server.stop();
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn a_restart_in_the_middle_of_each_ceremony_is_not_noticed() {
    let home = Home::new();
    let mut server = serve(&home);
    let mut browser = Visitor::new(&server.address);
    let restart = |browser: &mut Visitor| {
        let fresh = serve(&home);
        browser.go_to(&fresh.address);
        fresh
    };
    let mut device = Authenticator::new(1);
    let begun = begin(&mut browser, "/sign-up", &[("nickname", "alpha")]);
    server.kill();
    server = restart(&mut browser);
    let answer = device.make(&begun.options, ORIGIN);
    assert_eq!(finish(&mut browser, "/sign-up", &begun.ticket, &answer, &[]).status, 303);
    let begun = begin(&mut browser, "/account", &[("label", "second")]);
    server.kill();
    server = restart(&mut browser);
    let answer = Authenticator::new(2).make(&begun.options, ORIGIN);
    assert_eq!(finish(&mut browser, "/account", &begun.ticket, &answer, &[("label", "second")]).status, 303);
    browser.submit("/account", "/sign-out", &[]);
    let begun = begin(&mut browser, "/sign-in", &[]);
    server.kill();
    server = restart(&mut browser);
    let answer = device.sign(&begun.options, ORIGIN);
    assert_eq!(finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[]).status, 303);
    assert!(browser.get("/account").body.contains("second"));
    server.stop();
}

#[test]
fn one_node_ends_what_another_began() {
    let Some(place) = TestPlace::postgres("passkeys::one_node_ends_what_another_began") else { return };
    let Place::Postgres(url) = place.place() else { panic!("the place is on PostgreSQL") };
    let homes = [Home::new(), Home::new()];
    let node = |home: &Home| {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", &url]);
        Server::start(command.env("ARENA_METRICS__LISTEN", "off").env("ARENA_HTTP__PUBLIC_URL", ORIGIN))
    };
    let (one, two) = (node(&homes[0]), node(&homes[1]));
    let mut browser = Visitor::new(&one.address);
    let mut device = Authenticator::new(1);
    device.counter = 1;
    let begun = begin(&mut browser, "/sign-up", &[("nickname", "alpha")]);
    browser.go_to(&two.address);
    let answer = device.make(&begun.options, ORIGIN);
    assert_eq!(finish(&mut browser, "/sign-up", &begun.ticket, &answer, &[]).status, 303);
    browser.submit("/account", "/sign-out", &[]);
    let begun = begin(&mut browser, "/sign-in", &[]);
    let answer = device.sign(&begun.options, ORIGIN);
    browser.go_to(&one.address);
    assert_eq!(finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[]).status, 303);
    // Once, on whichever node.
    browser.submit("/account", "/sign-out", &[]);
    browser.go_to(&two.address);
    assert_eq!(finish(&mut browser, "/sign-in", &begun.ticket, &answer, &[]).status, 401);
    one.stop();
    two.stop();
}

/// By a number there are none, by the name beside it there are.
#[test]
fn passkeys_are_offered_where_browsers_have_them() {
    let home = Home::new();
    let server = home.serve(&[]);
    let named = server.address.replace("127.0.0.1", "localhost");
    let mut by_number = Visitor::new(&server.address);
    by_number.sign_up("alpha", PASSWORD);
    let page = by_number.get("/account").body;
    assert!(page.contains("need a name") && page.contains(&format!("http://{named}/account")), "{page}");
    assert!(!page.contains("data-passkey") && !page.contains("passkeys-"), "{page}");
    by_number.forget();
    for page in ["/sign-in", "/sign-up"] {
        let told = ask(&mut by_number, page, &format!("{page}/passkey/begin"), &[("nickname", "beta")]);
        assert_eq!(told.status, 403, "{}", told.body);
        assert!(told.body.contains(&format!("http://{named}")), "{}", told.body);
        assert!(!by_number.get(page).body.contains("data-passkey"));
    }
    let mut by_name = Visitor::new(&named);
    for page in ["/sign-in", "/sign-up"] {
        let body = by_name.get(page).body;
        assert!(body.contains("data-passkey") && body.contains("Passkeys need JavaScript"), "{body}");
        let script = &body[body.find("/assets/passkeys-").unwrap()..];
        let script = by_name.get(&script[..script.find('"').unwrap()]);
        assert_eq!(script.status, 200);
        assert!(script.header("content-type").unwrap().starts_with("text/javascript"));
    }
    server.stop();
    // An address that browsers do not trust, and a server without local accounts.
    for (setting, value) in
        [("ARENA_HTTP__PUBLIC_URL", "http://arena.example"), ("ARENA_SIGN_IN__LOCAL", "off")]
    {
        let server = home.serve_with(&[(setting, value)]);
        let mut browser = Visitor::new(&server.address.replace("127.0.0.1", "localhost"));
        for page in ["/sign-in", "/sign-up"] {
            assert!(!browser.get(page).body.contains("data-passkey"), "{setting}");
        }
        server.stop();
    }
}

/// The whole way in Chromium, whose authenticator is as real as a device to the page.
#[test]
fn a_browser_makes_and_uses_a_passkey() {
    const NAME: &str = "passkeys::a_browser_makes_and_uses_a_passkey";
    let home = Home::new();
    let Some(mut browser) = tools::browser_script(NAME, home.path(), "tests/browser/passkeys.cjs") else {
        return;
    };
    let address = free_address();
    let serve = || {
        let mut command = home.command(&["serve", "--listen", &address]);
        Server::start(command.env("ARENA_METRICS__LISTEN", "off"))
    };
    let server = serve();
    let (_, port) = address.rsplit_once(':').unwrap();
    browser.arg(port).arg(tools::chromium(NAME).unwrap());
    let mut running = Running::start(&mut browser);
    running.stdout_line(|line| line.contains("restart"));
    server.stop();
    let server = serve();
    running.signal("USR2");
    let (status, stdout, stderr) = running.wait();
    assert!(status.success(), "{status}: {stdout:?} {}", stderr.join("\n"));
    let told: Vec<Value> = stdout.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told, [json!({"checked": {"pages": 3, "steps": 9}})]);
    server.stop();
}
