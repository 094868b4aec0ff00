//! Locks in any order, and the order of commits, probes and answers.

use std::sync::{Arc, Mutex};

use kernel::tx::Verdict;
use store::{Engine, Point, Store};
use testkit::TestPlace;

use crate::commands::{SCHEMA, SET, add, all, command, counter, done, value};

testkit::both_engines! {
    async fn locks_in_opposite_order_make_no_error(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let names = ["left", "right"];
        all(6, |number| {
            let store = store.clone();
            async move {
                done(store.write(command(move |tx| {
                    let (first, second) = (names[number % 2], names[1 - number % 2]);
                    // Two calls, so that the store cannot put them in order.
                    for name in [first, second] {
                        tx.lock(&[name.to_owned()])?;
                        let new = value(tx, name)? + 1;
                        tx.exec(&SET, &[name.into(), new.into()])?;
                    }
                    Ok(Verdict::Done(()))
                })).await);
            }
        }).await;
        for name in names {
            assert_eq!(counter(&store, name).await, 6, "{name}");
        }
    }

    async fn locks_named_together_are_put_in_order(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        all(24, |number| {
            let store = store.clone();
            async move {
                done(store.write(command(move |tx| {
                    let mut names: Vec<_> = (0..4).map(|n| format!("n{}", (n + number) % 5)).collect();
                    if number % 2 == 0 {
                        names.reverse();
                    }
                    tx.lock(&names)?;
                    for name in &names {
                        let new = value(tx, name)? + 1;
                        tx.exec(&SET, &[name.into(), new.into()])?;
                    }
                    Ok(Verdict::Done(()))
                })).await);
            }
        }).await;
        let mut total = 0;
        for number in 0..5 {
            total += counter(&store, &format!("n{number}")).await;
        }
        assert_eq!(total, 24 * 4);
    }

    async fn nobody_is_answered_before_the_commit(place: TestPlace) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut options = place.options(&[SCHEMA]);
        options.writers = 1;
        let kept = Arc::clone(&seen);
        options.probe = Some(Arc::new(move |point| kept.lock().unwrap().push(point)));
        let store = Store::open(options).unwrap();
        let holder = {
            let (store, seen) = (store.clone(), Arc::clone(&seen));
            tokio::spawn(async move {
                done(store.write(add("one", 1)).await);
                seen.lock().unwrap().clone()
            })
        };
        let at_answer = holder.await.unwrap();
        assert_eq!(at_answer, [Point::BeforeCommit, Point::AfterCommit]);
        all(40, |_| {
            let store = store.clone();
            async move { done(store.write(add("one", 1)).await) }
        }).await;
        let points = seen.lock().unwrap().clone();
        let count = |wanted: fn(&Point) -> bool| points.iter().filter(|point| wanted(point)).count();
        let commits = count(|point| matches!(point, Point::AfterCommit));
        assert_eq!(commits, count(|point| matches!(point, Point::BeforeCommit)));
        let shared = count(|point| matches!(point, Point::InBatch { .. }));
        // Each command is followed by a commit or by another command of its batch.
        assert_eq!(commits + shared, 41);
        if store.engine() == Engine::Postgres {
            assert_eq!(shared, 0, "a command is a transaction");
        }
    }
}

/// Holds the writer at its first commit until the rest is queued, and counts the commits.
#[test]
fn what_is_queued_shares_a_commit() {
    let place = TestPlace::sqlite();
    let (entered, wait_entered) = std::sync::mpsc::channel();
    let (go, wait_go) = std::sync::mpsc::channel::<()>();
    let (wait_go, points) = (Mutex::new(wait_go), Arc::new(Mutex::new(Vec::new())));
    let mut options = place.options(&[SCHEMA]);
    let kept = Arc::clone(&points);
    options.probe = Some(Arc::new(move |point| {
        let mut kept = kept.lock().unwrap();
        kept.push(point);
        if kept.len() == 1 {
            entered.send(()).unwrap();
            wait_go.lock().unwrap().recv().unwrap();
        }
    }));
    let store = Store::open(options).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| done(store.write_blocking(add("one", 1))));
        wait_entered.recv().unwrap();
        for _ in 0..20 {
            scope.spawn(|| done(store.write_blocking(add("one", 1))));
        }
        while store.queue_depth() < 20 {
            std::thread::yield_now();
        }
        go.send(()).unwrap();
    });
    let points = points.lock().unwrap().clone();
    let mut expected = vec![Point::BeforeCommit, Point::AfterCommit];
    expected.extend((1..20).map(|done| Point::InBatch { done }));
    expected.extend([Point::BeforeCommit, Point::AfterCommit]);
    assert_eq!(points, expected);
}
