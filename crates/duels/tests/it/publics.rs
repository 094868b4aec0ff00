//! What anybody sees: nothing secret before settlement, everything provable after it.

use duels::rules::sealed::commitment;
use kernel::operation::Asked;
use serde_json::{Value, json};
use testkit::TestPlace;

use crate::world::{PUBLIC_URL, World};

async fn read(world: &World, id: &'static str, parameter: &str) -> Value {
    let (product, parameter) = (std::sync::Arc::clone(&world.product), parameter.to_owned());
    let json = world
        .store
        .read(move |tx| {
            let public = product.publics.iter().find(|public| public.id == id).expect("a public read");
            (public.read)(tx, &Asked { parameter, query: Vec::new() })
        })
        .await
        .unwrap();
    serde_json::from_str(&json).unwrap()
}

testkit::both_engines! {
    async fn a_duel_is_secret_until_settled_and_provable_after(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "enter_arena", r#"{"pitch":"Here","model_key":"a/b"}"#).await;
        world.ok("alpha", "challenge_agent", r#"{"nickname":"beta","message":"<b>Hello</b>"}"#).await;
        world.ok("alpha", "submit_demand", r#"{"nickname":"beta","count":7}"#).await;
        let open = read(&world, "activeDuels", "").await;
        let slug = open["duels"][0]["slug"].as_str().unwrap().to_owned();
        assert_eq!(open["duels"][0]["participants"][0]["demand"], json!(null));
        world.advance(600_000);
        let active = read(&world, "duel", &slug).await;
        assert_eq!(active["settled"], false);
        assert_eq!(active["transcript"], json!([]));
        let sealed = active["participants"][0]["commitment"].as_str().unwrap().to_owned();
        for secret in ["salt", "demand", "demand_source", "payout", "result", "model_key"] {
            assert_eq!(active["participants"][0][secret], json!(null), "{secret}");
        }
        assert_eq!(active["participants"][1]["commitment"], json!(null));
        assert_eq!(open["duels"][0]["participants"][0]["commitment"].as_str(), Some(sealed.as_str()));
        assert!(!active.to_string().contains("Hello") && active["messages"].is_null());

        world.settle_due().await;
        let settled = read(&world, "duel", &slug).await;
        assert_eq!(settled["settled"], true);
        assert_eq!(settled["transcript"][0]["message"], "<b>Hello</b>", "escaping is each output's work");
        let side = &settled["participants"][0];
        let salt = side["salt"].as_str().unwrap();
        assert_eq!(salt.len(), 64);
        assert_eq!(side["commitment"].as_str(), Some(sealed.as_str()));
        assert_eq!(commitment(&slug, "alpha", 7, salt), sealed);
        assert_eq!(settled["participants"][1]["salt"], json!(null), "a timeout has no seal");
        assert_eq!(settled["participants"][1]["demand_source"], "DEFAULT_TIMEOUT");

        assert_eq!(read(&world, "activeDuels", "").await["duels"], json!([]));
        let feed = read(&world, "settledDuels", "").await;
        assert_eq!(feed["duels"][0]["public_slug"], json!(slug));
        assert_eq!(feed["duels"][0]["sealed_demands"][0]["salt"].as_str(), Some(salt));
        let tool = world.ok("beta", "get_arena_feed", "{}").await;
        assert_eq!(tool["events"][0]["duel_url"], json!(format!("{PUBLIC_URL}/duels/{slug}")));
        assert!(!tool.to_string().contains(salt), "the tool's feed carries no seals");
        let agent = read(&world, "agent", &world.id("alpha")).await;
        assert_eq!(agent["nickname"], "alpha");
        assert_eq!(agent["recent_duels"][0]["public_slug"], json!(slug));
        assert_eq!(read(&world, "agentLeaderboard", "").await["top"], json!([]));
    }
}

testkit::both_engines! {
    async fn the_feed_stays_within_its_bytes(place: TestPlace) {
        let names: Vec<String> = (0..6).map(|i| format!("{}-{i}", "long-nickname-of-an-agent-ab")).collect();
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        let world = World::with(&place, &refs).await;
        let model = format!("provider/{}", "m".repeat(90));
        let mut played = 0;
        for round in 0..4 {
            for (a, b) in [(0, 1), (2, 3), (4, 5), (0, 2), (1, 3), (4, 2)] {
                for one in [a, b] {
                    let input = json!({"pitch": "x", "model_key": model}).to_string();
                    world.ok(&names[one], "enter_arena", &input).await;
                }
                world.play(&names[a], &names[b], [5, 4]).await;
                played += 1;
                let feed = world.ok(&names[0], "get_arena_feed", "{}").await;
                let bytes = serde_json::to_vec(&feed).unwrap().len();
                let events = feed["events"].as_array().unwrap();
                assert!(bytes <= 14_336, "round {round}: {bytes} bytes");
                if events.len() < played.min(20) {
                    // One more of the same size would not have fitted.
                    let one = serde_json::to_vec(&events[0]).unwrap().len() + 1;
                    assert!(bytes + one > 14_336, "{bytes} + {one}");
                }
                let newest = events[0]["participants"].clone();
                assert_eq!(newest[0]["nickname"], json!(names[a]), "the newest is kept");
            }
            world.advance(300_000);
        }
        let feed = world.ok(&names[0], "get_arena_feed", "{}").await;
        assert!(feed["events"].as_array().unwrap().len() < 20, "the limit was reached at all");
    }
}
