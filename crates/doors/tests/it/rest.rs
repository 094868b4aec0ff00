//! REST: methods, paths, bodies, envelopes.

use serde_json::json;
use testkit::TestPlace;

use crate::world::{ALPHA, Headers, World};

testkit::both_engines! {
    async fn operations_answer_at_their_paths(place: TestPlace) {
        let world = World::new(&place).await;
        let got = world.rest("/toy/v1/poke", ALPHA, &json!({"by": 2, "note": "é\u{202e}"})).await;
        assert_eq!((got.status, got.header("content-type")), (200, "application/json"));
        assert_eq!((&got.json()["count"], &got.json()["nickname"]), (&json!(2), &json!("alpha")));
        // No body is an empty object where nothing is required.
        let got = world.send("POST", "/toy/v1/peek", &[("x-arena-key", ALPHA)], b"").await;
        assert_eq!(got.json()["count"], 2, "{got:?}");
        let got = world.send("POST", "/toy/v1/poke", &[("x-arena-key", ALPHA)], b"").await;
        assert_eq!((got.status, got.json()["error"]["code"].as_str()), (400, Some("VALIDATION_FAILED")));
        let got = world.send("DELETE", "/toy/v1/poke", &[("x-arena-key", ALPHA)], b"").await;
        assert_eq!((got.status, got.header("retry-after")), (409, "7"));
        let body = got.json();
        assert_eq!(body["error"]["code"], "TOY_BUSY");
        assert!(body["server_time"].as_str().unwrap().ends_with('Z'), "{body}");
        assert!(!got.text.contains("/etc/shadow"));
        world.end().await;
    }

    async fn a_change_that_is_refused_changes_nothing(place: TestPlace) {
        let world = World::new(&place).await;
        for _ in 0..100 {
            assert_eq!(world.rest("/toy/v1/poke", ALPHA, &json!({"by": 10})).await.status, 200);
        }
        let got = world.rest("/toy/v1/poke", ALPHA, &json!({"by": 1})).await;
        assert_eq!((got.status, got.json()["error"]["code"].as_str()), (409, Some("TOY_FULL")), "{got:?}");
        world.end().await;
    }
}

