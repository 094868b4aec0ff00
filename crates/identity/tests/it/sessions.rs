//! Browsers: found by their secret alone, ended one by one or all, over after a month without use.

use identity::{
    people,
    sessions::{self, NewSession},
};
use testkit::TestPlace;

use crate::world::World;

kernel::statements! {
    OLD = "UPDATE session SET expires_ms = 0";
    UNSEEN = "UPDATE session SET seen_ms = 0";
}

async fn open(world: &World, person: &str) -> NewSession {
    let session = NewSession::draw(&world.ids, "local", "A \u{1b}browser");
    let (person, stored) = (person.to_owned(), session.clone());
    world.change(move |tx| sessions::insert(tx, &person, &stored)).await.unwrap();
    session
}

async fn who(world: &World, secret: &str) -> Option<String> {
    let secret = secret.to_owned();
    let found = world.store.read(move |tx| sessions::find(tx, &secret)).await.unwrap();
    found.map(|session| session.person.nickname)
}

testkit::both_engines! {
    async fn a_browser_is_known_by_its_secret_until_it_is_ended(place: TestPlace) {
        let world = World::new(&place);
        let (alpha, beta) = (world.person("alpha").await, world.person("beta").await);
        let (one, two, other) =
            (open(&world, &alpha.id).await, open(&world, &alpha.id).await, open(&world, &beta.id).await);
        assert_eq!(one.label, "A browser");
        assert_eq!(who(&world, &one.secret).await.as_deref(), Some("alpha"));
        for wrong in ["", "x", &one.id, &one.secret[1..], &one.secret.to_lowercase()] {
            assert_eq!(who(&world, wrong).await, None, "{wrong}");
        }
        let (id, mine) = (alpha.id.clone(), other.id.clone());
        assert!(!world.change(move |tx| sessions::end_one(tx, &id, &mine)).await.unwrap(), "not another's");
        let (id, mine) = (alpha.id.clone(), two.id.clone());
        assert!(world.change(move |tx| sessions::end_one(tx, &id, &mine)).await.unwrap());
        assert_eq!(who(&world, &two.secret).await, None);
        let id = alpha.id.clone();
        assert_eq!(world.store.read(move |tx| sessions::list(tx, &id)).await.unwrap().len(), 1);
        let id = alpha.id.clone();
        assert_eq!(world.change(move |tx| sessions::end_all(tx, &id)).await.unwrap(), 1);
        assert_eq!(who(&world, &one.secret).await, None);
        assert_eq!(who(&world, &other.secret).await.as_deref(), Some("beta"));
    }

    async fn use_makes_a_session_last_and_time_ends_it(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let session = open(&world, &alpha.id).await;
        let secret = session.secret.clone();
        let stale = async || {
            let secret = session.secret.clone();
            world.store.read(move |tx| sessions::find(tx, &secret)).await.unwrap().unwrap().is_stale
        };
        assert!(!stale().await);
        world.sql(&UNSEEN).await;
        assert!(stale().await);
        world.change(move |tx| sessions::see(tx, &secret)).await.unwrap();
        assert!(!stale().await);
        world.sql(&OLD).await;
        assert_eq!(who(&world, &session.secret).await, None);
        world.change(identity::prune).await.unwrap();
    }

    async fn a_disabled_person_is_signed_in_nowhere(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let session = open(&world, &alpha.id).await;
        world.change(move |tx| people::disable(tx, &alpha)).await.unwrap();
        assert_eq!(who(&world, &session.secret).await, None);
    }
}
