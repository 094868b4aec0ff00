//! Command lines that wait for a person.

use identity::pairings::{self, NewPairing, Standing};
use testkit::TestPlace;

use crate::world::World;

kernel::statements! {
    OLD = "UPDATE pairing SET expires_ms = 0";
}

async fn begin(world: &World) -> NewPairing {
    let pairing = NewPairing::draw(&world.ids, "host");
    let stored = pairing.clone();
    assert!(world.change(move |tx| pairings::insert(tx, &stored)).await.unwrap());
    pairing
}

async fn standing(world: &World, pairing: &NewPairing) -> Standing {
    let secret = pairing.secret.clone();
    world.store.read(move |tx| pairings::standing(tx, &secret)).await.unwrap()
}

async fn decide(world: &World, pairing: &NewPairing, person: Option<&str>) -> bool {
    let (code, person) = (pairing.code.clone(), person.map(str::to_owned));
    world.change(move |tx| pairings::decide(tx, &code, person.as_deref(), "local")).await.unwrap()
}

testkit::both_engines! {
    async fn a_person_lets_a_command_line_in_once(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let pairing = begin(&world).await;
        assert_eq!(standing(&world, &pairing).await, Standing::Waiting);
        assert!(decide(&world, &pairing, Some(&alpha.id)).await);
        assert!(!decide(&world, &pairing, None).await, "decided already");
        let let_in = Standing::LetIn { person: alpha.id.clone(), provider: "local".to_owned(), label: pairing.label.clone() };
        assert_eq!(standing(&world, &pairing).await, let_in);
        let take = async || {
            let secret = pairing.secret.clone();
            world.change(move |tx| pairings::take(tx, &secret)).await.unwrap()
        };
        assert!(take().await);
        assert!(!take().await);
        assert_eq!(standing(&world, &pairing).await, Standing::Gone);
    }

    async fn a_refusal_and_time_end_it(place: TestPlace) {
        let world = World::new(&place);
        let (refused, late) = (begin(&world).await, begin(&world).await);
        assert!(decide(&world, &refused, None).await);
        assert_eq!(standing(&world, &refused).await, Standing::Refused);
        world.sql(&OLD).await;
        assert!(!decide(&world, &late, Some("somebody")).await);
        assert_eq!(standing(&world, &late).await, Standing::Gone);
        assert_eq!(world.change(identity::prune).await.unwrap(), 2);
    }
}
