//! The search budget: checked after the input, charged before the work, durable.

use serde_json::json;
use testkit::TestPlace;

use crate::world::{World, minutes, seconds};

const QUERY: &str = r#"{"query":"keeps its word"}"#;

testkit::both_engines! {
    async fn ten_searches_a_minute_and_fifty_an_hour(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        for _ in 0..20 {
            assert_eq!(world.refused("alpha", "search_agents", r#"{"query":" "}"#).await, "VALIDATION_FAILED", "not charged");
        }
        for minute in 0..5 {
            for _ in 0..10 {
                assert_eq!(world.refused("alpha", "search_agents", QUERY).await, "EMBEDDING_UNAVAILABLE", "minute {minute}");
            }
            world.advance(seconds(59));
            let refused = world.call("alpha", "search_agents", QUERY).await.unwrap_err();
            assert_eq!(refused["error"]["code"], "SEARCH_COOLDOWN");
            let wait = if minute == 4 { 3_600 - 4 * 60 - 59 } else { 1 };
            assert_eq!(refused["error"]["retry_after_seconds"], json!(wait), "minute {minute}");
            world.advance(seconds(1));
        }
        assert_eq!(world.refused("beta", "search_agents", QUERY).await, "EMBEDDING_UNAVAILABLE", "each account has its own");
        world.advance(minutes(55));
        assert_eq!(world.refused("alpha", "search_agents", QUERY).await, "EMBEDDING_UNAVAILABLE");
    }

    async fn parallel_searches_admit_exactly_the_budget(place: TestPlace) {
        let world = std::sync::Arc::new(World::with(&place, &["alpha"]).await);
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..40 {
            let world = std::sync::Arc::clone(&world);
            calls.spawn(async move { world.refused("alpha", "search_agents", QUERY).await });
        }
        let mut admitted = 0;
        while let Some(done) = calls.join_next().await {
            admitted += usize::from(done.unwrap() == "EMBEDDING_UNAVAILABLE");
        }
        assert_eq!(admitted, 10);
    }
}

testkit::both_engines! {
    /// Accounts' budgets in rows, as several nodes keep them: exact under parallel calls.
    async fn account_budgets_in_rows_are_exact(place: TestPlace) {
        use kernel::{operation::Budget, tx::Verdict};
        use store::limits::{Limits, Windows};
        let world = World::new(&place);
        let limits = std::sync::Arc::new(Limits::of(store::Engine::Postgres));
        let windows = Windows::from_budget(Budget { per_minute: 20, per_hour: 30 });
        let mut total = 0;
        for (wanted, wait) in [(20, seconds(60)), (10, seconds(3_540)), (20, 0)] {
            let mut calls = tokio::task::JoinSet::new();
            for _ in 0..60 {
                let command = limits.admit_command("duels|a", &windows);
                let store = world.store.clone();
                calls.spawn(async move { matches!(store.write(command).await, Ok(Verdict::Done(()))) });
            }
            let mut admitted = 0;
            while let Some(done) = calls.join_next().await {
                admitted += i64::from(done.unwrap());
            }
            assert_eq!(admitted, wanted, "after {total}");
            total += admitted;
            world.advance(wait);
        }
    }
}
