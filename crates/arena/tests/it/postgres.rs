//! The program on PostgreSQL: nodes that share one database, and commands that open it beside them.

use serde_json::json;
use store::Place;
use testkit::TestPlace;

use crate::{
    http::{call, get},
    process::{Home, Ran, Server},
};

/// A database of the test's own, or `None` where there is no server to make one on.
fn database(test: &str) -> Option<(TestPlace, String)> {
    let place = TestPlace::postgres(test)?;
    let Place::Postgres(url) = place.place() else { panic!("the place is on PostgreSQL") };
    Some((place, url))
}

fn node(home: &Home, url: &str) -> Server {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", url]);
    Server::start(command.env("ARENA_METRICS__LISTEN", "off"))
}

#[test]
fn nodes_share_people_keys_and_duels() {
    let Some((_place, url)) = database("postgres::nodes_share_people_keys_and_duels") else { return };
    let (one_home, two_home) = (Home::new(), Home::new());
    let admin = |arguments: &[&str]| {
        let mut command = one_home.command(&[&["admin"][..], arguments, &["--json"]].concat());
        let ran = Ran::of(command.env("ARENA_DATABASE__URL", &url));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()
    };
    // Before any node has ever run.
    let alpha = admin(&["user", "create", "alpha"])["apiKey"].as_str().unwrap().to_owned();
    let (one, two) = (node(&one_home, &url), node(&two_home, &url));
    let beta = admin(&["user", "create", "beta"])["apiKey"].as_str().unwrap().to_owned();

    assert_eq!(call(&one.address, "enter_arena", &alpha, &json!({"pitch": "hi"})).status, 200);
    assert_eq!(call(&two.address, "enter_arena", &beta, &json!({"pitch": "hi"})).status, 200);
    let begun =
        call(&one.address, "challenge_agent", &alpha, &json!({"nickname": "beta", "message": "half?"}));
    assert_eq!(begun.json()["action"], "CREATED_DUEL", "{}", begun.body);
    let seen = call(&two.address, "get_arena_status", &beta, &json!({})).json();
    assert_eq!(seen["duels"][0]["new_messages"][0]["message"], "half?");
    assert_eq!(
        call(&two.address, "submit_demand", &beta, &json!({"nickname": "alpha", "count": 9})).status,
        200
    );
    let settled = call(&one.address, "submit_demand", &alpha, &json!({"nickname": "beta", "count": 10}));
    assert_eq!(settled.json()["state"], "FINISHED", "{}", settled.body);
    let feed = get(&format!("http://{}/duels/v1/settled", two.address)).json();
    assert_eq!(feed["duels"].as_array().unwrap().len(), 1);

    admin(&["key", "revoke", "beta", &beta[..16]]);
    for server in [&one, &two] {
        assert_eq!(call(&server.address, "whoami", &beta, &json!({})).status, 401);
        assert_eq!(call(&server.address, "whoami", &alpha, &json!({})).status, 200);
    }
    let doctor = Ran::of(one_home.command(&["doctor"]).env("ARENA_DATABASE__URL", &url));
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
    assert!(doctor.stdout.contains("PostgreSQL"), "{}", doctor.stdout);
    one.stop();
    two.stop();
    assert!(!one_home.data().join("admin.sock").exists());
}