#[tokio::test]
async fn wrong_requests() {
    type Row<'a> = (&'a str, &'a str, Headers<'a>, &'a [u8], u16, &'a str);
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let key = ("x-arena-key", ALPHA);
    let json_type = ("content-type", "application/json");
    let deep = format!(r#"{{"by":{}{}}}"#, "[".repeat(32), "]".repeat(32));
    let rows: [Row<'_>; 13] = [
        ("POST", "/toy/v1/none", &[key], b"", 404, "NOT_FOUND"),
        ("POST", "/toy/v1/peek/", &[key], b"", 404, "NOT_FOUND"),
        ("GET", "/toy/v1/peek", &[key], b"", 405, "METHOD_NOT_ALLOWED"),
        ("PATCH", "/toy/v1/poke", &[key], b"", 405, "METHOD_NOT_ALLOWED"),
        ("POST", "/toy/v1/peek?x=1", &[key], b"", 400, "VALIDATION_FAILED"),
        ("POST", "/toy/v1/poke", &[key], b"{\"by\":1}", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (
            "POST",
            "/toy/v1/poke",
            &[key, ("content-type", "text/json")],
            b"{\"by\":1}",
            415,
            "UNSUPPORTED_MEDIA_TYPE",
        ),
        ("POST", "/toy/v1/poke", &[key, json_type], b"{bad", 400, "VALIDATION_FAILED"),
        ("POST", "/toy/v1/poke", &[key, json_type], b"[1]", 400, "VALIDATION_FAILED"),
        ("POST", "/toy/v1/poke", &[key, json_type], b"{\"by\":1}{}", 400, "VALIDATION_FAILED"),
        (
            "POST",
            "/toy/v1/poke",
            &[key, json_type],
            b"{\"by\":1,\"note\":\"\xff\"}",
            400,
            "VALIDATION_FAILED",
        ),
        ("POST", "/toy/v1/poke", &[key, json_type], deep.as_bytes(), 400, "VALIDATION_FAILED"),
        (
            "POST",
            "/toy/v1/poke",
            &[key, json_type, ("origin", "https://evil.example")],
            b"{\"by\":1}",
            403,
            "ORIGIN_NOT_ALLOWED",
        ),
    ];
    for (method, path, headers, body, status, code) in rows {
        let got = world.send(method, path, headers, body).await;
        assert_eq!(
            (got.status, got.json()["error"]["code"].as_str()),
            (status, Some(code)),
            "{method} {path} {got:?}"
        );
        assert!(got.json()["server_time"].is_string(), "the product's envelope: {got:?}");
        assert_eq!(got.header("cache-control"), "no-store");
        if status == 405 {
            let wanted = if path.ends_with("poke") { "POST, DELETE" } else { "POST" };
            assert_eq!(got.header("allow"), wanted);
        }
    }
    assert_eq!(world.count_of(ALPHA).await, 0);
    let got = world.get("/nowhere").await;
    assert_eq!(
        (got.status, got.json()["error"]["code"].as_str()),
        (404, Some("ROUTE_NOT_FOUND")),
        "no product: {got:?}"
    );
    assert!(got.json().get("server_time").is_none());
    world.end().await;
}

#[tokio::test]
async fn request_ids_tie_answers_to_log_lines() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for (sent, kept) in [("my-id_1", true), ("has space", false), (&*"x".repeat(65), false), ("", false)] {
        let got =
            world.send("POST", "/toy/v1/peek", &[("x-arena-key", ALPHA), ("x-request-id", sent)], b"").await;
        let id = got.header("x-request-id");
        assert_eq!(id == sent, kept, "{sent} became {id}");
        assert!(!id.is_empty());
        assert_eq!(got.json()["request_id"], id, "the operation sees the same id");
    }
    for path in ["/nowhere", "/docs", "/healthz", "/toy/v1/total"] {
        assert_eq!(world.get(path).await.header("x-request-id").len(), 24, "{path}");
    }
    let seen = world.seen.lock().unwrap().clone();
    let labels: Vec<_> = seen.iter().map(|s| (s.door.name(), s.product, s.operation, s.status)).collect();
    assert!(labels.contains(&("rest", Some("toy"), Some("peek"), 200)), "{labels:?}");
    assert!(labels.contains(&("nowhere", None, None, 404)), "{labels:?}");
    assert!(labels.contains(&("public", Some("toy"), Some("toyTotal"), 200)), "{labels:?}");
    world.end().await;
}

#[tokio::test]
async fn another_clock_says_so_beside_the_answer() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    assert!(world.rest("/toy/v1/peek", ALPHA, &json!({})).await.headers.get("x-arena-clock").is_none());
    world.store.set_speed(60_000).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while world.get("/healthz").await.header("x-arena-clock") != "60" {
        assert!(std::time::Instant::now() < deadline, "the doors did not notice the new speed");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let got = world.rest("/toy/v1/peek", ALPHA, &json!({})).await;
    assert_eq!(got.header("x-arena-clock"), "60");
    assert!(!got.text.contains("clock"));
    let got = world.tool(crate::world::MODERN, ALPHA, "peek", json!({})).await;
    assert_eq!(got.json()["result"]["_meta"]["arena/clock_speed"], "60");
    assert!(got.json()["result"]["structuredContent"].get("arena/clock_speed").is_none());
    assert!(world.get("/docs").await.text.contains("runs at 60 × real time"));
    world.end().await;
}

#[tokio::test]
async fn routes_beside_the_catalog_stand_behind_the_same_front() {
    let place = TestPlace::sqlite();
    let world = World::with(&place, |config| {
        config.extra = axum::Router::new().route("/extra", axum::routing::get(|| async { "hello" }));
    })
    .await;
    let got = world.get("/extra").await;
    assert_eq!((got.status, got.text.as_str(), got.header("x-request-id").len()), (200, "hello", 24));
    assert_eq!(world.send("GET", "/extra", &[("host", "evil.example")], b"").await.status, 403);
    world.end().await;
}
