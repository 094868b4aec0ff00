//! Who may call: every combination of credential, scope and door, and what each check lets through.

use kernel::operation::Budget;
use serde_json::json;
use testkit::TestPlace;

use crate::{
    mcp::assert_rpc_error,
    world::{ALPHA, BETA, Headers, LEGACY, MODERN, World, mcp_request},
};

/// Headers, status, and a part of the challenge.
type Row = (Headers<'static>, u16, &'static str);

const MATRIX: [Row; 11] = [
    (&[], 401, "Bearer realm=\"arena\""),
    (
        &[("authorization", "Bearer arena_sk_none")],
        401,
        "error=\"invalid_token\", error_description=\"this key is unknown",
    ),
    (&[("authorization", "Bearer arena_sk_old")], 401, "error_description=\"this key expired"),
    (&[("x-arena-key", "arena_sk_none")], 401, "error=\"invalid_token\""),
    (&[("authorization", "Basic YTpi")], 401, "error=\"invalid_token\""),
    (&[("authorization", "Bearer ")], 401, "error=\"invalid_token\""),
    (&[("authorization", "Bearer a b")], 401, "error=\"invalid_token\""),
    (
        &[("authorization", "Bearer arena_sk_alpha"), ("x-arena-key", "arena_sk_alpha")],
        401,
        "error=\"invalid_token\"",
    ),
    (&[("authorization", "Bearer arena_sk_beta")], 403, "error=\"insufficient_scope\", scope=\"toy:write\""),
    (&[("authorization", "Bearer arena_sk_alpha")], 200, ""),
    (&[("x-arena-key", "arena_sk_alpha")], 200, ""),
];

testkit::both_engines! {
    async fn the_matrix_over_rest(place: TestPlace) {
        let world = World::new(&place).await;
        for (credential, status, challenge) in MATRIX {
            let headers = [credential, &[("content-type", "application/json")]].concat();
            let got = world.send("POST", "/toy/v1/poke", &headers, br#"{"by":1}"#).await;
            assert_eq!(got.status, status, "{credential:?} {got:?}");
            assert!(got.header("www-authenticate").contains(challenge), "{credential:?} {got:?}");
            assert_eq!(got.header("cache-control"), "no-store");
            assert!(got.headers.get("access-control-allow-origin").is_none());
            if status != 200 {
                assert!(got.json()["error"]["code"].is_string(), "{got:?}");
                assert!(got.json()["server_time"].is_string(), "{got:?}");
            }
        }
        assert_eq!(world.count_of(ALPHA).await, 2);
        world.end().await;
    }

    async fn the_matrix_over_mcp(place: TestPlace) {
        let world = World::new(&place).await;
        for era in [LEGACY, MODERN] {
            for (credential, status, challenge) in MATRIX {
                let params = json!({"name": "poke", "arguments": {"by": 1}});
                let (headers, body) = mcp_request(era, None, "tools/call", params);
                let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                headers.extend_from_slice(credential);
                let got = world.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await;
                assert_eq!(got.status, status, "{credential:?} {got:?}");
                assert!(got.header("www-authenticate").contains(challenge), "{credential:?} {got:?}");
                if status == 200 {
                    assert_eq!(got.json()["result"]["isError"], false, "{got:?}");
                } else {
                    assert_rpc_error(&got, status, if status == 401 { -32001 } else { -32003 });
                    assert_eq!(got.json()["id"], 1);
                }
            }
        }
        assert_eq!(world.count_of(ALPHA).await, 4);
        world.end().await;
    }
}

/// What the SDK hands on must refuse as the direct way does.
#[tokio::test]
async fn the_sdk_path_refuses_alike() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for (credential, status, challenge) in MATRIX {
        // A name in the base64 form is not read by the direct way.
        let (headers, body) =
            mcp_request(MODERN, None, "tools/call", json!({"name": "poke", "arguments": {"by": 1}}));
        let mut headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| {
                (*name, if *name == "mcp-name" { "=?base64?cG9rZQ==?=" } else { value.as_str() })
            })
            .collect();
        headers.extend_from_slice(credential);
        let got = world.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await;
        assert_eq!(got.status, status, "{credential:?} {got:?}");
        assert!(got.header("www-authenticate").contains(challenge), "{credential:?} {got:?}");
    }
    // The two ways give the same answer, apart from what differs between any two calls.
    let straight = world.tool(MODERN, ALPHA, "fail", json!({})).await.json();
    let (headers, body) =
        mcp_request(MODERN, Some(ALPHA), "tools/call", json!({"name": "fail", "arguments": {}}));
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| {
            (*name, if *name == "mcp-name" { "=?base64?ZmFpbA==?=" } else { value.as_str() })
        })
        .collect();
    let mut around = world.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await.json();
    for member in ["content", "structuredContent", "_meta"] {
        let straight = straight["result"][member].as_object().map(|o| o.keys().cloned().collect::<Vec<_>>());
        let around = around["result"][member].as_object().map(|o| o.keys().cloned().collect::<Vec<_>>());
        let sorted = |keys: Option<Vec<String>>| {
            keys.map(|mut keys| {
                keys.sort();
                keys
            })
        };
        assert_eq!(sorted(straight), sorted(around), "{member}");
    }
    assert_eq!(
        around["result"]["structuredContent"]["error"],
        straight["result"]["structuredContent"]["error"]
    );
    around["result"].as_object_mut().unwrap().remove("x");
    world.end().await;
}

