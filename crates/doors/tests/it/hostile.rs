//! Requests that no well-meaning client sends: wrong hosts, foreign pages, raw bytes.

use std::time::Duration;

use serde_json::json;
use testkit::TestPlace;

use crate::{
    mcp::assert_rpc_error,
    world::{ALPHA, MODERN, World, mcp_request},
};

#[tokio::test]
async fn hosts_and_origins() {
    let place = TestPlace::sqlite();
    let world = World::with(&place, |config| {
        config.allowed_hosts = vec!["other.example".into()];
        config.allowed_origins = vec!["https://inspector.example".into()];
    })
    .await;
    let (headers, body) = mcp_request(MODERN, Some(ALPHA), "tools/list", json!({}));
    for (name, value, ok) in [
        ("host", "evil.example", false),
        ("host", "evil.example:7878", false),
        ("host", "arena.example", true),
        ("host", "arena.example:8443", true),
        ("host", "other.example", true),
        ("host", "localhost:1", true),
        ("origin", "https://evil.example", false),
        ("origin", "null", false),
        ("origin", "http://arena.example", false),
        ("origin", "https://arena.example", true),
        ("origin", "https://inspector.example", true),
        ("origin", "http://localhost:6274", true),
        ("origin", "http://127.0.0.1:6274", true),
    ] {
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        headers.push((name, value));
        for path in ["/toy/mcp", "/mcp/"] {
            let got = world.send("POST", path, &headers, body.to_string().as_bytes()).await;
            if ok {
                assert_eq!(got.status, 200, "{name} {value} {got:?}");
            } else {
                assert_rpc_error(&got, 403, -32003);
            }
        }
        let rest = [("x-arena-key", ALPHA), (name, value)];
        let got = world.send("POST", "/toy/v1/peek", &rest, b"").await;
        assert_eq!(got.status, if ok { 200 } else { 403 }, "{name} {value} {got:?}");
        assert!(ok || got.json()["server_time"].is_string());
    }
    // A page anywhere may read what is public, but not through a rebound name.
    let got = world.send("GET", "/toy/v1/total", &[("origin", "https://evil.example")], b"").await;
    assert_eq!(got.status, 200);
    assert_eq!(world.send("GET", "/toy/v1/total", &[("host", "evil.example")], b"").await.status, 403);
    assert_eq!(
        world.send("GET", "/healthz", &[("host", "10.0.0.7")], b"").await.status,
        200,
        "probes know no name"
    );
    world.end().await;
}

#[tokio::test]
async fn loopback_pages_may_not_call_a_public_server() {
    let place = TestPlace::sqlite();
    let world = World::with(&place, |config| config.loopback_origins = false).await;
    let headers = [("x-arena-key", ALPHA), ("origin", "http://localhost:6274")];
    assert_eq!(world.send("POST", "/toy/v1/peek", &headers, b"").await.status, 403);
    world.end().await;
}

#[tokio::test]
async fn raw_requests() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let head = |extra: &str| {
        format!(
            "POST /toy/v1/poke HTTP/1.1\r\nHost: localhost\r\nx-arena-key: {ALPHA}\r\nConnection: close\r\nContent-Type: application/json\r\n{extra}\r\n"
        )
    };
    let long = "x".repeat(17 * 1024);
    for (what, request, status) in [
        ("chunked", head("Transfer-Encoding: chunked\r\n") + "4\r\n{\"by\r\n4\r\n\":1}\r\n0\r\n\r\n", "200"),
        ("one byte a chunk", head("Transfer-Encoding: chunked\r\n") + &one_byte_chunks("{\"by\":1}"), "200"),
        ("broken chunk", head("Transfer-Encoding: chunked\r\n") + "zz\r\n", "400"),
        (
            "chunked over the limit",
            head("Transfer-Encoding: chunked\r\n") + &format!("11170\r\n{}\r\n0\r\n\r\n", "x".repeat(70_000)),
            "413",
        ),
        ("announced over the limit", head("Content-Length: 70000\r\n") + &"x".repeat(70_000), "413"),
        ("two lengths", head("Content-Length: 8\r\nContent-Length: 9\r\n") + "{\"by\":1}", "400"),
        ("header over the limit", head(&format!("X-Long: {long}\r\n")), "431"),
        ("not HTTP", "hello\r\n\r\n".to_owned(), "400"),
        ("no host", "GET /docs HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(), "403"),
        (
            "two hosts",
            "GET /docs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
                .to_owned(),
            "403",
        ),
        (
            "absolute form",
            "GET http://evil.example/docs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
                .to_owned(),
            "403",
        ),
    ] {
        let answer = world.raw(request.as_bytes()).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{what}: {}",
            &answer[..answer.len().min(300)]
        );
    }
    assert_eq!(world.count_of(ALPHA).await, 2, "only the two right ones counted");
    world.end().await;
}

/// Whoever asks and asks and reads nothing does not keep others out.
#[tokio::test]
async fn who_reads_nothing_is_let_go() {
    use tokio::io::AsyncWriteExt;
    let place = TestPlace::sqlite();
    let world = World::with(&place, |config| {
        config.limits.connections_max = 2;
        config.limits.write_time = Duration::from_millis(300);
    })
    .await;
    let ask = "GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2_000);
    let mut held = Vec::new();
    for _ in 0..2 {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(world.address).await.unwrap();
        // The server stops reading once it cannot write.
        let _ = tokio::time::timeout(Duration::from_millis(200), stream.write_all(ask.as_bytes())).await;
        held.push(stream);
    }
    assert_eq!(world.get("/healthz").await.status, 200, "both places are free again");
    drop(held);
    world.end().await;
}

fn one_byte_chunks(text: &str) -> String {
    let chunks: Vec<_> = text.chars().map(|c| format!("1\r\n{c}\r\n")).collect();
    chunks.concat() + "0\r\n\r\n"
}
