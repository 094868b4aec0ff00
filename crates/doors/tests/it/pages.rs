//! Pages for browsers beside JSON for programs, the theme, errors, and the live stream.

use std::time::Duration;

use serde_json::json;
use testkit::TestPlace;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    product::HOSTILE,
    world::{ALPHA, Got, World},
};

const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
const ALPHA_ID: &str = "00000000000000000000000a";

async fn browse(world: &World, path: &str) -> Got {
    world.send("GET", path, &[BROWSER], b"").await
}

async fn poke(world: &World) {
    assert_eq!(world.rest("/toy/v1/poke", ALPHA, &json!({"by": 1})).await.status, 200);
}

testkit::both_engines! {
    async fn one_path_answers_browsers_and_programs(place: TestPlace) {
        let world = World::new(&place).await;
        poke(&world).await;
        let path = format!("/toy/v1/of/{ALPHA_ID}");
        let page = browse(&world, &path).await;
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
        assert!(page.text.contains("count 1") && page.text.contains("page of 7"), "{}", page.text);
        for accept in ["application/json", "*/*", ""] {
            let got = world.send("GET", &path, &[("accept", accept)], b"").await;
            assert_eq!((got.status, got.json()["count"].as_i64()), (200, Some(1)), "{accept}");
            assert!(got.header("vary").contains("Accept"), "{accept}");
        }
        assert!(page.header("vary").contains("Accept") && page.header("cache-control").starts_with("private"));
        let again = world.send("GET", &path, &[BROWSER, ("if-none-match", page.header("etag"))], b"").await;
        assert_eq!((again.status, again.text.as_str()), (304, ""));
        assert_eq!(world.send("HEAD", &path, &[BROWSER], b"").await.text, "");
        world.end().await;
    }

    async fn the_home_page_has_the_fronts_and_every_way_to_connect(place: TestPlace) {
        let world = World::new(&place).await;
        let home = world.get("/").await;
        assert!(home.text.contains("<p>front of toy</p>") && home.text.contains("href=\"/toy/page\""));
        for client in ["claude mcp add --transport http", "httpUrl", "http_headers", "streamable_http", "&quot;servers&quot;"] {
            assert!(home.text.contains(client), "{client}");
        }
        world.end().await;
    }

    async fn the_stream_tells_what_is_new_and_nothing_twice(place: TestPlace) {
        let world = World::new(&place).await;
        poke(&world).await;
        let mut stream = listen(&world, None).await;
        // What happened between the page and the stream is told, too.
        let first = stream.until("\ndata: <li> </li>\n").await;
        assert!(first.contains("event: settled") && first.contains(&format!("id: {ALPHA_ID}-1\n")), "{first}");
        poke(&world).await;
        stream.until(&format!("id: {ALPHA_ID}-2\n")).await;
        // Who was cut off gets what came after.
        poke(&world).await;
        let mut again = listen(&world, Some(&format!("{ALPHA_ID}-2"))).await;
        let after = again.until(&format!("id: {ALPHA_ID}-3\n")).await;
        assert!(!after.contains(&format!("id: {ALPHA_ID}-1\n")) && !after.contains(&format!("id: {ALPHA_ID}-2\n")), "{after}");
        // Looking again found nothing that was not told before.
        poke(&world).await;
        for stream in [&mut stream, &mut again] {
            let all = stream.until(&format!("id: {ALPHA_ID}-4\n")).await;
            let ids: Vec<_> = all.lines().filter(|line| line.starts_with("id: ")).collect();
            let told: std::collections::BTreeSet<_> = ids.iter().collect();
            assert_eq!(told.len(), ids.len(), "{all}");
        }
        // Somebody who comes after everybody left is not forgotten.
        drop((stream, again));
        for by in 5..8 {
            let mut late = listen(&world, None).await;
            poke(&world).await;
            late.until(&format!("id: {ALPHA_ID}-{by}\n")).await;
        }
        world.end().await;
    }
}

struct Stream {
    socket: TcpStream,
    text: String,
}

impl Stream {
    /// Reads until the text holds `wanted`.
    async fn until(&mut self, wanted: &str) -> String {
        let mut bytes = [0; 4096];
        let reading = async {
            while !self.text.contains(wanted) {
                let read = self.socket.read(&mut bytes).await.unwrap();
                assert!(read > 0, "the stream ended: {}", self.text);
                self.text.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        };
        tokio::time::timeout(Duration::from_secs(20), reading).await.unwrap();
        self.text.clone()
    }
}

async fn listen(world: &World, last_seen: Option<&str>) -> Stream {
    let mut socket = TcpStream::connect(world.address).await.unwrap();
    let seen = last_seen.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
    let head = format!("GET /live HTTP/1.1\r\nHost: {}\r\n{seen}\r\n", world.address);
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut stream = Stream { socket, text: String::new() };
    let head = stream.until("retry: 3000\nevent: clock\ndata: ").await.to_ascii_lowercase();
    assert!(
        head.contains("content-type: text/event-stream") && head.contains("x-accel-buffering: no"),
        "{head}"
    );
    stream
}

#[tokio::test]
async fn a_stream_ends_with_the_server_and_holds_nothing_up() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let mut stream = listen(&world, None).await;
    let begun = std::time::Instant::now();
    world.end().await;
    // Draining takes at most ten seconds; a stream that ignored the end would take them all.
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    let mut rest = Vec::new();
    stream.socket.read_to_end(&mut rest).await.unwrap();
}

