//! Connections to PostgreSQL that are lost: nothing is lost with them and nothing runs twice.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use kernel::{
    Kind,
    tx::{Val, Verdict},
};
use store::{Options, Store};
use testkit::TestPlace;

use crate::{
    commands::{KILL_OTHERS, KILL_SELF, NOTE, SCHEMA, add, all, command, count, counter, done, note},
    proxy::{Cut, Proxy},
};

fn place(test: &str) -> Option<TestPlace> {
    TestPlace::postgres(&format!("it::lost::{test}"))
}

async fn through(place: &TestPlace, writers: usize) -> (Proxy, Store) {
    let migrated = place.migrated(&[store::SCHEMA, SCHEMA]);
    let proxy = Proxy::new(&migrated).await;
    let mut options = Options::new(proxy.place());
    options.schemas.push(SCHEMA);
    (options.readers, options.writers) = (2, writers);
    // Opening blocks, and the proxy runs on this runtime.
    let store = tokio::task::spawn_blocking(|| Store::open(options).unwrap()).await.unwrap();
    (proxy, store)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_ends_in_the_middle_is_replaced() {
    let Some(place) = place("a_backend_that_ends_in_the_middle_is_replaced") else { return };
    let store = place.open(&[SCHEMA]);
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    done(
        store
            .write(command(move |tx| {
                tx.exec(&NOTE, &["once".into(), Val::Null, 1.into()])?;
                if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                    tx.rows(&KILL_SELF, &[])?;
                }
                Ok(Verdict::Done(()))
            }))
            .await,
    );
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_eq!(count(&store, "once").await, 1);

    for round in 0..5 {
        done(store.write(command(|tx| tx.rows(&KILL_OTHERS, &[]).map(Verdict::Done))).await);
        all(12, |number| {
            let store = store.clone();
            async move {
                done(store.write(note(&format!("r{round}n{number}"))).await);
                assert!(count(&store, &format!("r{round}n{number}")).await == 1);
            }
        })
        .await;
    }
    assert_eq!(count(&store, "r%").await, 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_during_commit_loses_nothing_and_repeats_nothing() {
    let Some(place) = place("a_cut_during_commit_loses_nothing_and_repeats_nothing") else { return };
    let (proxy, store) = through(&place, 2).await;
    let mut expected = 0;
    for round in 0..8 {
        for cut in [Cut::Before, Cut::With, Cut::After] {
            let cuts = proxy.cuts();
            proxy.arm(cut);
            let answers = all(4, |_| {
                let store = store.clone();
                async move { done(store.write(add("one", 1)).await) }
            })
            .await;
            expected += 4;
            assert_eq!(proxy.cuts(), cuts + 1, "round {round}: {cut:?} did not happen");
            assert_eq!(counter(&store, "one").await, expected, "round {round}: {cut:?}");
            let mut distinct = answers.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 4, "round {round}: {cut:?}: {answers:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_server_is_away_callers_are_told_and_later_it_goes_on() {
    let Some(place) = place("while_the_server_is_away_callers_are_told_and_later_it_goes_on") else { return };
    let (proxy, store) = through(&place, 2).await;
    done(store.write(add("one", 1)).await);
    proxy.arm(Cut::Everything);
    let kinds = all(8, |number| {
        let store = store.clone();
        async move {
            let fault = if number % 2 == 0 {
                store.write(add("one", 1)).await.unwrap_err()
            } else {
                store.read(|tx| Ok(tx.now())).await.unwrap_err()
            };
            (fault.kind, fault.retry_after_seconds.is_some())
        }
    })
    .await;
    assert!(kinds.iter().all(|kind| *kind == (Kind::Unavailable, true)), "{kinds:?}");
    proxy.arm(Cut::Never);
    // The threads come back by themselves, after their wait.
    let mut tries = 0;
    while store.write(add("one", 1)).await.is_err() {
        tries += 1;
        assert!(tries < 100, "the store does not come back");
    }
    assert_eq!(counter(&store, "one").await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_outcome_cannot_be_told_says_so() {
    let Some(place) = place("a_commit_whose_outcome_cannot_be_told_says_so") else { return };
    let (proxy, store) = through(&place, 1).await;
    let proxy = Arc::new(proxy);
    let away = Arc::clone(&proxy);
    proxy.arm(Cut::After);
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.write(add("one", 1)).await }
    });
    while away.cuts() == 0 {
        tokio::task::yield_now().await;
    }
    away.arm(Cut::Everything);
    match waiting.await.unwrap() {
        // The writer may have come back before the line went down.
        Ok(verdict) => assert_eq!(verdict, Verdict::Done(1)),
        Err(fault) => {
            assert_eq!(fault.kind, Kind::Unavailable);
            assert!(fault.message.contains("unknown"), "{fault}");
        }
    }
    away.arm(Cut::Never);
    let mut tries = 0;
    loop {
        let read = store.read(|tx| crate::commands::value(tx, "one")).await;
        if let Ok(value) = read {
            assert_eq!(value, 1, "it was committed, whatever was told");
            break;
        }
        tries += 1;
        assert!(tries < 100, "the store does not come back");
    }
}
