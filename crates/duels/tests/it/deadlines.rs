//! Deadlines: a missing demand is zero, and a due duel settles once, whoever meets it.

use std::sync::Arc;

use serde_json::json;
use testkit::TestPlace;

use crate::world::{World, minutes};

fn to(nickname: &str) -> String {
    json!({"nickname": nickname}).to_string()
}

fn demand(nickname: &str, count: i64) -> String {
    json!({"nickname": nickname, "count": count}).to_string()
}

testkit::both_engines! {
    async fn the_worker_settles_at_the_deadline_and_not_before(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &to("beta")).await;
        world.ok("alpha", "submit_demand", &demand("beta", 12)).await;
        world.advance(minutes(10) - 1);
        assert_eq!(world.settle_due().await, 0);
        world.advance(1);
        let deadline = world.now();
        world.advance(minutes(3));
        assert_eq!(world.settle_due().await, 1);
        assert_eq!(world.settle_due().await, 0);
        let result = world.ok("beta", "get_arena_history", "{}").await["results"][0].clone();
        assert_eq!(result["finished_at"], json!(deadline), "however late the worker ran");
        assert_eq!(result["your_demand_source"], "DEFAULT_TIMEOUT");
        assert_eq!(result["your_demand"], 0);
        assert_eq!(result["opponent_payout"], 12);
        assert_eq!(result["platform_credit"], 8);
        world.ok("alpha", "enter_arena", r#"{"pitch":"x"}"#).await;
        world.ok("beta", "enter_arena", r#"{"pitch":"x"}"#).await;
        let refused = world.call("beta", "challenge_agent", &to("alpha")).await.unwrap_err();
        assert_eq!(refused["error"]["retry_after_seconds"], 120, "the cooldown counts from the deadline");
        assert_eq!(world.refused("beta", "submit_demand", &demand("alpha", 0)).await, "DUEL_FINISHED", "a timeout is no deliberate zero");
        assert_eq!(world.ok("alpha", "submit_demand", &demand("beta", 12)).await["action"], "FINISHED_DUEL");
        world.assert_sound().await;
    }

    async fn an_overdue_duel_met_by_a_refused_call_stays_settled(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &to("beta")).await;
        world.advance(minutes(10));
        let late = json!({"nickname": "beta", "message": "Too late"}).to_string();
        assert_eq!(world.refused("alpha", "send_message", &late).await, "DUEL_FINISHED");
        assert_eq!(world.settle_due().await, 0, "the refused call has settled and committed");
        let history = world.ok("beta", "get_arena_history", "{}").await;
        assert_eq!(history["results"][0]["platform_credit"], 20);
        world.assert_sound().await;
    }

    async fn a_demand_at_the_deadline_is_too_late(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &to("beta")).await;
        world.ok("beta", "submit_demand", &demand("alpha", 5)).await;
        world.advance(minutes(10));
        assert_eq!(world.refused("alpha", "submit_demand", &demand("beta", 5)).await, "DUEL_FINISHED");
        let same = world.ok("beta", "submit_demand", &demand("alpha", 5)).await;
        assert_eq!(same["action"], "FINISHED_DUEL");
        assert_eq!(same["result"]["your_payout"], 5);
        world.assert_sound().await;
    }

    async fn a_challenge_settles_the_stored_overdue_duel_once(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &to("beta")).await;
        world.advance(minutes(11));
        let out = world.ok("beta", "challenge_agent", &json!({"nickname": "alpha", "message": "Again?"}).to_string()).await;
        assert_eq!((&out["action"], &out["state"]), (&json!("FINISHED_DUEL"), &json!("FINISHED")));
        assert_eq!(out["message_sent"], false);
        assert_eq!(out["retry_after_seconds"], 240);
        assert_eq!(out["result"]["settlement"], "WITHIN_POT");
        assert_eq!(out["balance"], json!({"total": 90, "available": 90, "locked": 0}));
        world.ok("alpha", "enter_arena", r#"{"pitch":"x"}"#).await;
        world.ok("beta", "enter_arena", r#"{"pitch":"x"}"#).await;
        assert_eq!(world.refused("beta", "challenge_agent", &to("alpha")).await, "PAIR_COOLDOWN");
        world.assert_sound().await;
    }

    async fn status_and_entering_settle_what_is_due(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta", "gamma"]).await;
        world.ok("alpha", "challenge_agent", &to("beta")).await;
        world.ok("alpha", "challenge_agent", &to("gamma")).await;
        world.advance(minutes(10));
        let status = world.ok("alpha", "get_arena_status", "{}").await;
        assert_eq!(status["duels"], json!([]), "an expired hold is never shown");
        assert_eq!(status["balance"]["locked"], 0);
        assert_eq!(status["recent_results"].as_array().unwrap().len(), 2);
        world.ok("beta", "enter_arena", r#"{"pitch":"x"}"#).await;
        world.assert_sound().await;
    }

    async fn many_at_once_settle_a_duel_once(place: TestPlace) {
        let world = Arc::new(World::with(&place, &["alpha", "beta"]).await);
        world.ok("alpha", "challenge_agent", &to("beta")).await;
        world.advance(minutes(10));
        let mut calls = tokio::task::JoinSet::new();
        for i in 0..24 {
            let world = Arc::clone(&world);
            calls.spawn(async move {
                match i % 4 {
                    0 => drop(world.call("alpha", "get_arena_status", "{}").await),
                    1 => drop(world.call("beta", "challenge_agent", &to("alpha")).await),
                    2 => drop(world.call("beta", "submit_demand", &demand("alpha", 3)).await),
                    _ => drop(world.settle_due().await),
                }
            });
        }
        while let Some(done) = calls.join_next().await {
            done.unwrap();
        }
        let history = world.ok("alpha", "get_arena_history", "{}").await;
        assert_eq!(history["results"].as_array().unwrap().len(), 1);
        world.assert_sound().await;
    }

    async fn simultaneous_demands_settle_once_with_both(place: TestPlace) {
        let world = Arc::new(World::with(&place, &["alpha", "beta"]).await);
        for round in 0..10 {
            world.ok("alpha", "enter_arena", r#"{"pitch":"x"}"#).await;
            world.ok("beta", "enter_arena", r#"{"pitch":"x"}"#).await;
            world.ok("alpha", "challenge_agent", &to("beta")).await;
            let (one, two) = (Arc::clone(&world), Arc::clone(&world));
            let (left, right) = tokio::join!(
                tokio::spawn(async move { one.ok("alpha", "submit_demand", &demand("beta", 4)).await }),
                tokio::spawn(async move { two.ok("beta", "submit_demand", &demand("alpha", 4)).await }),
            );
            let finished = [left.unwrap(), right.unwrap()].iter().filter(|out| out["state"] == "FINISHED").count();
            assert_eq!(finished, 1, "round {round}");
            world.advance(minutes(5));
        }
        let history = world.ok("alpha", "get_arena_history", "{}").await;
        assert!(history["results"].as_array().unwrap().iter().all(|row| row["your_payout"] == 4));
        world.assert_sound().await;
    }

    async fn crossing_challenges_make_one_duel(place: TestPlace) {
        let names: Vec<String> = (0..6).map(|i| format!("agent-{i}")).collect();
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        let world = Arc::new(World::with(&place, &refs).await);
        let mut calls = tokio::task::JoinSet::new();
        for a in 0..6 {
            for b in (0..6).filter(|b| *b != a) {
                let (world, from, other) = (Arc::clone(&world), names[a].clone(), names[b].clone());
                calls.spawn(async move { world.call(&from, "challenge_agent", &to(&other)).await });
            }
        }
        while let Some(done) = calls.join_next().await {
            match done.unwrap() {
                Ok(out) => assert!(["CREATED_DUEL", "EXISTING_DUEL"].contains(&out["action"].as_str().unwrap())),
                Err(body) => assert!(
                    ["DUEL_LIMIT_REACHED", "AGENT_NOT_AVAILABLE"].contains(&body["error"]["code"].as_str().unwrap()),
                    "{body}"
                ),
            }
        }
        world.assert_sound().await;
        for name in &names {
            let status = world.ok(name, "get_arena_status", "{}").await;
            assert!(status["duels"].as_array().unwrap().len() <= 3);
        }
    }
}
