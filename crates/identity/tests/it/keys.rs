//! What is kept of a key beside its hash.

use identity::keys::{self, NewKey};
use testkit::TestPlace;

use crate::world::World;

testkit::both_engines! {
    async fn a_key_is_new_until_its_first_call_is_noted(place: TestPlace) {
        let world = World::new(&place);
        let person = world.person("alpha").await;
        let key = NewKey::draw(&world.ids, "x", &["duels:play".to_owned()], None).unwrap();
        let (id, token) = (key.id.clone(), key.token.clone());
        let holder = person.clone();
        world.change(move |tx| keys::insert(tx, &holder, &key)).await.unwrap();
        let new_key = async || {
            let token = token.clone();
            world.store.read(move |tx| keys::authenticate(tx, &token)).await.unwrap().new_key
        };
        assert_eq!(new_key().await, Some(id.clone()));
        for _ in 0..2 {
            let named = id.clone();
            world.change(move |tx| keys::note_first_call(tx, &named)).await.unwrap();
            assert_eq!(new_key().await, None);
        }
        let listed = world.store.read(move |tx| keys::list(tx, &person)).await.unwrap();
        assert!(listed[0].first_call_at.is_some());
    }
}
