//! `search_agents`: who is found, in which order, at what price, and that every node and every start
//! finds the same.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use testkit::TestPlace;

use crate::{
    letters::Letters,
    world::{World, minutes, seconds},
};

fn query(text: &str) -> String {
    json!({"query": text}).to_string()
}

async fn found(world: &World, who: &str, text: &str) -> Vec<String> {
    let out = world.ok(who, "search_agents", &query(text)).await;
    assert_eq!(out["returned_count"], out["agents"].as_array().unwrap().len());
    nicknames(&out)
}

fn nicknames(out: &Value) -> Vec<String> {
    out["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| agent["nickname"].as_str().unwrap().to_owned())
        .collect()
}

async fn enter(world: &World, who: &str, pitch: &str) {
    world.ok(who, "enter_arena", &json!({"pitch": pitch}).to_string()).await;
}

/// A world that can search, with these agents in the arena.
async fn arena(place: &TestPlace, agents: &[(&str, &str)]) -> (World, Arc<Letters>) {
    let letters = Letters::new("letters/1");
    let world = World::searching(place, Arc::clone(&letters) as _);
    for (nickname, pitch) in agents {
        world.join(nickname, 100).await;
        enter(&world, nickname, pitch).await;
    }
    (world, letters)
}

kernel::statements! {
    WRITE_BIO = "UPDATE agent SET auto_bio = 'Demands fairly.', bio_vector = NULL, bio_model = NULL WHERE nickname = 'beta'";
    MISSING = "SELECT COUNT(*) FROM agent WHERE nickname = 'beta' AND bio_vector IS NULL";
}

struct Execute(&'static kernel::tx::Sql);

impl kernel::tx::Command for Execute {
    type Out = ();

    fn name(&self) -> &'static str {
        "test.execute"
    }

    fn run(&self, tx: &mut dyn kernel::tx::Tx) -> Result<kernel::tx::Verdict<()>, kernel::Fault> {
        tx.exec(self.0, &[]).map(|_| kernel::tx::Verdict::Done(()))
    }
}

testkit::both_engines! {
    async fn the_likest_come_first_and_equals_by_name(place: TestPlace) {
        let pitches = ["abc", "abd", "xyz", "aaabbd", "cab", "a", "zzz a", "bca!", "abcabcx", "q"];
        let (world, _) = arena(&place, &[("searcher", "abc")]).await;
        let mut all = Vec::new();
        // Names against the order of the pitches, so that neither hides the other.
        for at in 0..30 {
            let (name, pitch) = (format!("agent-{:02}", 97 - at), pitches[at % pitches.len()]);
            world.join(&name, 100).await;
            enter(&world, &name, pitch).await;
            all.push((name, pitch));
        }
        for text in ["abc", "z", "aab", "quiz"] {
            let mut wanted = all.clone();
            wanted.sort_by(|(name, pitch), (other, others)| {
                Letters::cosine(text, others)
                    .partial_cmp(&Letters::cosine(text, pitch))
                    .unwrap()
                    .then_with(|| name.cmp(other))
            });
            let wanted: Vec<String> = wanted.into_iter().take(20).map(|(name, _)| name).collect();
            assert_eq!(found(&world, "searcher", text).await, wanted, "{text}");
        }
    }

    async fn only_who_could_start_now_is_found(place: TestPlace) {
        let names = ["alpha", "beta", "gamma", "delta", "poor", "gone", "late"];
        let (world, _) = arena(&place, &names.map(|name| (name, "same"))).await;
        world.join("absent", 100).await;
        world.ok("gone", "leave_arena", "{}").await;
        world.ok("late", "enter_arena", r#"{"pitch":"same","ttl_minutes":1}"#).await;
        world.ok("poor", "transfer", r#"{"nickname":"alpha","count":96}"#).await;
        assert_eq!(found(&world, "alpha", "same").await, ["beta", "delta", "gamma", "late"]);
        // Somebody who is not in the arena may search too.
        assert_eq!(found(&world, "absent", "same").await, ["alpha", "beta", "delta", "gamma", "late"]);
        world.advance(minutes(1) - 1);
        assert!(found(&world, "alpha", "same").await.contains(&"late".to_owned()), "a presence ends at its end");
        world.advance(1);
        assert_eq!(found(&world, "alpha", "same").await, ["beta", "delta", "gamma"]);
        // An active duel hides a pair from each other only.
        world.ok("alpha", "challenge_agent", r#"{"nickname":"beta"}"#).await;
        assert_eq!(found(&world, "alpha", "same").await, ["delta", "gamma"]);
        assert_eq!(found(&world, "beta", "same").await, ["delta", "gamma"]);
        assert_eq!(found(&world, "gamma", "same").await, ["alpha", "beta", "delta"]);
        // With a third active duel an agent is nobody's opponent.
        for other in ["gamma", "delta"] {
            world.ok("alpha", "challenge_agent", &json!({"nickname": other}).to_string()).await;
        }
        assert_eq!(found(&world, "absent", "same").await, ["beta", "delta", "gamma"]);
        // After a duel the pair waits for five minutes, to the millisecond.
        world.ok("alpha", "submit_demand", r#"{"nickname":"beta","count":5}"#).await;
        world.ok("beta", "submit_demand", r#"{"nickname":"alpha","count":5}"#).await;
        assert_eq!(found(&world, "beta", "same").await, ["delta", "gamma"]);
        assert_eq!(found(&world, "absent", "same").await, ["alpha", "beta", "delta", "gamma"]);
        world.advance(minutes(5) - 1);
        assert_eq!(found(&world, "beta", "same").await, ["delta", "gamma"]);
        world.advance(1);
        assert_eq!(found(&world, "beta", "same").await, ["alpha", "delta", "gamma"]);
        world.assert_sound().await;
    }

    async fn an_answer_shows_what_the_agent_shows(place: TestPlace) {
        let (world, _) = arena(&place, &[("alpha", "one"), ("beta", "two")]).await;
        let out = world.ok("alpha", "search_agents", &query("two")).await;
        let now = world.now();
        assert_eq!(out["agents"], json!([{
            "nickname": "beta", "balance": 100, "available_balance": 100, "rating_percent": null,
            "duels_played": 0, "pitch": "two", "auto_bio": duels::behaviour::NONE_YET,
            "arena_expires_at": now.plus_ms(minutes(15)), "arena_expires_in_seconds": 900,
        }]));
        assert_eq!(out["next_search_at"], json!(now), "the budget is not spent");
        assert_eq!(out["retry_after_seconds"], 0);
        assert!(!out.to_string().contains("score\":"), "{out}");
        world.ok("beta", "leave_arena", "{}").await;
        let nobody = world.ok("alpha", "search_agents", &query("two")).await;
        assert_eq!((nobody["returned_count"].as_u64(), &nobody["agents"]), (Some(0), &json!([])));
    }

    async fn every_attempt_is_charged_and_only_once_checked(place: TestPlace) {
        let (world, letters) = arena(&place, &[("alpha", "one"), ("beta", "two")]).await;
        let begin = world.now();
        let asked = letters.asked.load(Ordering::SeqCst);
        for text in ["", " \n ", &"x".repeat(501)] {
            assert_eq!(world.refused("alpha", "search_agents", &query(text)).await, "VALIDATION_FAILED");
        }
        assert_eq!(letters.asked.load(Ordering::SeqCst), asked, "what is not valid is not embedded");
        letters.is_away.store(true, Ordering::SeqCst);
        let away = world.call("alpha", "search_agents", &query("two")).await.unwrap_err();
        assert_eq!(away["error"]["code"], "EMBEDDING_UNAVAILABLE");
        assert!(!away.to_string().contains("10.1.2.3"), "{away}");
        letters.is_away.store(false, Ordering::SeqCst);
        for used in 2..=10 {
            world.advance(seconds(1));
            let out = world.ok("alpha", "search_agents", &query("two")).await;
            let next = if used < 10 { world.now() } else { begin.plus_ms(minutes(1)) };
            assert_eq!(out["next_search_at"], json!(next), "attempt {used}");
            assert_eq!(out["retry_after_seconds"], next.seconds_until(world.now()));
        }
        let asked = letters.asked.load(Ordering::SeqCst);
        let refused = world.call("alpha", "search_agents", &query("two")).await.unwrap_err();
        assert_eq!(refused["error"]["code"], "SEARCH_COOLDOWN");
        assert_eq!(refused["error"]["retry_after_seconds"], 51);
        assert_eq!(letters.asked.load(Ordering::SeqCst), asked, "a refused search is not embedded");
        assert_eq!(found(&world, "beta", "one").await, ["alpha"], "each account has its own budget");
        world.advance(seconds(51));
        assert_eq!(found(&world, "alpha", "two").await, ["beta"]);
    }

    async fn new_words_count_at_once(place: TestPlace) {
        let (world, letters) = arena(&place, &[("alpha", "abc"), ("beta", "xyz"), ("gamma", "klm")]).await;
        assert_eq!(found(&world, "gamma", "abc").await, ["alpha", "beta"]);
        enter(&world, "alpha", "xyz").await;
        enter(&world, "beta", "abc").await;
        assert_eq!(found(&world, "gamma", "abc").await, ["beta", "alpha"]);
        // A renewal with the same words is not embedded again.
        let asked = letters.asked.load(Ordering::SeqCst);
        enter(&world, "beta", "abc").await;
        assert_eq!(letters.asked.load(Ordering::SeqCst), asked);
        assert_eq!(found(&world, "gamma", "abc").await, ["beta", "alpha"]);
    }

    async fn every_node_and_every_start_ranks_the_same(place: TestPlace) {
        let (world, _) = arena(&place, &[("searcher", "abc")]).await;
        let other = world.another_node(&Letters::new("letters/1"));
        let names: Vec<String> = (0..12).map(|at| format!("agent-{at:02}")).collect();
        for name in &names {
            world.join(name, 100).await;
        }
        // Both nodes change presences at once, and search in between.
        for round in 0..6 {
            let mut changes = tokio::task::JoinSet::new();
            for (at, name) in names.iter().enumerate() {
                let node = if (at + round) % 2 == 0 { world.clone() } else { other.clone() };
                let (name, pitch) = (name.clone(), "abcdefghijkl"[at..].repeat(round % 3 + 1));
                changes.spawn(async move {
                    if (at + round) % 5 == 0 {
                        node.ok(&name, "leave_arena", "{}").await;
                    } else {
                        enter(&node, &name, &pitch).await;
                    }
                });
                if at == 6 && round < 3 {
                    let node = other.clone();
                    changes.spawn(async move {
                        found(&node, "searcher", "abc").await;
                    });
                }
            }
            changes.join_all().await;
            let fresh = world.another_node(&Letters::new("letters/1"));
            let wanted = found(&fresh, "searcher", "abcde").await;
            assert_eq!(found(&world, "searcher", "abcde").await, wanted, "round {round}");
            assert_eq!(found(&other, "searcher", "abcde").await, wanted, "round {round}");
            world.advance(minutes(1));
        }
    }

    async fn entering_never_fails_for_the_embedder(place: TestPlace) {
        let (world, letters) = arena(&place, &[("searcher", "a"), ("alpha", "xyz")]).await;
        letters.is_away.store(true, Ordering::SeqCst);
        world.join("beta", 100).await;
        enter(&world, "beta", "abc").await;
        letters.is_away.store(false, Ordering::SeqCst);
        assert_eq!(found(&world, "searcher", "abc").await, ["alpha", "beta"], "without a vector comes last");
        letters.is_away.store(true, Ordering::SeqCst);
        assert_eq!(world.do_jobs().await, 1, "a try that fails");
        letters.is_away.store(false, Ordering::SeqCst);
        // The next try is due after half a second of real time.
        while world.do_jobs().await == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(found(&world, "searcher", "abc").await, ["beta", "alpha"]);
    }

    async fn entering_does_not_wait_for_an_embedder_that_hangs(place: TestPlace) {
        let (world, letters) = arena(&place, &[("searcher", "a")]).await;
        letters.hangs.store(true, Ordering::SeqCst);
        world.join("beta", 100).await;
        enter(&world, "beta", "abc").await;
        letters.hangs.store(false, Ordering::SeqCst);
        assert_eq!(world.do_jobs().await, 1);
        assert_eq!(found(&world, "searcher", "abc").await, ["beta"]);
    }

    async fn a_summary_from_while_the_agent_was_away_counts_when_it_is_back(place: TestPlace) {
        let (world, _letters) = arena(&place, &[("searcher", "a"), ("alpha", "klm")]).await;
        world.join("beta", 100).await;
        world.store.write(Box::new(Execute(&WRITE_BIO))).await.unwrap();
        assert_eq!(world.do_jobs().await, 0);
        enter(&world, "beta", "xyz").await;
        assert_eq!(world.do_jobs().await, 1);
        let missing = world.store.read(|tx| tx.row(&MISSING, &[])).await.unwrap().unwrap().i64(0).unwrap();
        assert_eq!(missing, 0);
        // Once there it is not made again.
        enter(&world, "beta", "xyz").await;
        assert_eq!(world.do_jobs().await, 0);
    }

    async fn a_late_vector_does_not_replace_that_of_newer_words(place: TestPlace) {
        let (world, letters) = arena(&place, &[("searcher", "a"), ("alpha", "klm")]).await;
        letters.is_away.store(true, Ordering::SeqCst);
        world.join("beta", 100).await;
        enter(&world, "beta", "xyz").await;
        letters.is_away.store(false, Ordering::SeqCst);
        *letters.held.lock().unwrap() = Some("xyz".to_owned());
        let asked = letters.asked.load(Ordering::SeqCst);
        let worker = world.clone();
        let job = tokio::spawn(async move { worker.do_jobs().await });
        while letters.asked.load(Ordering::SeqCst) == asked {
            tokio::task::yield_now().await;
        }
        enter(&world, "beta", "abc").await;
        letters.release();
        assert_eq!(job.await.unwrap(), 1);
        assert_eq!(found(&world, "searcher", "abc").await, ["beta", "alpha"]);
        assert_eq!(found(&world.another_node(&letters), "searcher", "abc").await, ["beta", "alpha"]);
    }

    async fn a_slow_commit_is_not_overlooked(place: TestPlace) {
        // The first commit after `stall` waits until it may go on.
        let stall = Arc::new(AtomicBool::new(false));
        let (stalled, is_stalled) = std::sync::mpsc::channel();
        let (go, may_go) = std::sync::mpsc::channel();
        let gate = Mutex::new((stalled, may_go));
        let seen = Arc::clone(&stall);
        let probe: store::Probe = Arc::new(move |point| {
            if matches!(point, store::Point::BeforeCommit) && seen.swap(false, Ordering::SeqCst) {
                let gate = gate.lock().unwrap();
                gate.0.send(()).unwrap();
                gate.1.recv().unwrap();
            }
        });
        let letters = Letters::new("letters/1");
        let world = World::probed(&place, probe, Arc::clone(&letters) as _);
        for name in ["searcher", "alpha", "beta"] {
            world.join(name, 100).await;
        }
        enter(&world, "searcher", "a").await;
        stall.store(true, Ordering::SeqCst);
        let slow = world.clone();
        let slow = tokio::spawn(async move { enter(&slow, "alpha", "abc").await });
        tokio::task::spawn_blocking(move || is_stalled.recv().unwrap()).await.unwrap();
        let quick = world.clone();
        let mut quick = tokio::spawn(async move { enter(&quick, "beta", "xyz").await });
        // Whether or not the second may overtake the first, this node looks in between.
        let _ = tokio::time::timeout(Duration::from_millis(300), &mut quick).await;
        assert_eq!(world.service().prepare_search(&world.store).await.unwrap(), 0);
        go.send(()).unwrap();
        slow.await.unwrap();
        if !quick.is_finished() {
            quick.await.unwrap();
        }
        assert_eq!(found(&world, "searcher", "abc").await, ["alpha", "beta"]);
    }

    async fn another_model_embeds_everything_again(place: TestPlace) {
        let (world, _) = arena(&place, &[("searcher", "a"), ("alpha", "xyz"), ("beta", "abc")]).await;
        assert_eq!(found(&world, "searcher", "abc").await, ["beta", "alpha"]);
        let newer = Letters::new("letters/2");
        let node = world.another_node(&newer);
        // Vectors of another model are not compared: nobody has one, so the names decide.
        assert_eq!(found(&node, "searcher", "abc").await, ["alpha", "beta"]);
        assert_eq!(node.service().prepare_search(&node.store).await.unwrap(), 3);
        assert_eq!(node.do_jobs().await, 3);
        assert_eq!(found(&node, "searcher", "abc").await, ["beta", "alpha"]);
        assert_eq!(node.service().prepare_search(&node.store).await.unwrap(), 0);
    }

    async fn without_an_embedder_search_is_charged_and_refused(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        for _ in 0..10 {
            assert_eq!(world.refused("alpha", "search_agents", &query("x")).await, "EMBEDDING_UNAVAILABLE");
        }
        assert_eq!(world.refused("alpha", "search_agents", &query("x")).await, "SEARCH_COOLDOWN");
        assert_eq!(world.do_jobs().await, 0, "nothing waits for an embedder that there is not");
    }

    async fn a_search_settles_what_is_due(place: TestPlace) {
        let (world, _) = arena(&place, &[("alpha", "a"), ("beta", "b")]).await;
        world.ok("alpha", "challenge_agent", r#"{"nickname":"beta"}"#).await;
        world.advance(minutes(10));
        enter(&world, "beta", "b").await;
        world.advance(minutes(5) - 1);
        assert_eq!(found(&world, "alpha", "b").await, Vec::<String>::new());
        world.advance(1);
        assert_eq!(found(&world, "alpha", "b").await, ["beta"], "the cooldown counts from the deadline");
        world.assert_sound().await;
    }
}
