//! An operation that waits for something outside of the store: what it pays first stays paid, what
//! it does last happens once, and work is not done again for an answer that is known.

use std::sync::atomic::Ordering;

use serde_json::json;
use testkit::TestPlace;
use tokio::sync::Mutex;

use crate::{
    product::{BREW_PRICE, BREWED},
    world::{ALPHA, BETA, Got, World},
};

/// The counter of work is the process's, so these tests take turns.
static TURN: Mutex<()> = Mutex::const_new(());

async fn brew(world: &World, key: &str, by: i64, how: &str) -> Got {
    let mut headers = vec![("x-arena-key", ALPHA), ("content-type", "application/json")];
    if !key.is_empty() {
        headers.push(("idempotency-key", key));
    }
    world.send("POST", "/toy/v1/brew", &headers, json!({"by": by, "how": how}).to_string().as_bytes()).await
}

fn code(got: &Got) -> String {
    got.json()["error"]["code"].as_str().unwrap().to_owned()
}

testkit::both_engines! {
    async fn each_end_of_the_work_has_its_answer(place: TestPlace) {
        let _turn = TURN.lock().await;
        let world = World::new(&place).await;
        let well = brew(&world, "", 3, "well").await;
        assert_eq!((well.status, well.json()["count"].as_i64()), (200, Some(BREW_PRICE + 3)), "{well:?}");
        let boiled = brew(&world, "", 3, "boils").await;
        assert_eq!((boiled.status, code(&boiled)), (503, "UNAVAILABLE".to_owned()), "{boiled:?}");
        assert!(!boiled.text.contains("kettle"), "what only the operator may read: {boiled:?}");
        let spilled = brew(&world, "", 3, "spills").await;
        assert_eq!((spilled.status, code(&spilled)), (409, "TOY_BUSY".to_owned()), "{spilled:?}");
        // What is paid first stays paid; what was refused changed nothing else.
        assert_eq!(world.count_of(ALPHA).await, 3 * BREW_PRICE + 3);
        world.end().await;
    }

    async fn a_refused_payment_starts_no_work(place: TestPlace) {
        let _turn = TURN.lock().await;
        let world = World::new(&place).await;
        for _ in 0..10 {
            assert_eq!(brew(&world, "", 1, "boils").await.status, 503);
        }
        let before = BREWED.load(Ordering::SeqCst);
        let full = brew(&world, "", 1, "well").await;
        assert_eq!((full.status, code(&full)), (409, "TOY_FULL".to_owned()), "{full:?}");
        assert_eq!(world.rest("/toy/v1/brew", BETA, &json!({"by": 1, "how": "well"})).await.status, 403);
        assert_eq!(BREWED.load(Ordering::SeqCst), before);
        world.end().await;
    }

    async fn a_known_answer_is_not_worked_for_again(place: TestPlace) {
        let _turn = TURN.lock().await;
        let world = World::new(&place).await;
        let before = BREWED.load(Ordering::SeqCst);
        let first = brew(&world, "k", 2, "well").await;
        assert_eq!(first.status, 200, "{first:?}");
        let again = brew(&world, "k", 2, "well").await;
        assert_eq!((again.header("idempotent-replayed"), &again.text), ("true", &first.text));
        assert_eq!(brew(&world, "k", 3, "well").await.status, 400);
        assert_eq!(BREWED.load(Ordering::SeqCst), before + 1);
        assert_eq!(world.count_of(ALPHA).await, BREW_PRICE + 2);
        // What failed is not remembered.
        assert_eq!(brew(&world, "later", 1, "boils").await.status, 503);
        assert_eq!(brew(&world, "later", 1, "boils").await.status, 503);
        assert_eq!(BREWED.load(Ordering::SeqCst), before + 3);
        // Both tries were one call, which is paid; another body is another call.
        assert_eq!(world.count_of(ALPHA).await, 2 * BREW_PRICE + 2);
        assert_eq!(brew(&world, "later", 2, "well").await.status, 400);
        world.end().await;
    }

    async fn repeats_at_once_change_once(place: TestPlace) {
        let _turn = TURN.lock().await;
        let world = World::new(&place).await;
        let calls = (0..4).map(|_| brew(&world, "same", 1, "well"));
        let mut texts: Vec<_> =
            futures_util::future::join_all(calls).await.into_iter().map(|got| got.text).collect();
        texts.dedup();
        assert_eq!(texts.len(), 1, "{texts:?}");
        // They all paid together, and one changed.
        assert_eq!(world.count_of(ALPHA).await, BREW_PRICE + 1);
        world.end().await;
    }
}
