//! Jobs: enqueued with their cause, claimed once, fenced by the token, in order within a channel.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use kernel::{
    Fault,
    id::{Ids, SeededIds},
    tx::Verdict,
};
use store::{
    Store,
    jobs::{self, ATTEMPTS_MAX, Attempt, Claim, End, Job, NewJob, Worker},
};
use testkit::TestPlace;

use crate::commands::command;

const KIND: &str = "test.work";

kernel::statements! {
    NOW_DUE = "UPDATE job SET run_at_ms = 0";
    EXPIRE = "UPDATE job SET lease_until_ms = 0 WHERE state = 'running'";
}

fn job(channel: &str, payload: &str) -> NewJob {
    NewJob { kind: KIND, channel: channel.to_owned(), payload: payload.to_owned() }
}

async fn enqueue(store: &Store, ids: &Arc<SeededIds>, channel: &str, payload: &str) {
    let (ids, job) = (Arc::clone(ids), job(channel, payload));
    store.write(command(move |tx| jobs::enqueue(tx, &*ids, &job).map(Verdict::Done))).await.unwrap();
    // Ids order by the millisecond, so the next job of the channel gets a later one.
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
}

async fn claim(store: &Store, ids: &SeededIds) -> Vec<Job> {
    let claim = Claim { kind: KIND, token: ids.slug(), lease_ms: 60_000 };
    match store.write(Box::new(claim)).await.unwrap() {
        Verdict::Done(jobs) => jobs,
        Verdict::Refused(fault) => panic!("{fault}"),
    }
}

async fn end(store: &Store, job: &Job, error: Option<&str>) -> bool {
    let end = End { job: job.clone(), error: error.map(str::to_owned) };
    store.write(Box::new(end)).await.unwrap() == Verdict::Done(true)
}

async fn alter(store: &Store, sql: &'static kernel::tx::Sql) {
    store.write(command(move |tx| tx.exec(sql, &[]).map(Verdict::Done))).await.unwrap();
}

async fn count(store: &Store, state: &str) -> i64 {
    let counts = store.read(|tx| jobs::counts(tx)).await.unwrap();
    counts.get(state).copied().unwrap_or(0)
}

testkit::both_engines! {
    async fn a_job_shares_the_fate_of_its_command(place: TestPlace) {
        let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(1)));
        let again = Arc::clone(&ids);
        let failed = store
            .write(command::<()>(move |tx| {
                jobs::enqueue(tx, &*again, &job("a", "lost"))?;
                Err(Fault::invalid("no"))
            }))
            .await;
        assert!(failed.is_err());
        assert!(claim(&store, &ids).await.is_empty());
    }

    async fn a_channel_runs_in_order_and_others_beside_it(place: TestPlace) {
        let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(1)));
        for (channel, payload) in [("a", "a1"), ("a", "a2"), ("b", "b1")] {
            enqueue(&store, &ids, channel, payload).await;
        }
        let first = claim(&store, &ids).await;
        let payloads: Vec<&str> = first.iter().map(|job| job.payload.as_str()).collect();
        assert_eq!(payloads, ["a1", "b1"], "a2 waits for a1");
        assert!(claim(&store, &ids).await.is_empty());
        assert!(end(&store, &first[0], None).await);
        assert_eq!(claim(&store, &ids).await[0].payload, "a2");
        assert!(!end(&store, &first[0], None).await, "a job ends once");
    }

    async fn only_the_current_token_may_end_a_job(place: TestPlace) {
        let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(1)));
        enqueue(&store, &ids, "a", "x").await;
        let frozen = claim(&store, &ids).await.remove(0);
        alter(&store, &EXPIRE).await;
        let taken = claim(&store, &ids).await.remove(0);
        assert_eq!((taken.id.as_str(), taken.attempts), (frozen.id.as_str(), 2));
        assert!(!end(&store, &frozen, None).await, "a node thawed past its lease completes nothing");
        assert!(!end(&store, &frozen, Some("late")).await, "nor does it fail anything");
        assert_eq!(count(&store, "running").await, 1);
        assert!(end(&store, &taken, None).await);
        assert_eq!(count(&store, "running").await, 0);
    }

    async fn failures_are_tried_again_and_end_dead(place: TestPlace) {
        let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(1)));
        enqueue(&store, &ids, "a", "bad").await;
        enqueue(&store, &ids, "a", "good").await;
        for attempt in 1..=ATTEMPTS_MAX {
            let claimed = claim(&store, &ids).await;
            assert_eq!((claimed[0].payload.as_str(), claimed[0].attempts), ("bad", attempt));
            assert!(end(&store, &claimed[0], Some("broken")).await);
            assert!(claim(&store, &ids).await.iter().all(|job| job.payload != "bad"), "it waits first");
            alter(&store, &NOW_DUE).await;
            if attempt < ATTEMPTS_MAX {
                assert_eq!(count(&store, "dead").await, 0);
            }
        }
        assert_eq!(count(&store, "dead").await, 1);
    }

    async fn many_claimers_take_each_job_once(place: TestPlace) {
        let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(1)));
        for i in 0..24 {
            enqueue(&store, &ids, &format!("c{i}"), "x").await;
        }
        let mut claims = tokio::task::JoinSet::new();
        for _ in 0..12 {
            let (store, ids) = (store.clone(), Arc::clone(&ids));
            claims.spawn(async move { claim(&store, &ids).await });
        }
        let mut seen = Vec::new();
        while let Some(done) = claims.join_next().await {
            seen.extend(done.unwrap().into_iter().map(|job| job.id));
        }
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((seen.len(), all), (24, 24));
    }

    async fn a_waiting_job_stands_for_later_causes_but_a_running_one_does_not(place: TestPlace) {
        let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(1)));
        let cause = || {
            let ids = Arc::clone(&ids);
            store.write(command(move |tx| {
                jobs::enqueue_unless_pending(tx, &*ids, &job("a", "x")).map(Verdict::Done)
            }))
        };
        cause().await.unwrap();
        cause().await.unwrap();
        assert_eq!(count(&store, "pending").await, 1);
        let claimed = claim(&store, &ids).await;
        cause().await.unwrap();
        assert_eq!((count(&store, "running").await, count(&store, "pending").await), (1, 1));
        assert!(end(&store, &claimed[0], None).await);
        assert_eq!(claim(&store, &ids).await.len(), 1);
    }

    async fn a_worker_does_what_is_due(place: TestPlace) {
        struct Counting(AtomicUsize);
        impl Worker for Counting {
            fn kind(&self) -> &'static str {
                KIND
            }
            fn perform<'a>(&'a self, _store: &'a Store, job: &'a Job) -> Attempt<'a> {
                Box::pin(async move {
                    self.0.fetch_add(1, Ordering::SeqCst);
                    if job.payload == "bad" { Err(Fault::invalid("no")) } else { Ok(()) }
                })
            }
        }
        let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(1)));
        let worker = Arc::new(Counting(AtomicUsize::new(0)));
        let workers: Vec<Arc<dyn Worker>> = vec![Arc::clone(&worker) as Arc<dyn Worker>];
        for (channel, payload) in [("a", "good"), ("b", "bad")] {
            enqueue(&store, &ids, channel, payload).await;
        }
        assert_eq!(jobs::run_once(&store, &*ids, &workers, jobs::LEASE_MS).await.unwrap(), 2);
        assert_eq!(worker.0.load(Ordering::SeqCst), 2);
        assert_eq!((count(&store, "pending").await, count(&store, "running").await), (1, 0));
    }
}
