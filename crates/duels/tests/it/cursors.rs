//! Reading messages and histories: at least once, forward only, sealed.

use serde_json::{Value, json};
use testkit::TestPlace;

use crate::world::World;

fn say(nickname: &str, message: &str) -> String {
    json!({"nickname": nickname, "message": message}).to_string()
}

async fn status(world: &World, nickname: &str, cursor: Option<&str>) -> Value {
    world.ok(nickname, "get_arena_status", &json!({"message_ack_cursor": cursor}).to_string()).await
}

fn cursor(status: &Value) -> String {
    status["message_ack_cursor"].as_str().unwrap().to_owned()
}

/// The texts that a status delivers, active duels first.
fn texts(status: &Value) -> Vec<String> {
    ["duels", "completed_message_deliveries"]
        .iter()
        .flat_map(|place| status[place].as_array().unwrap())
        .flat_map(|duel| duel["new_messages"].as_array().unwrap())
        .map(|message| message["message"].as_str().unwrap().to_owned())
        .collect()
}

testkit::both_engines! {
    async fn messages_come_until_they_are_acknowledged(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &say("beta", "one")).await;
        let first = status(&world, "beta", None).await;
        assert_eq!(texts(&first), ["one"]);
        assert_eq!(texts(&status(&world, "beta", None).await), ["one"], "a lost answer costs nothing");
        world.ok("alpha", "send_message", &say("beta", "two")).await;
        let second = status(&world, "beta", Some(&cursor(&first))).await;
        assert_eq!(texts(&second), ["two"]);
        assert_eq!(texts(&status(&world, "beta", Some(&cursor(&second))).await), Vec::<String>::new());
        assert_eq!(texts(&status(&world, "beta", Some(&cursor(&first))).await), Vec::<String>::new(), "a stale cursor moves nothing back");
        assert_eq!(texts(&status(&world, "alpha", None).await), Vec::<String>::new(), "own messages do not come back");
    }

    async fn messages_outlive_the_settlement(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta", "gamma", "delta", "omega"]).await;
        // Four duels of beta end with unread messages; the oldest settlement comes first, three at a time.
        for (other, text) in [("alpha", "a"), ("gamma", "g"), ("delta", "d"), ("omega", "o")] {
            world.ok(other, "challenge_agent", &say("beta", text)).await;
            world.ok(other, "submit_demand", &json!({"nickname": "beta", "count": 1}).to_string()).await;
            world.ok("beta", "submit_demand", &json!({"nickname": other, "count": 1}).to_string()).await;
            world.advance(1000);
        }
        let first = status(&world, "beta", None).await;
        assert_eq!(first["duels"], json!([]));
        assert_eq!(texts(&first), ["a", "g", "d"]);
        assert!(first["summary"].as_str().unwrap().contains('3'));
        let second = status(&world, "beta", Some(&cursor(&first))).await;
        assert_eq!(texts(&second), ["o"], "acknowledging works though no duel is active");
        assert_eq!(texts(&status(&world, "beta", Some(&cursor(&second))).await), Vec::<String>::new());
    }

    async fn a_hundred_messages_come_at_once_and_the_rest_after(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &say("beta", "m0")).await;
        for i in 1..130 {
            world.ok("alpha", "send_message", &say("beta", &format!("m{i}"))).await;
        }
        let first = status(&world, "beta", None).await;
        let wanted: Vec<String> = (0..130).map(|i| format!("m{i}")).collect();
        assert_eq!(texts(&first), wanted[..100]);
        let second = status(&world, "beta", Some(&cursor(&first))).await;
        assert_eq!(texts(&second), wanted[100..]);
    }

    async fn a_refused_call_acknowledges_nothing(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &say("beta", "one")).await;
        let good = cursor(&status(&world, "beta", None).await);
        let mut bytes = good.clone().into_bytes();
        let middle = bytes.len() / 2;
        bytes[middle] = if bytes[middle] == b'A' { b'B' } else { b'A' };
        let history = {
            // A cursor of another tool: enough history for a second page.
            for _ in 0..21 {
                world.ok("beta", "transfer", &json!({"nickname": "alpha", "count": 1}).to_string()).await;
            }
            let page = world.ok("beta", "get_transfer_history", "{}").await;
            page["next_cursor"].as_str().unwrap().to_owned()
        };
        for forged in [String::from_utf8(bytes).unwrap(), format!("{good}A"), "x".to_owned(), history] {
            let input = json!({"message_ack_cursor": forged}).to_string();
            assert_eq!(world.refused("beta", "get_arena_status", &input).await, "INVALID_CURSOR");
        }
        let input = json!({"message_ack_cursor": good}).to_string();
        assert_eq!(world.refused("alpha", "get_arena_status", &input).await, "INVALID_CURSOR", "bound to the account");
        assert_eq!(world.refused("beta", "get_arena_history", &json!({"cursor": good}).to_string()).await, "INVALID_CURSOR", "bound to the tool");
        let extra = json!({"message_ack_cursor": good, "x": 1}).to_string();
        assert_eq!(world.refused("beta", "get_arena_status", &extra).await, "VALIDATION_FAILED");
        assert_eq!(texts(&status(&world, "beta", None).await), ["one"]);
    }

    async fn histories_page_without_gap_or_repeat(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        for i in 0..45 {
            let (from, to) = if i % 3 == 0 { ("beta", "alpha") } else { ("alpha", "beta") };
            world.ok(from, "transfer", &json!({"nickname": to, "count": 1, "message": format!("t{i}")}).to_string()).await;
        }
        let (mut seen, mut next) = (Vec::new(), Value::Null);
        loop {
            let page = world.ok("beta", "get_transfer_history", &json!({"cursor": next}).to_string()).await;
            let rows = page["transfers"].as_array().unwrap();
            assert!(rows.len() <= 20);
            seen.extend(rows.iter().map(|row| row["message"].as_str().unwrap().to_owned()));
            next = page["next_cursor"].clone();
            // A row that arrives between pages does not shift them.
            world.ok("alpha", "transfer", &json!({"nickname": "beta", "count": 1, "message": "late"}).to_string()).await;
            if next.is_null() {
                break;
            }
        }
        let wanted: Vec<String> = (0..45).rev().map(|i| format!("t{i}")).collect();
        assert_eq!(seen, wanted);
    }

    async fn concurrent_acknowledgements_only_move_forward(place: TestPlace) {
        let world = std::sync::Arc::new(World::with(&place, &["alpha", "beta"]).await);
        world.ok("alpha", "challenge_agent", r#"{"nickname":"beta"}"#).await;
        // Both sides: the challenger's position and the other's are kept apart.
        for (writer, reader) in [("alpha", "beta"), ("beta", "alpha")] {
            world.ok(writer, "send_message", &say(reader, "m0")).await;
            let mut cursors = Vec::new();
            for i in 1..8 {
                cursors.push(cursor(&status(&world, reader, None).await));
                world.ok(writer, "send_message", &say(reader, &format!("m{i}"))).await;
            }
            let mut calls = tokio::task::JoinSet::new();
            // The newest first, so that the older ones come late.
            for one in cursors.into_iter().rev() {
                let world = std::sync::Arc::clone(&world);
                calls.spawn(async move { status(&world, reader, Some(&one)).await });
            }
            while let Some(done) = calls.join_next().await {
                done.unwrap();
            }
            assert_eq!(texts(&status(&world, reader, None).await), ["m7"], "{reader}");
        }
    }
}
