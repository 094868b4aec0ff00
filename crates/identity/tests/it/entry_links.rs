//! Links by which an operator lets somebody in: once, one at a time, and only for a while.

use identity::{
    entry_links,
    people::{self, Person},
    sessions::{self, NewSession},
};
use testkit::TestPlace;

use crate::world::World;

kernel::statements! {
    OLD = "UPDATE entry_link SET expires_ms = 1";
}

async fn make(world: &World, person: &Person) -> String {
    let (person, link) = (person.clone(), entry_links::draw(&world.ids));
    let kept = link.clone();
    world.change(move |tx| entry_links::insert(tx, &person, &kept)).await.unwrap();
    link
}

async fn take(world: &World, link: &str) -> Option<String> {
    let link = link.to_owned();
    let taken = world.change(move |tx| entry_links::take(tx, &link)).await.unwrap();
    taken.map(|person| person.nickname)
}

testkit::both_engines! {
    async fn a_link_lets_its_person_in_once(place: TestPlace) {
        let world = World::new(&place);
        let (alpha, beta) = (world.person("alpha").await, world.person("beta").await);
        let (replaced, other) = (make(&world, &alpha).await, make(&world, &beta).await);
        let link = make(&world, &alpha).await;
        assert_eq!(take(&world, &replaced).await, None);
        assert_eq!(take(&world, "x").await, None);
        assert_eq!(take(&world, &link).await.as_deref(), Some("alpha"));
        assert_eq!(take(&world, &link).await, None);
        assert_eq!(take(&world, &other).await.as_deref(), Some("beta"));
    }

    async fn a_session_by_link_is_settled_once(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let [by_link, other, by_password] = [entry_links::PROVIDER, entry_links::PROVIDER, sessions::LOCAL]
            .map(|provider| NewSession::draw(&world.ids, provider, ""));
        for session in [&by_link, &other, &by_password] {
            let (person, session) = (alpha.id.clone(), session.clone());
            world.change(move |tx| sessions::insert(tx, &person, &session)).await.unwrap();
        }
        let settle = async |session: &NewSession| {
            let id = session.id.clone();
            world.change(move |tx| entry_links::settle(tx, &id)).await.unwrap()
        };
        assert!(settle(&by_link).await);
        assert!(!settle(&by_link).await && !settle(&by_password).await);
        assert!(settle(&other).await, "another session was not settled along");
    }

    async fn it_ends_with_time_by_hand_and_with_the_person(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let link = make(&world, &alpha).await;
        let shut = alpha.clone();
        world.change(move |tx| people::disable(tx, &shut)).await.unwrap();
        assert_eq!(take(&world, &link).await, None);
        let again = alpha.clone();
        world.change(move |tx| people::enable(tx, &again)).await.unwrap();
        let id = alpha.id.clone();
        let looked = link.clone();
        let found = world.store.read(move |tx| entry_links::find(tx, &looked)).await.unwrap();
        assert_eq!(found.map(|person| person.id), Some(id.clone()));
        world.change(move |tx| entry_links::forget(tx, &id)).await.unwrap();
        assert_eq!(take(&world, &link).await, None);
        let late = make(&world, &alpha).await;
        world.sql(&OLD).await;
        assert_eq!(take(&world, &late).await, None);
        assert_eq!(world.change(identity::prune).await.unwrap(), 1);
    }
}
