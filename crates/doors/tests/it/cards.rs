//! Share cards: when they are drawn, what caches are told, and what happens when many ask at once. The
//! press of these tests draws no picture but counts, and can be held.

use std::sync::{
    Arc, Condvar, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use doors::{CARDS_DRAWN_AT_ONCE_MAX, CARDS_WAITING_MAX, CardPress};
use kernel::{Fault, card::Card};
use serde_json::json;
use testkit::TestPlace;

use crate::world::{ALPHA, World};

const ALPHA_ID: &str = "00000000000000000000000a";

#[derive(Default)]
struct Held {
    drawn: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    waits: Mutex<bool>,
    released: Condvar,
}

impl CardPress for Held {
    fn mark(&self, card: &Card) -> String {
        match card {
            Card::Agent(agent) => format!("{:024x}", agent.wins),
            _ => "a".repeat(24),
        }
    }

    fn draw(&self, card: &Card) -> Result<Vec<u8>, Fault> {
        let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
        drop(self.released.wait_while(self.waits.lock().unwrap(), |held| *held).unwrap());
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        self.drawn.fetch_add(1, Ordering::SeqCst);
        match card {
            Card::Agent(agent) if agent.wins == 5 => Err(Fault::internal("out of ink")),
            _ => Ok(format!("{card:?}").into_bytes()),
        }
    }

    fn size(&self) -> [u32; 2] {
        [1200, 630]
    }
}

impl Held {
    fn hold(&self, is_held: bool) {
        *self.waits.lock().unwrap() = is_held;
        self.released.notify_all();
    }
}

async fn world(place: &TestPlace) -> (World, Arc<Held>) {
    let press = Arc::new(Held::default());
    let shared = Arc::clone(&press);
    (World::with(place, |config| config.cards = Some(shared)).await, press)
}

async fn poke(world: &World, by: i64) {
    assert_eq!(world.rest("/toy/v1/poke", ALPHA, &json!({"by": by})).await.status, 200);
}

testkit::both_engines! {
    async fn a_card_is_drawn_once_and_known_by_its_mark(place: TestPlace) {
        let (world, press) = world(&place).await;
        poke(&world, 2).await;
        let path = format!("/toy/v1/of/{ALPHA_ID}/card.png");
        let first = world.get(&path).await;
        assert_eq!((first.status, first.header("content-type")), (200, "image/png"));
        assert!(first.text.contains("wins: 2"), "{}", first.text);
        assert_eq!(first.header("cache-control"), "public, max-age=7");
        assert_eq!(first.header("x-content-type-options"), "nosniff");
        assert_eq!(first.header("access-control-allow-origin"), "*");
        let known = [("if-none-match", first.header("etag"))];
        let again = world.send("GET", &path, &known, b"").await;
        assert_eq!((again.status, again.text.as_str()), (304, ""));
        let head = world.send("HEAD", &path, &[], b"").await;
        assert_eq!((head.status, head.text.as_str(), head.header("etag")), (200, "", first.header("etag")));
        assert_eq!(head.header("content-length"), first.text.len().to_string());
        assert_eq!(world.get(&format!("{path}?v=1234")).await.text, first.text, "a query changes nothing");
        assert_eq!(press.drawn.load(Ordering::SeqCst), 1);
        poke(&world, 1).await;
        let changed = world.send("GET", &path, &known, b"").await;
        assert!(changed.status == 200 && changed.text.contains("wins: 3"), "{}", changed.text);
        assert_eq!(press.drawn.load(Ordering::SeqCst), 2);
        world.end().await;
    }

    async fn who_knows_the_picture_causes_no_drawing(place: TestPlace) {
        let (world, press) = world(&place).await;
        for known in ["*", &format!("\"{}\"", "a".repeat(24)), &format!("\"b\", W/\"{}\"", "a".repeat(24))] {
            assert_eq!(world.send("GET", "/card.png", &[("if-none-match", known)], b"").await.status, 304);
        }
        assert_eq!(press.drawn.load(Ordering::SeqCst), 0);
        assert_eq!(world.get("/card.png").await.status, 200);
        world.end().await;
    }

    async fn what_has_no_card_is_told_in_a_few_words(place: TestPlace) {
        let (world, press) = world(&place).await;
        for id in ["nobody", &"x".repeat(300), "..%2f..%2fetc%2fpasswd"] {
            let got = world.get(&format!("/toy/v1/of/{id}/card.png")).await;
            assert_eq!(got.status, 404, "{id}: {}", got.text);
            assert!(got.text.len() < 300 && got.json()["error"]["code"].is_string(), "{}", got.text);
        }
        for path in ["/card.png", "/toy/v1/of/nobody/card.png"] {
            let got = world.send("POST", path, &[], b"{}").await;
            assert_eq!((got.status, got.header("allow")), (405, "GET, HEAD"));
        }
        poke(&world, 5).await;
        let failed = world.get(&format!("/toy/v1/of/{ALPHA_ID}/card.png")).await;
        assert_eq!(failed.status, 500);
        assert!(!failed.text.contains("ink"), "{}", failed.text);
        assert_eq!(press.drawn.load(Ordering::SeqCst), 1);
        world.end().await;
    }

    async fn too_many_at_once_are_sent_away_and_the_others_are_served(place: TestPlace) {
        let (world, press) = world(&place).await;
        press.hold(true);
        let (tell, mut answers) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..=CARDS_WAITING_MAX {
            let (asking, tell) = (world.client.get(world.url("/card.png")).send(), tell.clone());
            tokio::spawn(async move {
                let answer = asking.await.unwrap();
                tell.send((answer.status().as_u16(), answer.headers().contains_key("retry-after"))).unwrap();
            });
        }
        // Nobody else can be answered while the press is held.
        assert_eq!(answers.recv().await, Some((503, true)));
        press.hold(false);
        for _ in 0..CARDS_WAITING_MAX {
            assert_eq!(answers.recv().await, Some((200, false)));
        }
        assert!(press.drawn.load(Ordering::SeqCst) <= CARDS_DRAWN_AT_ONCE_MAX, "who waited takes what was drawn");
        assert!(press.most_at_once.load(Ordering::SeqCst) <= CARDS_DRAWN_AT_ONCE_MAX);
        assert_eq!(world.get("/card.png").await.status, 200, "there is room again");
        world.end().await;
    }

    async fn pages_name_their_card_by_its_whole_address(place: TestPlace) {
        let (world, _press) = world(&place).await;
        poke(&world, 1).await;
        let path = format!("/toy/v1/of/{ALPHA_ID}");
        let first = image_of(&world, &path).await;
        assert!(first.starts_with(&format!("https://arena.example{path}/card.png?v=")), "{first}");
        assert_eq!(world.get(first.strip_prefix("https://arena.example").unwrap()).await.status, 200);
        poke(&world, 1).await;
        assert_ne!(image_of(&world, &path).await, first, "what changed is at a new address");
        for path in ["/", "/toy/page", "/docs"] {
            assert_eq!(image_of(&world, path).await, "https://arena.example/card.png", "{path}");
        }
        let page = world.send("GET", "/toy/page", &[BROWSER], b"").await.text;
        for told in [
            "property=\"og:url\" content=\"https://arena.example/toy/page\"",
            "property=\"og:image:width\" content=\"1200\"",
            "property=\"og:image:height\" content=\"630\"",
            "property=\"og:image:alt\"",
            "name=\"twitter:card\" content=\"summary_large_image\"",
        ] {
            assert!(page.contains(told), "{told} in {page}");
        }
        let missing = world.send("GET", "/nowhere", &[BROWSER], b"").await;
        assert!(missing.status == 404 && !missing.text.contains("og:"), "nobody shares an error");
        world.end().await;
    }

    async fn without_a_press_there_are_no_cards(place: TestPlace) {
        let world = World::new(&place).await;
        poke(&world, 1).await;
        for path in ["/card.png".to_owned(), format!("/toy/v1/of/{ALPHA_ID}/card.png")] {
            assert_eq!(world.get(&path).await.status, 404, "{path}");
        }
        let page = world.send("GET", "/toy/page", &[BROWSER], b"").await.text;
        assert!(!page.contains("og:image") && page.contains("og:title"), "{page}");
        assert!(page.contains("name=\"twitter:card\" content=\"summary\""), "{page}");
        world.end().await;
    }
}

const BROWSER: (&str, &str) = ("accept", "text/html");

async fn image_of(world: &World, path: &str) -> String {
    let page = world.send("GET", path, &[BROWSER], b"").await.text;
    let (_, rest) = page.split_once("property=\"og:image\" content=\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}
