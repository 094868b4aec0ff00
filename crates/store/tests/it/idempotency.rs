//! One key, one effect.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use kernel::{
    Kind,
    operation::Json,
    tx::{Command, Val, Verdict},
};
use store::{Once, OnceKey, once::ANSWER_KEPT_MS};
use testkit::TestPlace;

use crate::commands::{AGE_ONCE, NOTE, ONCE_ROWS, SCHEMA, all, command, count, done, note, refusal};

fn key(name: &str, hash: u8) -> OnceKey {
    OnceKey { scope: "person-1:send".to_owned(), key: name.to_owned(), hash: [hash; 32] }
}

fn send(id: &str) -> Box<dyn Command<Out = Json>> {
    let id = id.to_owned();
    command(move |tx| {
        tx.exec(&NOTE, &[(&id).into(), Val::Null, 1.into()])?;
        Ok(Verdict::Done(format!("{{\"sent\":\"{id}\"}}")))
    })
}

testkit::both_engines! {
    async fn a_repeat_replays_and_another_body_is_told(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let first = store.write_once(key("k", 1), send("one")).await.unwrap();
        assert_eq!(first, Once::Ran(Verdict::Done("{\"sent\":\"one\"}".to_owned())));
        store.close();
        let store = place.open(&[SCHEMA]);
        let again = store.write_once(key("k", 1), send("two")).await.unwrap();
        assert_eq!(again, Once::Replayed("{\"sent\":\"one\"}".to_owned()));
        assert_eq!(store.write_once(key("k", 2), send("three")).await.unwrap(), Once::KeyReused);
        let other = OnceKey { scope: "person-2:send".to_owned(), ..key("k", 2) };
        assert!(matches!(store.write_once(other, send("four")).await.unwrap(), Once::Ran(_)));
        assert_eq!(count(&store, "%").await, 2, "one and four");
    }

    async fn refusals_and_failures_are_not_kept(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let refused = store.write_once(key("k", 1), command(|tx| {
            tx.exec(&NOTE, &["settled on the way".into(), Val::Null, 1.into()])?;
            Ok(Verdict::Refused(refusal()))
        })).await;
        assert_eq!(refused, Ok(Once::Ran(Verdict::Refused(refusal()))));
        let failed = store.write_once(key("k", 1), command(|_| Err(refusal()))).await;
        assert_eq!(failed, Err(refusal()));
        let panicked = store.write_once(key("k", 1), command(|_| panic!("a mistake"))).await;
        assert_eq!(panicked.unwrap_err().kind, Kind::Internal);
        assert!(matches!(store.write_once(key("k", 1), send("one")).await, Ok(Once::Ran(Verdict::Done(_)))));
        assert_eq!(count(&store, "%").await, 2);
    }

    async fn equal_requests_at_once_have_one_effect(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let ran = Arc::new(AtomicU32::new(0));
        for round in 0..10 {
            let answers = all(12, |number| {
                let (store, ran) = (store.clone(), Arc::clone(&ran));
                async move {
                    let id = format!("r{round}n{number}");
                    let once = store.write_once(key(&format!("k{round}"), 1), send(&id)).await.unwrap();
                    match once {
                        Once::Ran(Verdict::Done(answer)) => {
                            ran.fetch_add(1, Ordering::SeqCst);
                            answer
                        }
                        Once::Replayed(answer) => answer,
                        other => panic!("{other:?}"),
                    }
                }
            }).await;
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
            assert_eq!(count(&store, &format!("r{round}n%")).await, 1);
        }
        assert_eq!(ran.load(Ordering::SeqCst), 10);
    }

    async fn answers_are_kept_a_day_and_then_pruned(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        done(store.write(note("unrelated")).await);
        drop(store.write_once(key("old", 1), send("one")).await.unwrap());
        assert_eq!(store.prune().await, Ok(0), "a new answer stays");
        done(store.write(command(|tx| {
            tx.exec(&AGE_ONCE, &[(tx.real_ms() - ANSWER_KEPT_MS - 1).into()]).map(Verdict::Done)
        })).await);
        drop(store.write_once(key("new", 1), send("two")).await.unwrap());
        assert!(store.prune().await.unwrap() >= 1);
        let left = store.read(|tx| tx.rows(&ONCE_ROWS, &[])).await.unwrap();
        let keys: Vec<_> = left.iter().map(|row| row.text(0).unwrap()).collect();
        assert_eq!(keys, ["new"]);
    }

    async fn keys_have_limits(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        for bad in [
            OnceKey { scope: "#command".to_owned(), ..key("k", 1) },
            key(&"k".repeat(513), 1),
        ] {
            let fault = store.write_once(bad, send("one")).await.unwrap_err();
            assert_eq!(fault.kind, Kind::Invalid);
        }
        assert_eq!(count(&store, "%").await, 0);
    }
}
