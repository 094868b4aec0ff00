//! Public reads: cacheable, conditional, open to any page.

use serde_json::json;
use testkit::TestPlace;

use crate::world::{ALPHA, World};

testkit::both_engines! {
    async fn a_public_read_is_cacheable(place: TestPlace) {
        let world = World::new(&place).await;
        world.rest("/toy/v1/poke", ALPHA, &json!({"by": 2})).await;
        let path = format!("/toy/v1/of/{:0>24}", "a");
        let got = world.send("GET", &path, &[("origin", "https://anyone.example")], b"").await;
        assert_eq!((got.status, &got.json()["count"]), (200, &json!(2)));
        assert_eq!(got.header("cache-control"), "public, max-age=60");
        assert_eq!(got.header("access-control-allow-origin"), "*");
        let etag = got.header("etag").to_owned();
        for (condition, status) in [
            (etag.clone(), 304),
            (format!("\"x\", W/{etag}"), 304),
            ("*".to_owned(), 304),
            ("\"other\"".to_owned(), 200),
        ] {
            let got = world.send("GET", &path, &[("if-none-match", &condition)], b"").await;
            assert_eq!(got.status, status, "{condition}");
            assert_eq!(got.header("etag"), etag);
            assert_eq!(got.text.is_empty(), status == 304);
        }
        world.rest("/toy/v1/poke", ALPHA, &json!({"by": 1})).await;
        let got = world.send("GET", &path, &[("if-none-match", &etag)], b"").await;
        assert_eq!((got.status, &got.json()["count"]), (200, &json!(3)));
        let head = world.send("HEAD", &path, &[], b"").await;
        assert_eq!((head.status, head.text.as_str()), (200, ""));
        assert_ne!(head.header("content-length"), "0");
        world.end().await;
    }
}

#[tokio::test]
async fn a_query_is_understood_or_refused() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    world.rest("/toy/v1/poke", ALPHA, &json!({"by": 2})).await;
    let of = format!("/toy/v1/of/{:0>24}", "a");
    let got = world.send("GET", &format!("{of}?as=a+b%26c"), &[], b"").await;
    assert_eq!((got.status, &got.json()["id"]), (200, &json!("a b&c")));
    for query in ["sa=x", "as=x&as=y", "as=x&sa=y", "x"] {
        let got = world.send("GET", &format!("{of}?{query}"), &[], b"").await;
        assert_eq!(got.status, 400, "{query}");
        assert!(got.text.contains("the query may hold as, each once"), "{}", got.text);
    }
    let got = world.send("GET", "/toy/v1/total?utm=x", &[], b"").await;
    assert_eq!(got.status, 200, "a read without a query ignores it");
    world.end().await;
}

#[tokio::test]
async fn what_is_not_there() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for (method, path, status) in [
        ("GET", "/toy/v1/of/none", 404),
        ("GET", "/toy/v1/of/", 404),
        ("GET", "/toy/v1/of/%ff", 404),
        ("GET", "/toy/v1/of/a%2Fb", 404),
        ("GET", "/toy/v1/of/a/b", 404),
        ("GET", &format!("/toy/v1/of/{}", "a".repeat(300)), 404),
        ("POST", "/toy/v1/total", 405),
        ("DELETE", "/toy/v1/of/a", 405),
    ] {
        let got = world.send(method, path, &[], b"").await;
        assert_eq!(got.status, status, "{method} {path} {got:?}");
        assert!(got.json()["error"]["code"].is_string());
        assert_eq!(got.header("cache-control"), "no-store", "{got:?}");
        assert_eq!(got.header("allow"), if status == 405 { "GET, HEAD" } else { "" });
    }
    world.end().await;
}
