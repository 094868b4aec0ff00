//! Locks in any order, and the order of commits, probes and answers.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, mpsc},
    task::{Context, Waker},
};

use kernel::{
    Kind,
    tx::{Sql, Verdict},
};
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

/// A store on SQLite whose writer waits at its first commit, so that a test decides what is queued
/// behind it.
struct Held {
    store: Store,
    points: Arc<Mutex<Vec<Point>>>,
    wait_entered: mpsc::Receiver<()>,
    go: mpsc::Sender<()>,
    _place: TestPlace,
}

impl Held {
    fn new() -> Self {
        let place = TestPlace::sqlite();
        let (entered, wait_entered) = mpsc::channel();
        let (go, wait_go) = mpsc::channel::<()>();
        let (wait_go, points) = (Mutex::new(wait_go), Arc::new(Mutex::new(Vec::new())));
        let mut options = place.options(&[SCHEMA]);
        let kept = Arc::clone(&points);
        options.probe = Some(Arc::new(move |point| {
            let first = {
                let mut kept = kept.lock().unwrap();
                kept.push(point);
                kept.len() == 1
            };
            if first {
                entered.send(()).unwrap();
                wait_go.lock().unwrap().recv().unwrap();
            }
        }));
        let store = Store::open(options).unwrap();
        Self { store, points, wait_entered, go, _place: place }
    }
}

/// Polls once, which submits; a future of a command that waits is not ready.
fn submit<F: Future + Unpin>(future: &mut F) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    Pin::new(future).poll(&mut context).is_ready()
}

#[tokio::test]
async fn what_is_queued_shares_a_commit() {
    let held = Held::new();
    let mut first = Box::pin(held.store.write(add("one", 1)));
    assert!(!submit(&mut first));
    held.wait_entered.recv().unwrap();
    let mut others: Vec<_> = (0..20).map(|_| Box::pin(held.store.write(add("one", 1)))).collect();
    assert!(!others.iter_mut().any(submit));
    assert_eq!(held.store.queue_depth(), 20);
    held.go.send(()).unwrap();
    done(first.await);
    for (number, other) in others.into_iter().enumerate() {
        assert_eq!(done(other.await), i64::try_from(number).unwrap() + 2);
    }
    let points = held.points.lock().unwrap().clone();
    let mut expected = vec![Point::BeforeCommit, Point::AfterCommit];
    expected.extend((1..20).map(|done| Point::InBatch { done }));
    expected.extend([Point::BeforeCommit, Point::AfterCommit]);
    assert_eq!(points, expected);
}

#[tokio::test]
async fn a_transaction_that_goes_takes_its_whole_batch_with_it() {
    static ROLLBACK: Sql = Sql { name: "rollback", text: "ROLLBACK" };
    let held = Held::new();
    let mut first = Box::pin(held.store.write(add("one", 1)));
    assert!(!submit(&mut first));
    held.wait_entered.recv().unwrap();
    let mut before = Box::pin(held.store.write(add("one", 10)));
    // What SQLite does by itself when the disk is full or fails.
    let mut culprit = Box::pin(held.store.write(command(|tx| tx.exec(&ROLLBACK, &[]).map(Verdict::Done))));
    let mut after = Box::pin(held.store.write(add("one", 100)));
    assert!(!submit(&mut before) && !submit(&mut culprit) && !submit(&mut after));
    held.go.send(()).unwrap();
    done(first.await);
    let faults = [before.await.unwrap_err(), culprit.await.unwrap_err(), after.await.unwrap_err()];
    for fault in faults {
        assert_eq!((fault.kind, fault.retry_after_seconds), (Kind::Unavailable, Some(1)));
    }
    assert_eq!(counter(&held.store, "one").await, 1);
    assert_eq!(done(held.store.write(add("one", 1)).await), 2, "the next batch goes on");
}

#[tokio::test]
async fn a_full_queue_refuses_at_once() {
    let held = Held::new();
    let mut first = Box::pin(held.store.write(add("one", 1)));
    assert!(!submit(&mut first));
    held.wait_entered.recv().unwrap();
    let mut waiting = Vec::new();
    let fault = loop {
        let mut next = Box::pin(held.store.write(add("one", 1)));
        if submit(&mut next) {
            break held.store.write(add("one", 1)).await.unwrap_err();
        }
        waiting.push(next);
    };
    assert_eq!((fault.kind, fault.retry_after_seconds), (Kind::Unavailable, Some(1)));
    assert_eq!(held.store.queue_depth(), waiting.len());
    let queued = i64::try_from(waiting.len()).unwrap();
    held.go.send(()).unwrap();
    done(first.await);
    for next in waiting {
        done(next.await);
    }
    assert_eq!(counter(&held.store, "one").await, queued + 1);
}
