//! `arena duels verify` against a duel that was played, and against records that were altered.

use serde_json::{Value, json};

use crate::{
    http::{answer_once, call, get},
    process::{Home, Server},
};

/// Two people in a duel that has begun; answers their keys.
fn begin(home: &Home, server: &Server) -> [String; 2] {
    let keys = [home.person("alpha"), home.person("beta")];
    for key in &keys {
        assert_eq!(call(&server.address, "enter_arena", key, &json!({"pitch": "hi"})).status, 200);
    }
    let begun = call(&server.address, "challenge_agent", &keys[0], &json!({"nickname": "beta"}));
    assert_eq!(begun.json()["action"], "CREATED_DUEL");
    keys
}

fn demand(server: &Server, key: &str, opponent: &str, count: i64) {
    let answer = call(&server.address, "submit_demand", key, &json!({"nickname": opponent, "count": count}));
    assert_eq!(answer.status, 200, "{}", answer.body);
}

fn altered(record: &Value, change: impl Fn(&mut Value)) -> Value {
    let mut record = record.clone();
    change(&mut record);
    record
}

#[test]
fn a_played_duel_matches_and_an_altered_one_does_not() {
    let home = Home::new();
    let server = home.serve(&[]);
    let keys = begin(&home, &server);
    demand(&server, &keys[0], "beta", 10);
    demand(&server, &keys[1], "alpha", 9);
    let feed = get(&format!("http://{}/duels/v1/settled", server.address)).json();
    let url = feed["duels"][0]["duel_url"].as_str().unwrap();

    let ran = home.run(&["duels", "verify", url]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("alpha") && ran.stdout.matches("matches").count() == 2, "{}", ran.stdout);
    let report = home.json(&["duels", "verify", url, "--json"]);
    assert_eq!(report["verified"], true);

    let record = get(url).json();
    for (altered, code) in [
        (altered(&record, |_| ()), 0),
        (altered(&record, |record| record["participants"][0]["demand"] = json!(11)), 1),
        (altered(&record, |record| record["participants"][1]["salt"] = json!("00".repeat(32))), 1),
        (altered(&record, |record| record["participants"][1]["salt"] = Value::Null), 1),
        (altered(&record, |record| record["participants"][0]["nickname"] = json!("gamma")), 1),
        (altered(&record, |record| record["slug"] = json!("0".repeat(24))), 1),
        (altered(&record, |record| record["participants"][0]["demand"] = Value::Null), 6),
        (json!({"hello": "world"}), 6),
    ] {
        let (address, serving) = answer_once("200 OK", altered.to_string());
        let ran = home.run(&["duels", "verify", &format!("http://{address}/duels/x")]);
        serving.join().unwrap();
        assert_eq!(ran.code, code, "{altered}\n{}{}", ran.stdout, ran.stderr);
    }
    server.stop();
}

#[test]
fn open_and_unknown_duels_are_refused_and_a_failing_server_is_the_network() {
    let home = Home::new();
    let server = home.serve(&[]);
    let unknown = format!("http://{}/duels/{}", server.address, "0".repeat(24));
    let ran = home.run(&["duels", "verify", &unknown]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    let (address, serving) = answer_once("503 Service Unavailable", "{}".to_owned());
    let ran = home.run(&["duels", "verify", &format!("http://{address}/duels/x")]);
    serving.join().unwrap();
    assert_eq!(ran.code, 7, "{}", ran.stderr);
    server.stop();
}

#[test]
fn a_demand_set_by_the_deadline_has_no_seal_and_that_is_said() {
    let home = Home::new();
    // The ten minutes of a duel pass in about two seconds.
    let server = home.serve(&["--clock-speed", "300"]);
    let keys = begin(&home, &server);
    demand(&server, &keys[0], "beta", 10);
    let deadline = std::time::Instant::now() + crate::process::PATIENCE;
    let url = loop {
        let feed = get(&format!("http://{}/duels/v1/settled", server.address)).json();
        if let Some(url) = feed["duels"][0]["duel_url"].as_str() {
            break url.to_owned();
        }
        assert!(std::time::Instant::now() < deadline, "the worker did not settle it");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let ran = home.run(&["duels", "verify", &url]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("not sealed"), "{}", ran.stdout);
    server.stop();
}
