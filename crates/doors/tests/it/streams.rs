//! Streams of what happens to a caller: who may listen, for how long, and that nothing is missed.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use doors::ACCOUNT_STREAMS_MAX;
use kernel::operation::{Budget, Product};
use reqwest::Response;
use serde_json::json;
use testkit::TestPlace;

use crate::{
    product::{REVOKED, toy},
    world::{ALPHA, BETA, World},
};

const PATH: &str = "/toy/v1/events";
const PATIENCE: Duration = Duration::from_secs(20);

/// A stream as a program reads it.
struct Stream {
    response: Response,
    text: String,
}

impl Stream {
    async fn open(world: &World, key: &str, last: Option<&str>) -> Self {
        let mut request = world.client.get(world.url(PATH)).header("x-arena-key", key);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        Self { response, text: String::new() }
    }

    /// The next event: id, kind and data. Signs of life are passed over.
    async fn next(&mut self) -> Option<(String, String, String)> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                        .map(str::to_owned)
                };
                if let Some(kind) = field("event") {
                    return Some((field("id").unwrap(), kind, field("data").unwrap()));
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.unwrap();
            self.text.push_str(std::str::from_utf8(&chunk.ok()??).unwrap());
        }
    }
}

fn event(id: i64, kind: &str) -> (String, String, String) {
    (id.to_string(), kind.to_owned(), json!({"count": id}).to_string())
}

testkit::both_engines! {
    async fn what_happens_is_told_in_order_and_once(place: TestPlace) {
        let world = World::new(&place).await;
        let mut stream = Stream::open(&world, ALPHA, None).await;
        assert_eq!(stream.response.headers()["content-type"], "text/event-stream");
        assert_eq!(stream.response.headers()["x-accel-buffering"], "no");
        assert_eq!(stream.next().await, Some(event(0, "state")));
        assert_eq!(world.rest("/toy/v1/poke", ALPHA, &json!({"by": 5})).await.status, 200);
        for at in 1..=5 {
            assert_eq!(stream.next().await, Some(event(at, "raised")));
        }
        drop(stream);
        assert_eq!(world.rest("/toy/v1/poke", ALPHA, &json!({"by": 2})).await.status, 200);
        // Who was cut off goes on where it was, also long before.
        for from in [5, 3] {
            let mut stream = Stream::open(&world, ALPHA, Some(&from.to_string())).await;
            for at in from + 1..=7 {
                assert_eq!(stream.next().await, Some(event(at, "raised")));
            }
        }
        world.end().await;
    }
}

#[tokio::test]
async fn who_may_not_listen_is_told_in_the_envelope_of_the_product() {
    let place = TestPlace::sqlite();
    let world = World::with(&place, |config| {
        config.products = vec![Product { budget: Budget { per_minute: 5, per_hour: 60 }, ..toy() }];
    })
    .await;
    for (method, headers, status) in [
        ("GET", vec![], 401),
        ("GET", vec![("x-arena-key", "arena_sk_none")], 401),
        ("GET", vec![("x-arena-key", BETA)], 403),
        ("POST", vec![("x-arena-key", ALPHA)], 405),
        ("GET", vec![("x-arena-key", ALPHA), ("origin", "https://evil.example")], 403),
        ("GET", vec![("x-arena-key", ALPHA), ("last-event-id", "x")], 400),
        ("GET", vec![("x-arena-key", ALPHA), ("last-event-id", "\u{e9}")], 400),
    ] {
        let got = world.send(method, PATH, &headers, b"").await;
        assert_eq!(got.status, status, "{headers:?} {got:?}");
        assert!(got.json()["server_time"].is_string() && got.json()["error"]["code"].is_string(), "{got:?}");
    }
    // Listening counts as a call, also when it is refused afterwards.
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(Stream::open(&world, ALPHA, None).await);
    }
    let spent = world.send("GET", PATH, &[("x-arena-key", ALPHA)], b"").await;
    assert_eq!((spent.status, spent.json()["error"]["code"].as_str()), (429, Some("RATE_LIMITED")));
    drop(open);
    world.end().await;
}

#[tokio::test]
async fn an_account_has_a_share_of_the_streams() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let mut open = Vec::new();
    for _ in 0..ACCOUNT_STREAMS_MAX {
        open.push(Stream::open(&world, ALPHA, None).await);
    }
    let full = world.send("GET", PATH, &[("x-arena-key", ALPHA)], b"").await;
    assert!(full.status == 429 && full.text.contains("close one first"), "{full:?}");
    open.pop();
    let begun = Instant::now();
    while world.client.get(world.url(PATH)).header("x-arena-key", ALPHA).send().await.unwrap().status() != 200
    {
        assert!(begun.elapsed() < PATIENCE, "a seat that was left is not free");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(open);
    world.end().await;
}

#[tokio::test]
async fn a_stream_ends_with_its_key_and_with_the_server() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let for_now = "arena_sk_alpha_for_now";
    let mut revoked = Stream::open(&world, for_now, None).await;
    let mut stays = Stream::open(&world, ALPHA, None).await;
    assert!(revoked.next().await.is_some() && stays.next().await.is_some());
    REVOKED.store(true, Ordering::SeqCst);
    assert_eq!(revoked.next().await, None);
    assert_eq!(world.send("GET", PATH, &[("x-arena-key", for_now)], b"").await.status, 401);
    assert_eq!(world.rest("/toy/v1/poke", ALPHA, &json!({"by": 1})).await.status, 200);
    assert_eq!(stays.next().await, Some(event(1, "raised")));
    world.end().await;
    assert_eq!(stays.next().await, None);
}
