//! Clients that vanish, servers that restart, requests that take too long.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::TestPlace;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::world::{ALPHA, LEGACY, MODERN, World, mcp_request};

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_aborted_requests_leave_the_server_well() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let (headers, body) =
        mcp_request(MODERN, Some(ALPHA), "tools/call", json!({"name": "poke", "arguments": {"by": 1}}));
    let body = body.to_string();
    let mut head = format!("POST /toy/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.extend([name, ": ", &value, "\r\n"]);
    }
    let request = format!("{head}\r\n{body}");
    for i in 0..1000 {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        // Every length occurs: in the header, in the body, whole but unread.
        let cut = if i % 4 == 0 { request.len() } else { (i * 37) % request.len() };
        stream.write_all(&request.as_bytes()[..cut]).await.unwrap();
        drop(stream);
    }
    assert_eq!(world.get("/healthz").await.status, 200);
    let got = world.tool(MODERN, ALPHA, "peek", json!({})).await;
    let count = got.json()["result"]["structuredContent"]["count"].as_i64().unwrap();
    assert!((0..=1000).contains(&count), "each whole request counted at most once: {count}");
    world.end().await;
}

#[tokio::test]
async fn a_client_outlives_the_server() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for era in [LEGACY, MODERN] {
        assert_eq!(world.tool(era, ALPHA, "poke", json!({"by": 1})).await.status, 200);
    }
    world.end().await;
    let world = World::new(&place).await;
    // No handshake is repeated: what the client was told before still holds.
    for era in [LEGACY, MODERN] {
        let got = world.tool(era, ALPHA, "poke", json!({"by": 1})).await;
        assert_eq!(got.status, 200, "{got:?}");
    }
    assert_eq!(world.count_of(ALPHA).await, 4);
    world.end().await;
}

#[tokio::test]
async fn a_request_that_never_ends_is_answered() {
    let place = TestPlace::sqlite();
    let world = World::with(&place, |config| config.limits.request_time = Duration::from_millis(200)).await;
    for (path, part) in [("/toy/v1/poke", "\"server_time\""), ("/toy/mcp", "\"jsonrpc\"")] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nx-arena-key: {ALPHA}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{{\"by"
        );
        let answer = world.raw(head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 503 "), "{path}: {answer}");
        assert!(answer.contains(part) && answer.contains("took longer"), "{path}: {answer}");
    }
    assert_eq!(world.count_of(ALPHA).await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_loses_no_request_under_way() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let url = world.url("/toy/v1/poke");
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let request = world
                .client
                .post(&url)
                .header("x-arena-key", ALPHA)
                .header("content-type", "application/json");
            tokio::spawn(request.body(r#"{"by":1}"#).send())
        })
        .collect();
    let mut answered = 0;
    let started = Instant::now();
    world.end().await;
    assert!(started.elapsed() < Duration::from_secs(25), "idle connections do not hold the server");
    for call in calls {
        if let Ok(response) = call.await.unwrap() {
            assert_eq!(response.status(), 200);
            answered += 1;
        }
    }
    let world = World::new(&place).await;
    let count = world.count_of(ALPHA).await;
    assert!(count >= answered, "{answered} were answered as done, {count} are stored");
    world.end().await;
}

#[tokio::test]
async fn a_panicking_handler_is_one_error() {
    let place = TestPlace::sqlite();
    let world = World::with(&place, |config| {
        config.authenticate = std::sync::Arc::new(|tx, token| {
            assert_ne!(token, "arena_sk_panic", "a mistake of ours");
            crate::product::authenticate(tx, token)
        });
    })
    .await;
    let got = world.rest("/toy/v1/peek", "arena_sk_panic", &json!({})).await;
    assert!(matches!(got.status, 500 | 503), "{got:?}");
    assert!(!got.text.contains("mistake of ours"), "{got:?}");
    assert_eq!(world.rest("/toy/v1/peek", ALPHA, &json!({})).await.status, 200);
    world.end().await;
}
