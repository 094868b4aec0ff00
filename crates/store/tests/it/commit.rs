//! What is committed, what is rolled back, and who is told what.

use kernel::{
    Kind,
    tx::{Val, Verdict},
};
use testkit::TestPlace;

use crate::commands::{
    self, BODY, BROKEN, COUNT, NOTE, SCHEMA, SET, add, all, command, count, counter, done, note, refusal,
};

testkit::both_engines! {
    async fn done_and_refused_commit_and_errors_roll_back(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        done(store.write(note("done")).await);
        let verdict = store.write(command(|tx| {
            tx.exec(&NOTE, &["refused".into(), Val::Null, 1.into()])?;
            Ok(Verdict::<()>::Refused(refusal()))
        })).await;
        assert_eq!(verdict, Ok(Verdict::Refused(refusal())));
        let verdict = store.write(command(|tx| {
            tx.exec(&NOTE, &["failed".into(), Val::Null, 1.into()])?;
            Err::<Verdict<()>, _>(refusal())
        })).await;
        assert_eq!(verdict, Err(refusal()));
        for (id, expected) in [("done", 1), ("refused", 1), ("failed", 0)] {
            assert_eq!(count(&store, id).await, expected, "{id}");
        }
        store.close();
        assert_eq!(count(&place.open(&[SCHEMA]), "%").await, 2, "after opening again");
    }

    async fn a_panic_fails_one_command_only(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let results = all(32, |number| {
            let store = store.clone();
            async move {
                let id = format!("n{number}");
                store.write(command(move |tx| {
                    tx.exec(&NOTE, &[(&id).into(), Val::Null, 1.into()])?;
                    assert_ne!(number % 4, 3, "a mistake in a command");
                    Ok(Verdict::Done(()))
                })).await
            }
        }).await;
        for (number, result) in results.into_iter().enumerate() {
            match result {
                Ok(_) => assert_ne!(number % 4, 3),
                Err(fault) => {
                    assert_eq!((number % 4, fault.kind), (3, Kind::Internal));
                    assert!(!fault.message.contains("mistake"), "{fault}");
                }
            }
        }
        assert_eq!(count(&store, "n%").await, 24);
    }

    async fn an_error_that_a_command_hides_fails_it_all_the_same(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        done(store.write(note("twice")).await);
        let verdict = store.write(command(|tx| {
            tx.exec(&NOTE, &["before".into(), Val::Null, 1.into()])?;
            drop(tx.exec(&NOTE, &["twice".into(), Val::Null, 1.into()]));
            drop(tx.exec(&NOTE, &["after".into(), Val::Null, 1.into()]));
            Ok(Verdict::Done(()))
        })).await;
        assert_eq!(verdict.unwrap_err().kind, Kind::Internal);
        let fault = store.write(command(|tx| tx.rows(&BROKEN, &[]).map(Verdict::Done))).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Internal);
        assert!(!fault.message.contains("nowhere"), "{fault}");
        assert_eq!(count(&store, "%").await, 1);
        done(store.write(note("next")).await);
    }

    async fn concurrent_writers_lose_no_update(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let answers = all(64, |_| {
            let store = store.clone();
            async move {
                let mut answers = Vec::new();
                for _ in 0..10 {
                    answers.push(done(store.write(add("one", 1)).await));
                }
                answers
            }
        }).await;
        let mut seen: Vec<i64> = answers.into_iter().flatten().collect();
        seen.sort_unstable();
        assert_eq!(seen, (1..=640).collect::<Vec<_>>());
        assert_eq!(counter(&store, "one").await, 640);
    }

    async fn reads_cannot_write(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        for sql in [&NOTE, &commands::RETURNING] {
            let args = vec!["sneaked".into(), Val::Null, 1.into()];
            let fault = store.read(move |tx| tx.rows(sql, &args)).await.unwrap_err();
            assert_eq!(fault.kind, Kind::Internal, "{}", sql.name);
        }
        let fault = store.read(|tx| tx.exec(&SET, &["x".into(), 1.into()])).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Internal);
        assert_eq!(count(&store, "%").await, 0);
    }

    async fn a_read_sees_one_snapshot(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let writer = store.clone();
        let (before, after) = store.read(move |tx| {
            let before = tx.row(&COUNT, &["%".into()])?.unwrap().i64(0)?;
            // The command commits while this snapshot is open.
            done(writer.write_blocking(note("meanwhile")));
            Ok((before, tx.row(&COUNT, &["%".into()])?.unwrap().i64(0)?))
        }).await.unwrap();
        assert_eq!((before, after), (0, 0));
        assert_eq!(count(&store, "%").await, 1);
    }

    async fn values_come_back_as_they_went(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let (text, bytes) = ("ü\u{1F600}'\"\\%\n\t$1", vec![0, 255, 0, 7]);
        let (id, body) = (text.to_owned(), bytes.clone());
        done(store.write(command(move |tx| {
            let many = [i64::MIN, -1, 0, i64::MAX].map(|n| vec![format!("{n}").into(), Val::I64(n)]);
            tx.exec_many(&SET, &many)?;
            assert_eq!(tx.exec(&NOTE, &[(&id).into(), body.clone().into(), 1.into()])?, 1);
            Ok(Verdict::Done(()))
        })).await);
        let back = store.read(move |tx| tx.row(&BODY, &[text.into()])?.unwrap().blob(0)).await.unwrap();
        assert_eq!(back, bytes);
        for number in [i64::MIN, -1, 0, i64::MAX] {
            assert_eq!(counter(&store, &number.to_string()).await, number);
        }
    }

    async fn numbers_of_a_sequence_never_repeat(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let numbers = all(40, |number| {
            let store = store.clone();
            async move {
                let taken = store.write(command(move |tx| {
                    let taken = tx.next_number("ticket")?;
                    if number % 5 == 4 { Err(refusal()) } else { Ok(Verdict::Done(taken)) }
                })).await;
                taken.ok()
            }
        }).await;
        let mut kept: Vec<_> = numbers.into_iter().flatten().map(|verdict| done(Ok(verdict))).collect();
        kept.sort_unstable();
        kept.dedup();
        assert_eq!(kept.len(), 32);
        assert!(kept[0] >= 1);
    }

    async fn a_caller_that_goes_away_cancels_nothing(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let mut delay = 1_u64;
        for number in 0..1000 {
            let future = store.write(note(&format!("n{number:04}")));
            // A fixed but scattered number of turns before the future is dropped.
            delay = delay.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut future = Box::pin(future);
            for _ in 0..=(delay >> 60) {
                if futures_poll(&mut future).await {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        // What was submitted is done in order; the queue is worked off by the time this is.
        for _ in 0..8 {
            done(store.write(add("after", 1)).await);
        }
        while count(&store, "n%").await < 1000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(counter(&store, "after").await, 8);
        assert_eq!(store.queue_depth(), 0);
    }

    async fn a_closed_store_answers_that_it_is(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let other = store.clone();
        store.close();
        let fault = other.write(note("late")).await.unwrap_err();
        assert_eq!((fault.kind, fault.retry_after_seconds), (Kind::Unavailable, Some(1)));
        let fault = other.read(|tx| Ok(tx.now())).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Unavailable);
    }
}

/// Polls once and tells whether the future is ready.
async fn futures_poll<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(context).is_ready())
    })
    .await
}
