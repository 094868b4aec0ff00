//! Avatars: nothing changes unless every step succeeds, and no image stays that nobody shows.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use duels::outside::Outside;
use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};
use serde_json::{Value, json};
use testkit::TestPlace;

use crate::{
    gallery::Gallery,
    world::{PUBLIC_URL, World},
};

kernel::statements! {
    STATES = "SELECT state, COUNT(*) FROM avatar_object GROUP BY state ORDER BY state";
    KEPT = "SELECT avatar FROM agent";
    LONG_AGO = "UPDATE avatar_object SET since_ms = since_ms - $1 WHERE state = 'PENDING'";
}

fn world(place: &TestPlace) -> (World, Arc<Gallery>) {
    let gallery = Gallery::new();
    let outside = Outside { avatars: Some(Arc::clone(&gallery) as _), ..Outside::default() };
    (World::outside(place, outside), gallery)
}

async fn states(world: &World) -> Vec<(String, i64)> {
    let read = |tx: &mut dyn Tx| {
        tx.rows(&STATES, &[])?
            .iter()
            .map(|row| Ok((row.text(0)?, row.i64(1)?)))
            .collect::<Result<Vec<_>, Fault>>()
    };
    world.store.read(read).await.unwrap()
}

async fn sweep(world: &World) -> usize {
    duels::avatars::sweep(&world.store, world.service()).await.unwrap()
}

fn avatar(url: &str) -> String {
    json!({"avatar_url": url}).to_string()
}

/// The name in an answer's address.
fn name(answer: &Value) -> String {
    let url = answer["presentation"]["avatar_url"].as_str().unwrap();
    let name = url.strip_prefix(PUBLIC_URL).and_then(|path| path.strip_prefix("/avatars/"));
    name.and_then(|file| file.strip_suffix(".webp")).unwrap().to_owned()
}

/// A person signs in for the first time in a way that names a profile.
struct Link(String, &'static str);

impl Command for Link {
    type Out = ();

    fn name(&self) -> &'static str {
        "test.link"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        duels::set_social_once(tx, &self.0, self.1).map(Verdict::Done)
    }
}

struct Age(i64);

impl Command for Age {
    type Out = ();
    fn name(&self) -> &'static str {
        "test.age"
    }
    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        tx.exec(&LONG_AGO, &[self.0.into()])?;
        Ok(Verdict::Done(()))
    }
}

