//! The link by which the operator lets somebody in: whom the operator made, and who lost the password.

use serde_json::{Value, json};

use crate::{
    process::Home,
    visitor::{Seen, Visitor},
};

const PASSWORD: &str = "correct horse battery";

/// The path of a new link for somebody.
fn link(home: &Home, nickname: &str, address: &str) -> String {
    let made = home.json(&["admin", "user", "link", nickname, "--json"]);
    let url = made["url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{address}")).unwrap_or_else(|| panic!("{url}"));
    assert!(path.starts_with("/sign-in/link?link="), "{path}");
    path.to_owned()
}

fn press(browser: &mut Visitor, path: &str) -> Seen {
    let page = browser.get(path);
    assert_eq!(page.status, 200, "{}", page.body);
    let (form, link) = (page.field("form"), page.field("link"));
    browser.post("/sign-in/link", &[("form", &form), ("link", &link)])
}

#[test]
fn whom_the_operator_made_comes_in_and_sets_a_password() {
    let home = Home::new();
    let created = home.run(&["admin", "user", "create", "alpha"]);
    assert!(created.stdout.contains("arena admin user link alpha"), "{}", created.stdout);
    let server = home.serve(&[]);
    let path = link(&home, "alpha", &server.address);
    let mut browser = Visitor::new(&server.address);
    // What opens addresses on its own uses nothing up.
    for _ in 0..3 {
        let page = Visitor::new(&server.address).get(&path);
        assert!(page.status == 200 && page.body.contains("Sign in as alpha"), "{}", page.body);
        assert_eq!(page.header("referrer-policy"), Some("same-origin"), "other sites learn nothing of it");
        assert_eq!(page.header("cache-control"), Some("no-store"));
    }
    let came = press(&mut browser, &path);
    assert_eq!((came.status, came.location()), (303, "/account"));
    assert!(browser.get("/account").body.contains("link let you in"));
    // It counts once.
    let mut second = Visitor::new(&server.address);
    let told = second.get(&path);
    assert!(told.status == 404 && told.body.contains("ask the operator"), "{}", told.body);
    let set = browser.submit("/account", "/account/password", &[("password", PASSWORD)]);
    assert_eq!((set.status, set.location()), (303, "/account?done=password"));
    assert!(browser.get("/account?done=password").body.contains("The password is set"));
    let back = second.submit("/sign-in", "/sign-in", &[("nickname", "alpha"), ("password", PASSWORD)]);
    assert_eq!(back.status, 303, "{}", back.body);
    // Whoever knows the password is asked for it; whom the operator let in is not.
    let another = [("password", "another good password")];
    assert_eq!(second.submit("/account", "/account/password", &another).status, 401);
    let again = link(&home, "alpha", &server.address);
    let mut forgetful = Visitor::new(&server.address);
    press(&mut forgetful, &again);
    assert_eq!(forgetful.submit("/account", "/account/password", &another).status, 303);
    // Once: from now on that browser is like any other.
    let third = [("password", "a third good password")];
    assert_eq!(forgetful.submit("/account", "/account/password", &third).status, 401);
    assert!(forgetful.get("/account").body.contains("Password now"));
    let knowing = [("current", "another good password"), ("password", "a third good password")];
    assert_eq!(forgetful.submit("/account", "/account/password", &knowing).status, 303);
    assert_eq!(second.get("/account").status, 303, "every other browser is out");
    server.stop();
    assert_eq!(home.run(&["doctor"]).code, 0);
}

/// Of two who set a password at once in one browser that came by a link, one sets it.
#[test]
fn two_passwords_at_once_are_one() {
    let home = Home::new();
    home.person("alpha");
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    press(&mut browser, &link(&home, "alpha", &server.address));
    let cookie = format!("arena_session={}", browser.session().unwrap());
    let set: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..4)
            .map(|nth| {
                let mut twin = browser.clone();
                scope.spawn(move || {
                    let password = format!("a good password {nth}");
                    twin.submit("/account", "/account/password", &[("password", &password)]).status
                })
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(set.iter().filter(|status| **status == 303).count(), 1, "{set:?}");
    assert_eq!(set.iter().filter(|status| **status == 401).count(), 3, "{set:?}");
    let page = browser.ask("GET", "/account", &[("accept", "text/html"), ("cookie", &cookie)], "");
    assert_eq!(page.status, 200, "{}", page.body);
    server.stop();
}

#[test]
fn a_link_ends_with_the_next_and_with_what_shuts_people_out() {
    let home = Home::new();
    home.person("alpha");
    let server = home.serve(&[]);
    let mut browser = Visitor::new(&server.address);
    let gone = |browser: &mut Visitor, path: &str| browser.get(path).status == 404;
    let (first, second) = (link(&home, "alpha", &server.address), link(&home, "alpha", &server.address));
    assert!(gone(&mut browser, &first) && !gone(&mut browser, &second));
    home.run(&["admin", "user", "sign-out", "alpha"]);
    assert!(gone(&mut browser, &second));
    let third = link(&home, "alpha", &server.address);
    home.run(&["admin", "user", "disable", "alpha"]);
    assert!(gone(&mut browser, &third));
    let refused = home.run(&["admin", "user", "link", "alpha"]);
    assert!(refused.code == 6 && refused.stderr.contains("user enable alpha"), "{}", refused.stderr);
    assert_eq!(home.run(&["admin", "user", "link", "nobody-here"]).code, 6);
    for path in ["/sign-in/link", "/sign-in/link?link=", "/sign-in/link?link=x", "/sign-in/link?link=%00"] {
        assert!(gone(&mut browser, path), "{path}");
    }
    // A form of nobody's makes nothing.
    let told = browser.submit("/sign-in", "/sign-in/link", &[("link", "x")]);
    assert!(told.status == 404 && browser.session().is_none(), "{}", told.body);
    let acts = home.json(&["admin", "audit", "--json"]);
    let links = acts.as_array().unwrap().iter().filter(|act| act["act"] == json!("user.link")).count();
    assert_eq!(links, 3, "{}", Value::from(acts.to_string()));
    server.stop();
}

/// The link of somebody else takes the place of the session that was there.
#[test]
fn two_at_once_come_in_once_and_nobody_stays_two() {
    let home = Home::new();
    home.person("alpha");
    let server = home.serve(&[]);
    let path = link(&home, "alpha", &server.address);
    let came: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let mut browser = Visitor::new(&server.address);
                    let form = browser.get("/sign-in").field("form");
                    let (_, link) = path.split_once("link=").unwrap();
                    browser.post("/sign-in/link", &[("form", &form), ("link", link)]).status
                })
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(came.iter().filter(|status| **status == 303).count(), 1, "{came:?}");
    let mut browser = Visitor::new(&server.address);
    browser.sign_up("beta", PASSWORD);
    let before = browser.session().unwrap().clone();
    let other = link(&home, "alpha", &server.address);
    press(&mut browser, &other);
    assert!(browser.get("/account").body.contains("alpha"));
    let mut old = Visitor::new(&server.address);
    let cookie = format!("arena_session={before}");
    assert_eq!(old.ask("GET", "/account", &[("accept", "text/html"), ("cookie", &cookie)], "").status, 303);
    server.stop();
}