#[tokio::test]
async fn a_bad_credential_is_refused_where_none_is_needed() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for (era, method) in [
        (LEGACY, "ping"),
        (LEGACY, "tools/list"),
        (MODERN, "tools/list"),
        (MODERN, "server/discover"),
        (MODERN, "foo/bar"),
    ] {
        let got = world.mcp(era, Some("arena_sk_none"), method, json!({})).await;
        assert_rpc_error(&got, 401, -32001);
        assert!(got.header("www-authenticate").contains("invalid_token"));
    }
    for (path, query) in [("/toy/mcp", "?access_token=arena_sk_alpha"), ("/toy/mcp", "?x=arena_sk_alpha")] {
        let (headers, body) = mcp_request(MODERN, None, "tools/list", json!({}));
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let got = world.send("POST", &format!("{path}{query}"), &headers, body.to_string().as_bytes()).await;
        assert_rpc_error(&got, 401, -32001);
    }
    let got = world.send("POST", "/toy/v1/peek?key=arena_sk_alpha", &[], b"").await;
    assert_eq!(got.status, 401, "{got:?}");
    world.end().await;
}

testkit::both_engines! {
    /// 401 before 403 before 429 before the input.
    async fn checks_come_in_their_order(place: TestPlace) {
        let world = World::with(&place, |config| {
            config.products[0].budget = Budget { per_minute: 2, per_hour: 10 };
        })
        .await;
        let bad = json!({"nonsense": true});
        for (key, statuses) in [("arena_sk_none", [401; 4]), (BETA, [403; 4]), (ALPHA, [400, 400, 429, 429])] {
            for status in statuses {
                let got = world.rest("/toy/v1/poke", key, &bad).await;
                assert_eq!(got.status, status, "{key} {got:?}");
                if status == 429 {
                    assert_eq!(got.json()["error"]["code"], "RATE_LIMITED");
                    let seconds: i64 = got.header("retry-after").parse().unwrap();
                    assert!((1..=60).contains(&seconds), "{got:?}");
                }
            }
        }
        // Over MCP a spent budget is something that the model should read.
        let got = world.tool(MODERN, ALPHA, "peek", json!({})).await;
        assert_eq!(got.status, 200);
        assert_eq!(got.json()["result"]["structuredContent"]["error"]["code"], "RATE_LIMITED");
        // What the scope check refused was not counted, and doors share the budget.
        assert_eq!(world.rest("/toy/v1/peek", BETA, &json!({})).await.status, 200);
        assert_eq!(world.tool(MODERN, BETA, "peek", json!({})).await.json()["result"]["isError"], false);
        assert_eq!(world.rest("/toy/v1/peek", BETA, &json!({})).await.status, 429);
        world.end().await;
    }
}

testkit::both_engines! {
    async fn broken_bodies_count_and_wait_for_their_turn(place: TestPlace) {
        let world = World::with(&place, |config| {
            config.products[0].budget = Budget { per_minute: 3, per_hour: 10 };
        })
        .await;
        let large = vec![b' '; 70_000];
        let json_type = ("content-type", "application/json");
        for (key, body, media, status) in [
            ("arena_sk_none", &large[..], json_type, 401),
            (BETA, &large[..], json_type, 403),
            (ALPHA, &large[..], json_type, 413),
            (ALPHA, b"x=1", ("content-type", "text/plain"), 415),
            (ALPHA, b"{bad", json_type, 400),
            (ALPHA, b"{bad", json_type, 429),
        ] {
            let got = world.send("POST", "/toy/v1/poke", &[("x-arena-key", key), media], body).await;
            assert_eq!(got.status, status, "{key} {got:?}");
        }
        world.end().await;
    }
}

#[tokio::test]
async fn our_own_mistake_while_checking_a_key_tells_nothing() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let got = world.rest("/toy/v1/peek", "arena_sk_broken", &json!({})).await;
    assert_eq!((got.status, got.json()["error"]["code"].as_str().unwrap()), (500, "INTERNAL"));
    assert!(!got.text.contains("key table"), "{got:?}");
    let got = world.tool(MODERN, "arena_sk_broken", "peek", json!({})).await;
    assert_eq!(got.json()["result"]["structuredContent"]["error"]["code"], "INTERNAL", "{got:?}");
    world.end().await;
}
