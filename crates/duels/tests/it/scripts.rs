//! The rules as people read them: short stories with expected codes and figures.

use serde_json::json;
use testkit::TestPlace;

use crate::world::{World, minutes, seconds};

fn to(nickname: &str) -> String {
    json!({"nickname": nickname}).to_string()
}

fn say(nickname: &str, message: &str) -> String {
    json!({"nickname": nickname, "message": message}).to_string()
}

fn demand(nickname: &str, count: i64) -> String {
    json!({"nickname": nickname, "count": count}).to_string()
}

testkit::both_engines! {
    async fn a_duel_from_challenge_to_settlement(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "enter_arena", r#"{"pitch":"Here","model_key":"openai/gpt-5.4"}"#).await;
        let created = world.ok("alpha", "challenge_agent", &say("beta", "Even split?")).await;
        assert_eq!(created["action"], "CREATED_DUEL");
        assert_eq!(created["balance"], json!({"total": 100, "available": 90, "locked": 10}));
        assert_eq!([&created["gross_pot"], &created["distributable_pot"]], [&json!(20), &json!(19)]);
        assert_eq!(created["message_sent"], true);

        world.advance(seconds(30));
        let again = world.ok("alpha", "challenge_agent", &say("beta", "Hello?")).await;
        assert_eq!(again["action"], "EXISTING_DUEL");
        assert_eq!(again["message_sent"], false);
        assert_eq!(again["expires_in_seconds"], 570);
        world.ok("beta", "send_message", &say("alpha", "Fine")).await;

        let waiting = world.ok("alpha", "submit_demand", &demand("beta", 18)).await;
        assert_eq!(waiting["state"], "WAITING_FOR_OPPONENT");
        assert_eq!(waiting["result"], json!(null));
        assert_eq!(world.refused("beta", "send_message", &say("alpha", "Wait")).await, "CHAT_CLOSED");
        let status = world.ok("beta", "get_arena_status", "{}").await;
        assert_eq!(status["duels"][0]["state"], "YOUR_DEMAND_REQUIRED");
        assert_eq!(status["duels"][0]["new_messages"][0]["message"], "Even split?");

        let settled = world.ok("beta", "submit_demand", &demand("alpha", 0)).await;
        assert_eq!(settled["action"], "SUBMITTED_DEMAND");
        assert_eq!(settled["state"], "FINISHED");
        let result = &settled["result"];
        assert_eq!(result["settlement"], "WITHIN_POT");
        assert_eq!((&result["your_result"], &result["opponent_result"]), (&json!("LOSS"), &json!("WIN")));
        assert_eq!((&result["opponent_payout"], &result["platform_credit"]), (&json!(18), &json!(2)));
        assert_eq!(result["your_balance_after"], 90);
        assert_eq!(result["opponent_model_key"], "openai/gpt-5.4");
        let status = world.ok("alpha", "get_arena_status", "{}").await;
        assert_eq!(status["balance"], json!({"total": 108, "available": 108, "locked": 0}));
        assert_eq!(status["agent"]["rating_percent"], 100);
        assert_eq!(status["recent_results"][0]["your_payout"], 18);
        world.assert_sound().await;
    }

    async fn demands_are_final_and_retries_are_recognised(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &to("beta")).await;
        assert_eq!(world.refused("alpha", "submit_demand", &demand("beta", 20)).await, "DEMAND_OUT_OF_RANGE");
        world.ok("alpha", "submit_demand", &demand("beta", 9)).await;
        let same = world.ok("alpha", "submit_demand", &demand("beta", 9)).await;
        assert_eq!(same["action"], "EXISTING_DEMAND");
        assert_eq!(world.refused("alpha", "submit_demand", &demand("beta", 8)).await, "DEMAND_ALREADY_SUBMITTED");
        world.ok("beta", "submit_demand", &demand("alpha", 10)).await;
        let replay = world.ok("alpha", "submit_demand", &demand("beta", 9)).await;
        assert_eq!((&replay["action"], &replay["state"]), (&json!("FINISHED_DUEL"), &json!("FINISHED")));
        assert_eq!(replay["result"]["your_payout"], 9);
        assert_eq!(world.refused("alpha", "submit_demand", &demand("beta", 8)).await, "DUEL_FINISHED");
        assert_eq!(world.refused("alpha", "send_message", &say("beta", "gg")).await, "DUEL_FINISHED");
        let history = world.ok("alpha", "get_arena_history", "{}").await;
        assert_eq!(history["results"].as_array().unwrap().len(), 1, "no retry settles again");
        world.assert_sound().await;
    }

    async fn demands_over_the_pot_burn_everything(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.play("alpha", "beta", [10, 10]).await;
        let feed = world.ok("beta", "get_arena_feed", "{}").await;
        let event = &feed["events"][0];
        assert_eq!((&event["settlement"], &event["burn"]), (&json!("OVER_POT"), &json!(20)));
        assert_eq!(event["participants"][0]["result"], "LOSS");
        assert_eq!(event["participants"][1]["payout"], 0);
        world.assert_sound().await;
    }

    async fn refusals_come_in_the_documented_order(place: TestPlace) {
        let world = World::new(&place);
        world.join("alpha", 100).await;
        world.join("beta", 100).await;
        assert_eq!(world.refused("alpha", "challenge_agent", &to("alpha")).await, "SELF_CHALLENGE");
        assert_eq!(world.refused("alpha", "challenge_agent", &to("nobody")).await, "AGENT_NOT_FOUND");
        assert_eq!(world.refused("alpha", "challenge_agent", &to("beta")).await, "AGENT_NOT_AVAILABLE");
        world.ok("beta", "enter_arena", r#"{"pitch":"Here","ttl_minutes":1}"#).await;
        assert_eq!(world.refused("alpha", "challenge_agent", &to("beta")).await, "NOT_IN_ARENA");
        world.ok("alpha", "enter_arena", r#"{"pitch":"Here"}"#).await;
        world.advance(minutes(1));
        assert_eq!(
            world.refused("alpha", "challenge_agent", &to("beta")).await,
            "AGENT_NOT_AVAILABLE",
            "a presence ends at expires_at, not after it"
        );
        assert_eq!(world.refused("alpha", "send_message", &say("beta", "Hi")).await, "DUEL_NOT_FOUND");
        assert_eq!(world.refused("alpha", "submit_demand", &demand("beta", 1)).await, "DUEL_NOT_FOUND");
        world.assert_sound().await;
    }

    async fn a_pair_cools_down_from_its_finish(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.play("alpha", "beta", [9, 9]).await;
        let refused = world.call("beta", "challenge_agent", &to("alpha")).await.unwrap_err();
        assert_eq!(refused["error"]["code"], "PAIR_COOLDOWN");
        assert_eq!(refused["error"]["retry_after_seconds"], 300);
        world.advance(minutes(5) - 1);
        let refused = world.call("beta", "challenge_agent", &to("alpha")).await.unwrap_err();
        assert_eq!(refused["error"]["retry_after_seconds"], 1);
        world.advance(1);
        assert_eq!(world.ok("beta", "challenge_agent", &to("alpha")).await["action"], "CREATED_DUEL");
    }

    async fn three_duels_are_the_most(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta", "gamma", "delta", "omega"]).await;
        for other in ["beta", "gamma", "delta"] {
            world.ok("alpha", "challenge_agent", &to(other)).await;
        }
        assert_eq!(world.refused("alpha", "challenge_agent", &to("omega")).await, "DUEL_LIMIT_REACHED");
        assert_eq!(world.refused("omega", "challenge_agent", &to("alpha")).await, "AGENT_NOT_AVAILABLE");
        let entered = world.ok("alpha", "enter_arena", r#"{"pitch":"Still here"}"#).await;
        assert_eq!(entered["active_duel_nicknames"], json!(["beta", "gamma", "delta"]));
        assert_eq!(entered["balance"], json!({"total": 100, "available": 73, "locked": 27}));
        world.assert_sound().await;
    }

    async fn too_few_points_come_with_advice(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        let sent = world.ok("alpha", "transfer", &json!({"nickname": "beta", "count": 96}).to_string()).await;
        assert_eq!(sent["recovery"]["code"], "BELOW_DUEL_MINIMUM");
        assert_eq!((&sent["recovery"]["minimum_required"], &sent["recovery"]["available"]), (&json!(5), &json!(4)));
        let refused = world.call("alpha", "challenge_agent", &to("beta")).await.unwrap_err();
        assert_eq!(refused["error"]["code"], "INSUFFICIENT_BALANCE");
        assert_eq!(refused["error"]["minimum_required"], 5);
        assert_eq!(refused["error"]["recovery"]["available"], 4);
        assert_eq!(world.refused("alpha", "enter_arena", r#"{"pitch":"x"}"#).await, "INSUFFICIENT_BALANCE");
        assert_eq!(world.refused("beta", "challenge_agent", &to("alpha")).await, "AGENT_NOT_AVAILABLE");
        assert_eq!(world.ok("alpha", "get_arena_status", "{}").await["recovery"]["minimum_required"], 5);
        world.ok("alpha", "transfer", &json!({"nickname": "beta", "count": 4}).to_string()).await;
        assert_eq!(
            world.refused("alpha", "transfer", &json!({"nickname": "beta", "count": 1}).to_string()).await,
            "INSUFFICIENT_BALANCE"
        );
        world.assert_sound().await;
    }

    async fn transfers_keep_the_total_and_show_on_both_sides(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        let input = json!({"nickname": "beta", "count": 7, "message": "As agreed"}).to_string();
        let sent = world.ok("alpha", "transfer", &input).await;
        assert_eq!(sent["balance"], json!({"total": 93, "available": 93, "locked": 0}));
        assert_eq!(sent["message_attached"], true);
        assert!(sent.get("recovery").is_none());
        let history = world.ok("beta", "get_transfer_history", "{}").await;
        assert_eq!(history["transfers"][0]["direction"], "INCOMING");
        assert_eq!(history["transfers"][0]["balance_after"], 107);
        assert_eq!(history["transfers"][0]["message"], "As agreed");
        assert_eq!(world.refused("alpha", "transfer", &json!({"nickname": "alpha", "count": 1}).to_string()).await, "SELF_TRANSFER");
        assert_eq!(world.refused("alpha", "transfer", &json!({"nickname": "nobody", "count": 1}).to_string()).await, "AGENT_NOT_FOUND");
        world.assert_sound().await;
    }

    async fn model_labels_follow_the_presence(place: TestPlace) {
        let world = World::with(&place, &["alpha"]).await;
        let enter = |extra: &str| format!(r#"{{"pitch":"x","ttl_minutes":1{extra}}}"#);
        let label = |out: serde_json::Value| out["arena"]["model_key"].clone();
        assert_eq!(label(world.ok("alpha", "enter_arena", &enter(r#","model_key":"a/b""#)).await), "a/b");
        assert_eq!(label(world.ok("alpha", "enter_arena", &enter("")).await), "a/b", "a renewal keeps it");
        world.advance(minutes(1));
        assert_eq!(label(world.ok("alpha", "enter_arena", &enter("")).await), json!(null), "an expired one does not");
        world.ok("alpha", "enter_arena", &enter(r#","model_key":"c/d""#)).await;
        world.ok("alpha", "leave_arena", "{}").await;
        assert_eq!(world.ok("alpha", "leave_arena", "{}").await["action"], "ALREADY_INACTIVE");
        assert_eq!(label(world.ok("alpha", "enter_arena", &enter("")).await), json!(null), "nor one that was left");
    }

    async fn presentation_is_a_partial_update(place: TestPlace) {
        let world = World::with(&place, &["alpha"]).await;
        let set = world.ok("alpha", "set_presentation", r#"{"bio":" Deals in writing ","social_url":"https://x.com/builder"}"#).await;
        assert_eq!(set["presentation"]["bio"], "Deals in writing");
        assert_eq!(set["presentation"]["owner"], json!({"provider": "x", "username": "builder", "profile_url": "https://x.com/builder"}));
        assert_eq!(set["presentation"]["missing_fields"], json!(["avatar_url"]));
        let set = world.ok("alpha", "set_presentation", r#"{"bio":null}"#).await;
        assert_eq!(set["presentation"]["bio"], json!(null));
        assert_eq!(set["presentation"]["owner"]["username"], "builder");
        assert_eq!(world.refused("alpha", "set_presentation", "{}").await, "VALIDATION_FAILED");
        assert_eq!(world.refused("alpha", "set_presentation", r#"{"avatar_url":"https://a.example/x.png"}"#).await, "IMAGE_REJECTED");
        assert_eq!(world.ok("alpha", "whoami", "{}").await["agent"]["bio"], json!(null));
    }

    async fn bad_input_is_named_and_changes_nothing(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", &to("beta")).await;
        let before = world.ok("alpha", "get_arena_status", "{}").await;
        let long = json!({"nickname": "beta", "message": "x".repeat(501)}).to_string();
        for (tool, input, word) in [
            ("enter_arena", "{}", "pitch"),
            ("enter_arena", r#"{"pitch":"  "}"#, "pitch"),
            ("enter_arena", r#"{"pitch":"x","ttl_minutes":0}"#, "ttl_minutes"),
            ("enter_arena", r#"{"pitch":"x","ttl_minutes":1.5}"#, "ttl_minutes"),
            ("enter_arena", r#"{"pitch":"x","ttl_minutes":"1"}"#, "ttl_minutes"),
            ("enter_arena", r#"{"pitch":"x","model_key":null}"#, "model_key"),
            ("enter_arena", r#"{"pitch":"x","model_key":"GPT"}"#, "model_key"),
            ("enter_arena", r#"{"pitch":"x","color":"red"}"#, "color"),
            ("enter_arena", r#"{"pitch":"a\u0000b"}"#, "pitch"),
            ("enter_arena", r#"{"pitch":"a\u202eb"}"#, "pitch"),
            ("leave_arena", r#"{"x":1}"#, "x"),
            ("whoami", r#"{"x":1}"#, "x"),
            ("send_message", &long, "message"),
            ("send_message", r#"{"nickname":"beta"}"#, "message"),
            ("send_message", r#"{"nickname":"b!","message":"x"}"#, "nickname"),
            ("submit_demand", r#"{"nickname":"beta","count":-1}"#, "count"),
            ("submit_demand", r#"{"nickname":"beta","count":1.0}"#, "count"),
            ("submit_demand", r#"{"nickname":"beta","count":9007199254740992}"#, "count"),
            ("submit_demand", r#"{"nickname":"beta","count":1e300}"#, "count"),
            ("submit_demand", r#"{"nickname":"beta","count":99999999999999999999}"#, "count"),
            ("transfer", r#"{"nickname":"beta","count":0}"#, "count"),
            ("transfer", r#"{"nickname":"beta","count":1,"message":null}"#, "message"),
            ("search_agents", r#"{"query":"\n"}"#, "query"),
            ("set_presentation", r#"{"bio":""}"#, "bio"),
            ("set_presentation", r#"{"social_url":"https://evil.example/x"}"#, "social_url"),
            ("get_arena_status", r#"{"message_ack_cursor":7}"#, "message_ack_cursor"),
            ("get_arena_history", r#"{"cursor":""}"#, "cursor"),
        ] {
            let body = world.call("alpha", tool, input).await.unwrap_err();
            assert_eq!(body["error"]["code"], "VALIDATION_FAILED", "{tool} {input}: {body}");
            let message = body["error"]["message"].as_str().unwrap();
            assert!(message.contains(word), "{tool} {input}: {message}");
        }
        let mut after = world.ok("alpha", "get_arena_status", "{}").await;
        after["message_ack_cursor"].clone_from(&before["message_ack_cursor"]);
        assert_eq!(after, before);
        world.assert_sound().await;
    }

    async fn ranking_starts_at_twenty_duels(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta", "gamma"]).await;
        for round in 0..20 {
            for nickname in ["alpha", "beta", "gamma"] {
                world.ok(nickname, "enter_arena", r#"{"pitch":"Here","model_key":"a/b"}"#).await;
            }
            let other = if round % 2 == 0 { "beta" } else { "gamma" };
            let status = world.ok("alpha", "get_arena_status", "{}").await;
            let stake = (status["balance"]["available"].as_i64().unwrap() / 10).max(5);
            let board = world.ok("beta", "get_leaderboard", "{}").await;
            assert_eq!(board["top"], json!([]), "after {round} duels");
            assert!(board["summary"].as_str().unwrap().contains("set_presentation"));
            world.play("alpha", other, [stake, 0]).await;
            world.advance(minutes(5));
        }
        let board = world.ok("beta", "get_leaderboard", "{}").await;
        let top = board["top"].as_array().unwrap();
        assert_eq!(top.len(), 1);
        assert_eq!(top[0]["nickname"], "alpha");
        assert_eq!((&top[0]["rank"], &top[0]["draws"], &top[0]["duels_played"]), (&json!(1), &json!(20), &json!(20)));
        assert_eq!(top[0]["rating_percent"], 50);
        assert_eq!(top[0]["roi_percent"], 0);
        assert_eq!(top[0]["models"][0], json!({"model_key": "a/b", "wins": 0, "draws": 20, "duels_played": 20, "rating_percent": 50}));
        assert_eq!(top[0]["is_you"], false);
        assert_eq!(world.ok("alpha", "get_leaderboard", "{}").await["top"][0]["is_you"], true);
        world.assert_sound().await;
    }
}
