//! A repeat with the same key gets the first answer and changes nothing, through either door.

use serde_json::{Value, json};
use testkit::TestPlace;

use crate::world::{ALPHA, Got, MODERN, World};

async fn poke(world: &World, key: &str, body: &Value) -> Got {
    let headers = [("x-arena-key", ALPHA), ("content-type", "application/json"), ("idempotency-key", key)];
    world.send("POST", "/toy/v1/poke", &headers, body.to_string().as_bytes()).await
}

testkit::both_engines! {
    async fn a_repeat_is_replayed(place: TestPlace) {
        let world = World::new(&place).await;
        let first = poke(&world, "one", &json!({"by": 2})).await;
        assert_eq!((first.status, first.header("idempotent-replayed")), (200, ""));
        for _ in 0..2 {
            let again = poke(&world, "one", &json!({"by": 2})).await;
            assert_eq!((again.status, again.header("idempotent-replayed")), (200, "true"));
            assert_eq!(again.text, first.text);
        }
        let other = poke(&world, "one", &json!({"by": 3})).await;
        assert_eq!((other.status, other.json()["error"]["code"].as_str().unwrap()), (400, "VALIDATION_FAILED"));
        assert!(other.json()["error"]["message"].as_str().unwrap().contains("used with another body"));
        assert_eq!(poke(&world, "two", &json!({"by": 3})).await.json()["count"], 5);
        assert_eq!(world.count_of(ALPHA).await, 5);
        world.end().await;
    }

    async fn a_refusal_is_not_remembered_for_a_mended_request(place: TestPlace) {
        let world = World::new(&place).await;
        assert_eq!(poke(&world, "k", &json!({"by": 0})).await.status, 400);
        let got = poke(&world, "k", &json!({"by": 1})).await;
        assert_eq!((got.status, got.json()["count"].as_i64()), (200, Some(1)), "{got:?}");
        // The stored answer goes before anything that the state says now.
        assert_eq!(poke(&world, "k", &json!({"by": 1})).await.header("idempotent-replayed"), "true");
        world.end().await;
    }

    async fn mcp_takes_the_key_in_meta(place: TestPlace) {
        let world = World::new(&place).await;
        let params = |by: i64, key: Value| json!({
            "name": "poke", "arguments": {"by": by}, "_meta": {"arena/idempotency_key": key},
        });
        let first = world.mcp(MODERN, Some(ALPHA), "tools/call", params(4, json!("k"))).await.json();
        assert_eq!(first["result"]["structuredContent"]["count"], 4, "{first}");
        let again = world.mcp(MODERN, Some(ALPHA), "tools/call", params(4, json!("k"))).await.json();
        assert_eq!(again["result"]["structuredContent"], first["result"]["structuredContent"]);
        assert_eq!(again["result"]["_meta"]["arena/idempotent_replayed"], true);
        let other = world.mcp(MODERN, Some(ALPHA), "tools/call", params(5, json!("k"))).await.json();
        assert_eq!(other["result"]["isError"], true, "{other}");
        // A key that is no text is refused by rule, not ignored.
        let wrong = world.mcp(MODERN, Some(ALPHA), "tools/call", params(1, json!(7))).await.json();
        assert_eq!(wrong["result"]["structuredContent"]["error"]["code"], "VALIDATION_FAILED", "{wrong}");
        assert_eq!(world.count_of(ALPHA).await, 4);
        world.end().await;
    }

    async fn two_at_once_run_once(place: TestPlace) {
        let world = World::new(&place).await;
        let body = json!({"by": 1});
        let calls: Vec<_> = (0..8).map(|_| poke(&world, "same", &body)).collect();
        let mut texts: Vec<_> = futures_util::future::join_all(calls).await.into_iter().map(|got| {
            assert_eq!(got.status, 200, "{got:?}");
            got.text
        }).collect();
        texts.dedup();
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert_eq!(world.count_of(ALPHA).await, 1);
        world.end().await;
    }
}

#[tokio::test]
async fn keys_have_a_shape() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for (key, status) in [
        ("x".repeat(255), 200),
        ("x".repeat(256), 400),
        (String::new(), 400),
        ("a b".to_owned(), 400),
        ("é".to_owned(), 400),
    ] {
        assert_eq!(poke(&world, &key, &json!({"by": 1})).await.status, status, "{key}");
    }
    let twice = [
        ("x-arena-key", ALPHA),
        ("content-type", "application/json"),
        ("idempotency-key", "a"),
        ("idempotency-key", "b"),
    ];
    assert_eq!(world.send("POST", "/toy/v1/poke", &twice, br#"{"by":1}"#).await.status, 400);
    assert_eq!(world.count_of(ALPHA).await, 1);
    world.end().await;
}