testkit::both_engines! {
    async fn an_image_is_shown_replaced_and_cleared(place: TestPlace) {
        let (world, gallery) = world(&place);
        world.join("alpha", 100).await;
        let first = world.ok("alpha", "set_presentation", &avatar("https://a.example/1")).await;
        assert_eq!(first["presentation"]["missing_fields"], json!(["bio", "social_url"]));
        let one = name(&first);
        assert!(duels::avatars::is_name(&one));
        assert_eq!(gallery.names(), std::slice::from_ref(&one));
        let second = world.ok("alpha", "set_presentation", &avatar("https://a.example/1")).await;
        let two = name(&second);
        assert_ne!(one, two, "a name is never used twice");
        assert_eq!(sweep(&world).await, 1);
        assert_eq!((gallery.names(), states(&world).await), (vec![two], vec![("LIVE".to_owned(), 1)]));
        // Other fields leave the image alone.
        let bio = world.ok("alpha", "set_presentation", r#"{"bio":"words"}"#).await;
        assert_eq!(bio["presentation"]["avatar_url"], second["presentation"]["avatar_url"]);
        let cleared = world.ok("alpha", "set_presentation", r#"{"avatar_url":null}"#).await;
        assert_eq!(cleared["presentation"]["avatar_url"], Value::Null);
        assert_eq!(sweep(&world).await, 1);
        assert_eq!((gallery.names(), states(&world).await), (vec![], vec![]));
        assert_eq!(sweep(&world).await, 0);
    }

    async fn whatever_fails_changes_nothing(place: TestPlace) {
        let (world, gallery) = world(&place);
        world.join("alpha", 100).await;
        let before = world.ok("alpha", "set_presentation", &avatar("https://a.example/1")).await;
        gallery.refuses.store(true, Ordering::SeqCst);
        let both = json!({"avatar_url": "https://a.example/2", "bio": "new"}).to_string();
        assert_eq!(world.refused("alpha", "set_presentation", &both).await, "IMAGE_REJECTED");
        gallery.refuses.store(false, Ordering::SeqCst);
        gallery.is_full.store(true, Ordering::SeqCst);
        assert_eq!(world.refused("alpha", "set_presentation", &both).await, "UNAVAILABLE");
        gallery.is_full.store(false, Ordering::SeqCst);
        // What is not valid is refused before anything is fetched or noted.
        let invalid = json!({"avatar_url": "https://a.example/2", "bio": ""}).to_string();
        assert_eq!(world.refused("alpha", "set_presentation", &invalid).await, "VALIDATION_FAILED");
        let shown = world.ok("alpha", "set_presentation", r#"{"social_url":null}"#).await;
        assert_eq!(shown["presentation"]["avatar_url"], before["presentation"]["avatar_url"]);
        assert_eq!(shown["presentation"]["bio"], Value::Null);
        assert_eq!(states(&world).await, [("LIVE".to_owned(), 1), ("PENDING".to_owned(), 2)]);
        assert_eq!(sweep(&world).await, 0, "what may still be under way is left alone");
        world.store.write(Box::new(Age(duels::avatars::PENDING_MS_MAX + 1_000))).await.unwrap();
        assert_eq!(sweep(&world).await, 2);
        assert_eq!((gallery.names().len(), states(&world).await), (1, vec![("LIVE".to_owned(), 1)]));
    }

    async fn a_crash_after_the_upload_leaves_nothing_for_long(place: TestPlace) {
        let (world, gallery) = world(&place);
        world.join("alpha", 100).await;
        gallery.hangs.store(true, Ordering::SeqCst);
        let url = avatar("https://a.example/1");
        let call = world.call("alpha", "set_presentation", &url);
        assert!(tokio::time::timeout(Duration::from_millis(500), call).await.is_err(), "it hangs");
        assert_eq!(gallery.names().len(), 1, "the image was kept and is nobody's");
        assert_eq!(world.ok("alpha", "set_presentation", r#"{"bio":"x"}"#).await["presentation"]["avatar_url"], Value::Null);
        world.store.write(Box::new(Age(duels::avatars::PENDING_MS_MAX + 1_000))).await.unwrap();
        assert_eq!(sweep(&world).await, 1);
        assert_eq!((gallery.names(), states(&world).await), (vec![], vec![]));
    }

    async fn one_that_cannot_be_removed_keeps_no_other(place: TestPlace) {
        let (world, gallery) = world(&place);
        world.join("alpha", 100).await;
        let first = name(&world.ok("alpha", "set_presentation", &avatar("https://a.example/1")).await);
        for _ in 0..2 {
            world.ok("alpha", "set_presentation", &avatar("https://a.example/1")).await;
        }
        first.clone_into(&mut gallery.stuck.lock().unwrap());
        assert!(duels::avatars::sweep(&world.store, world.service()).await.is_err());
        assert_eq!(states(&world).await, [("DOOMED".to_owned(), 1), ("LIVE".to_owned(), 1)]);
        gallery.stuck.lock().unwrap().clear();
        assert_eq!(sweep(&world).await, 1);
        assert!(!gallery.names().contains(&first));
    }

    async fn an_image_is_known_by_its_name_wherever_the_server_is_found(place: TestPlace) {
        let (world, _) = world(&place);
        world.join("alpha", 100).await;
        let shown = name(&world.ok("alpha", "set_presentation", &avatar("https://a.example/1")).await);
        let kept = world.store.read(|tx| tx.row(&KEPT, &[])?.unwrap().opt_text(0)).await.unwrap();
        assert_eq!(kept, Some(shown));
    }

    async fn a_link_is_taken_from_a_sign_in_only_before_the_agent_chose(place: TestPlace) {
        let (world, _) = world(&place);
        let sign_in = async |nickname: &str, link: &'static str| {
            let id = world.id(nickname);
            let link = Link(id, link);
            world.store.write(Box::new(link)).await.unwrap();
        };
        let owner = async |nickname: &str| {
            world.ok(nickname, "set_presentation", r#"{"bio":"x"}"#).await["presentation"]["owner"]["username"].clone()
        };
        for nickname in ["alpha", "beta"] {
            world.join(nickname, 100).await;
        }
        sign_in("alpha", "https://github.com/no name").await;
        assert_eq!(owner("alpha").await, Value::Null, "what cannot be a name is left out");
        sign_in("alpha", "https://github.com/first").await;
        sign_in("alpha", "https://github.com/second").await;
        assert_eq!(owner("alpha").await, json!("first"));
        world.ok("alpha", "set_presentation", r#"{"social_url":null}"#).await;
        sign_in("alpha", "https://github.com/third").await;
        assert_eq!(owner("alpha").await, Value::Null);
        world.ok("beta", "set_presentation", r#"{"social_url":"https://x.com/me"}"#).await;
        world.ok("beta", "set_presentation", r#"{"social_url":null}"#).await;
        sign_in("beta", "https://github.com/first").await;
        assert_eq!(owner("beta").await, Value::Null);
    }

    async fn many_at_once_leave_one(place: TestPlace) {
        let (world, gallery) = world(&place);
        world.join("alpha", 100).await;
        let mut calls = tokio::task::JoinSet::new();
        for at in 0..8 {
            let world = world.clone();
            calls.spawn(async move {
                world.ok("alpha", "set_presentation", &avatar(&format!("https://a.example/{at}"))).await
            });
        }
        let answers = calls.join_all().await;
        let shown = world.ok("alpha", "set_presentation", r#"{"bio":"x"}"#).await;
        assert!(answers.iter().any(|answer| name(answer) == name(&shown)));
        assert_eq!(sweep(&world).await, 7);
        assert_eq!(gallery.names(), [name(&shown)]);
    }
}
