//! The stream of what happens to one agent: complete, in order, and resumable after any event.

use kernel::{Fault, operation::StreamEvent};
use serde_json::{Value, json};
use testkit::TestPlace;

use crate::world::World;

/// More than any of these tests needs.
const LOOKS_MAX: usize = 50;

async fn look(world: &World, nickname: &str, last: Option<&str>) -> Result<Vec<StreamEvent>, Fault> {
    let (product, me, last) = (world.product(), world.id(nickname), last.map(str::to_owned));
    world.store.read(move |tx| (product.streams[0].read)(tx, &me, last.as_deref())).await
}

/// Everything after `last`: kinds, data and ids.
async fn after(world: &World, nickname: &str, last: &str) -> Vec<(String, Value, String)> {
    let (mut all, mut last) = (Vec::new(), last.to_owned());
    for _ in 0..LOOKS_MAX {
        let events = look(world, nickname, Some(&last)).await.unwrap();
        let Some(newest) = events.last() else { return all };
        last.clone_from(&newest.id);
        all.extend(events.into_iter().map(|event| {
            assert!(!event.data.contains('\n') && event.id.bytes().all(|b| b.is_ascii_graphic()));
            (event.kind.to_owned(), serde_json::from_str(&event.data).unwrap(), event.id)
        }));
    }
    panic!("the stream tells without end: {all:?}")
}

async fn now(world: &World, nickname: &str) -> StreamEvent {
    let mut events = look(world, nickname, None).await.unwrap();
    assert_eq!(events.len(), 1);
    events.remove(0)
}

fn kinds(events: &[(String, Value, String)]) -> Vec<&str> {
    events.iter().map(|(kind, ..)| kind.as_str()).collect()
}

testkit::both_engines! {
    async fn both_sides_are_told_what_the_other_does(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        let begin = [now(&world, "alpha").await.id, now(&world, "beta").await.id];
        assert_eq!(after(&world, "alpha", &begin[0]).await, []);
        world.ok("alpha", "challenge_agent", r#"{"nickname":"beta","message":"Hello"}"#).await;
        let told = after(&world, "beta", &begin[1]).await;
        assert_eq!(kinds(&told), ["duel.started", "duel.message"]);
        assert_eq!(told[0].1["opponent_nickname"], "alpha");
        assert_eq!((&told[0].1["your_stake"], &told[0].1["distributable_pot"]), (&json!(10), &json!(19)));
        assert!(told[0].1["url"].as_str().unwrap().contains("/duels/"));
        assert_eq!(told[1].1["message"], "Hello");
        // Own words are not told.
        assert_eq!(kinds(&after(&world, "alpha", &begin[0]).await), ["duel.started"]);
        let state = now(&world, "beta").await;
        assert_eq!(serde_json::from_str::<Value>(&state.data).unwrap()["duels"][0]["state"], "CHAT");
        world.ok("beta", "send_message", r#"{"nickname":"alpha","message":"Ten each?"}"#).await;
        world.ok("beta", "submit_demand", r#"{"nickname":"alpha","count":9}"#).await;
        let told = after(&world, "alpha", &begin[0]).await;
        assert_eq!(kinds(&told), ["duel.started", "duel.message", "duel.demand"]);
        assert_eq!((&told[2].1["by"], told[2].1.get("count")), (&json!("opponent"), None), "a demand is secret");
        assert_eq!(kinds(&after(&world, "beta", &state.id).await), ["duel.demand"]);
        world.ok("alpha", "submit_demand", r#"{"nickname":"beta","count":10}"#).await;
        let told = after(&world, "alpha", &told[2].2).await;
        assert_eq!(kinds(&told), ["duel.demand", "duel.finished"]);
        let history = world.ok("alpha", "get_arena_history", "{}").await;
        assert_eq!(told[1].1["result"], history["results"][0]);
        world.ok("alpha", "transfer", r#"{"nickname":"beta","count":3,"message":"thanks"}"#).await;
        let told = after(&world, "beta", &state.id).await;
        assert_eq!(kinds(&told), ["duel.demand", "duel.demand", "duel.finished", "transfer.received"]);
        assert_eq!((&told[3].1["count"], &told[3].1["message"]), (&json!(3), &json!("thanks")));
        assert_eq!(after(&world, "alpha", &now(&world, "alpha").await.id).await, []);
        // Push acknowledges nothing.
        let status = world.ok("alpha", "get_arena_status", "{}").await;
        assert_eq!(status["completed_message_deliveries"][0]["new_messages"][0]["message"], "Ten each?");
    }

    async fn whoever_was_away_is_told_everything_in_order(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta", "gamma"]).await;
        let begin = now(&world, "alpha").await.id;
        world.ok("beta", "challenge_agent", r#"{"nickname":"alpha"}"#).await;
        for at in 0..130 {
            world.ok("beta", "send_message", &json!({"nickname": "alpha", "message": format!("{at}")}).to_string()).await;
        }
        world.ok("gamma", "challenge_agent", r#"{"nickname":"alpha","message":"Hi"}"#).await;
        world.ok("gamma", "submit_demand", r#"{"nickname":"alpha","count":1}"#).await;
        world.ok("alpha", "submit_demand", r#"{"nickname":"gamma","count":1}"#).await;
        world.advance(duels::rules::limits::DUEL_MS);
        world.sweep().await;
        let told = after(&world, "alpha", &begin).await;
        let said: Vec<String> = told
            .iter()
            .filter(|(kind, data, _)| kind == "duel.message" && data["opponent_nickname"] == "beta")
            .map(|(_, data, _)| data["message"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(said, (0..130).map(|at| at.to_string()).collect::<Vec<_>>());
        let ends: Vec<&Value> =
            told.iter().filter(|(kind, ..)| kind == "duel.finished").map(|(_, data, _)| &data["opponent_nickname"]).collect();
        assert_eq!(ends, ["gamma", "beta"]);
        // From the id of any event on, exactly what followed it comes, with the same ids.
        for at in (0..told.len()).step_by(17) {
            assert_eq!(after(&world, "alpha", &told[at].2).await, told[at + 1..], "{at}");
        }
        assert_eq!(after(&world, "alpha", "0.0").await, told);
    }

    async fn a_foreign_id_is_refused_and_a_forged_one_shows_only_ones_own(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta", "gamma"]).await;
        for bad in ["x", "1", "1.1.1", "1.1.zz-1-1", ""] {
            let refused = look(&world, "alpha", Some(bad)).await.unwrap_err();
            assert_eq!(refused.code, Some("VALIDATION_FAILED"), "{bad}");
        }
        world.play("alpha", "beta", [9, 9]).await;
        let duel = after(&world, "beta", "0.0").await[0].1["url"].as_str().unwrap().to_owned();
        let slug = duel.rsplit('/').next().unwrap();
        assert_eq!(after(&world, "gamma", &format!("0.0.{slug}-0-0")).await, []);
        assert_eq!(after(&world, "gamma", "0.0").await, []);
    }
}