#[tokio::test]
async fn listeners_have_a_limit_in_words() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let mut streams = Vec::new();
    for _ in 0..doors::LISTENERS_MAX {
        streams.push(listen(&world, None).await);
    }
    let refused = world.get("/live").await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.text.contains("listeners"), "{refused:?}");
    drop(streams.pop());
    // The place is free once the server has noticed.
    for attempt in 0.. {
        let mut socket = TcpStream::connect(world.address).await.unwrap();
        socket
            .write_all(format!("GET /live HTTP/1.1\r\nHost: {}\r\n\r\n", world.address).as_bytes())
            .await
            .unwrap();
        let mut head = [0; 12];
        socket.read_exact(&mut head).await.unwrap();
        if head.ends_with(b"200") {
            break;
        }
        assert!(attempt < 400, "the place of a listener that left stays taken");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(streams);
    world.end().await;
}

async fn boom() {
    panic!("a mistake");
}

#[tokio::test]
async fn errors_are_pages_for_browsers_and_json_for_programs() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for (method, path, status) in [
        ("GET", "/nowhere", 404),
        ("GET", "/toy/v1/of/unknown", 404),
        ("POST", "/docs", 405),
        ("DELETE", "/", 405),
    ] {
        let page = world.send(method, path, &[BROWSER], b"").await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (status, "text/html; charset=utf-8"),
            "{path}"
        );
        assert!(
            page.text.contains("To the home page") && page.text.contains(page.header("x-request-id")),
            "{path}"
        );
        let json = world.send(method, path, &[], b"").await;
        assert_eq!((json.status, json.header("content-type")), (status, "application/json"), "{path}");
        assert!(json.json()["error"]["code"].is_string(), "{path}");
    }
    let boom = axum::Router::new().route("/boom", axum::routing::get(boom));
    let other = TestPlace::sqlite();
    let broken = World::with(&other, |config| config.extra = boom).await;
    let page = browse(&broken, "/boom").await;
    assert_eq!((page.status, page.header("content-type")), (500, "text/html; charset=utf-8"));
    assert!(
        page.text.contains(page.header("x-request-id")) && !page.text.contains("a mistake"),
        "{}",
        page.text
    );
    assert_eq!(broken.get("/boom").await.header("content-type"), "application/json");
    broken.end().await;
    // Clients read these before they ask a person; a page would confuse them.
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/toy/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/toy/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/toy/mcp",
    ] {
        let got = browse(&world, path).await;
        assert_eq!((got.status, got.header("content-type")), (404, "application/json"), "{path}");
    }
    world.end().await;
}

#[tokio::test]
async fn the_theme_is_chosen_without_a_script() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let form = [BROWSER, ("content-type", "application/x-www-form-urlencoded")];
    let chosen = world.send("POST", "/theme", &form, b"to=dark&back=%2Ftoy%2Fpage").await;
    assert_eq!((chosen.status, chosen.header("location")), (303, "/toy/page"));
    let cookie = chosen.header("set-cookie").split(';').next().unwrap().to_owned();
    let dark = world.send("GET", "/toy/page", &[BROWSER, ("cookie", &cookie)], b"").await;
    assert!(
        dark.text.contains("data-theme=\"dark\"") && dark.text.contains("value=\"light\""),
        "{}",
        dark.text
    );
    assert!(!browse(&world, "/toy/page").await.text.contains("data-theme"));
    for back in ["//evil.example", "https://evil.example", "/%5Cevil.example", "/x%0d%0aSet-Cookie: a=b"] {
        let got = world.send("POST", "/theme", &form, format!("to=light&back={back}").as_bytes()).await;
        assert_eq!((got.status, got.header("location")), (303, "/"), "{back}");
    }
    assert_eq!(world.send("POST", "/theme", &form, b"to=pink").await.status, 400);
    assert_eq!(world.send("POST", "/theme", &form, &[b'x'; 4096]).await.status, 413);
    assert_eq!(world.get("/theme").await.status, 405);
    world.end().await;
}

#[tokio::test]
async fn titles_of_pages_stay_text() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let page = world.get("/toy/page").await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.text.contains(&format!("page of {}", HOSTILE.len())));
    assert_eq!(page.text.matches("<script").count(), 1, "{}", page.text);
    assert!(!page.text.contains("<img"), "{}", page.text);
    world.end().await;
}
