//! Passkeys: one person each, never the last way in taken away, one use a counter, one end a ceremony.

use identity::{
    ceremonies::{self, Ceremony, Purpose},
    logins::{self, Account},
    passkeys::{self, NewPasskey, PASSKEYS_MAX},
    passwords,
    people::Person,
    secret,
};
use kernel::{Fault, Kind};
use testkit::TestPlace;

use crate::world::World;

kernel::statements! {
    CEREMONIES_OLD = "UPDATE ceremony SET expires_ms = 0";
    CEREMONIES = "SELECT COUNT(*) FROM ceremony";
    PROVIDERS = "SELECT providers FROM person WHERE nickname = 'alpha'";
}

fn passkey(credential: &str) -> NewPasskey {
    NewPasskey {
        id: format!("id of {credential}"),
        credential: credential.as_bytes().to_vec(),
        key: "key at 1".to_owned(),
        label: format!("label of {credential}"),
    }
}

async fn add(world: &World, person: &Person, passkey: NewPasskey) -> Result<(), Fault> {
    let id = person.id.clone();
    world.change(move |tx| passkeys::add(tx, &id, &passkey)).await
}

async fn remove(world: &World, person: &Person, id: &'static str) -> Result<String, Fault> {
    let person = person.id.clone();
    world.change(move |tx| passkeys::remove(tx, &person, id)).await
}

async fn providers(world: &World) -> String {
    world.store.read(|tx| tx.row(&PROVIDERS, &[])).await.unwrap().unwrap().text(0).unwrap()
}

testkit::both_engines! {
    async fn a_passkey_is_of_one_person(place: TestPlace) {
        let world = World::new(&place);
        let (alpha, beta) = (world.person("alpha").await, world.person("beta").await);
        add(&world, &alpha, passkey("a")).await.unwrap();
        for person in [&alpha, &beta] {
            let refused = add(&world, person, NewPasskey { id: "other".to_owned(), ..passkey("a") }).await;
            assert_eq!(refused.unwrap_err().kind, Kind::Conflict);
        }
        let held = world.store.read(|tx| passkeys::find(tx, b"a")).await.unwrap().unwrap();
        assert_eq!((held.person.nickname.as_str(), held.key.as_str()), ("alpha", "key at 1"));
        assert_eq!(world.store.read(|tx| passkeys::find(tx, b"b")).await.unwrap(), None);
        assert_eq!(providers(&world).await, "local");
        // Somebody else names and removes nothing of it.
        let id = beta.id.clone();
        let renamed = world.change(move |tx| passkeys::rename(tx, &id, "id of a", "mine")).await;
        assert_eq!(renamed.unwrap_err().kind, Kind::NotFound);
        assert_eq!(remove(&world, &beta, "id of a").await.unwrap_err().kind, Kind::NotFound);
        let id = alpha.id.clone();
        world.change(move |tx| passkeys::rename(tx, &id, "id of a", "phone")).await.unwrap();
        let id = alpha.id.clone();
        let own = world.store.read(move |tx| passkeys::of(tx, &id)).await.unwrap();
        assert_eq!((own.len(), own[0].label.as_str(), own[0].used_at), (1, "phone", None));
    }

    async fn one_counter_counts_once(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        add(&world, &alpha, passkey("a")).await.unwrap();
        let used = async |checked: &'static str, now: &'static str| {
            world.change(move |tx| passkeys::note_use(tx, b"a", checked, now)).await.unwrap()
        };
        assert!(used("key at 1", "key at 2").await);
        assert!(!used("key at 1", "key at 2").await, "checked against a counter that is past");
        // Authenticators that do not count sign again and again with the same.
        assert!(used("key at 2", "key at 2").await);
        assert!(used("key at 2", "key at 2").await);
        let id = alpha.id.clone();
        let own = world.store.read(move |tx| passkeys::of(tx, &id)).await.unwrap();
        assert!(own[0].used_at.is_some());
    }

    async fn there_are_not_too_many(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        for count in 0..PASSKEYS_MAX {
            add(&world, &alpha, passkey(&format!("{count:02}"))).await.unwrap();
        }
        let refused = add(&world, &alpha, passkey("more")).await.unwrap_err();
        assert!(refused.kind == Kind::Conflict && refused.message.contains("remove one first"), "{refused:?}");
        assert_eq!(remove(&world, &alpha, "id of 00").await.unwrap(), "label of 00");
        add(&world, &alpha, passkey("more")).await.unwrap();
    }

    async fn the_last_of_all_ways_in_stays(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let only = |fault: Fault| assert!(fault.message.contains("only way"), "{fault:?}");
        add(&world, &alpha, passkey("a")).await.unwrap();
        only(remove(&world, &alpha, "id of a").await.unwrap_err());
        assert!(world.store.read(|tx| passkeys::find(tx, b"a")).await.unwrap().is_some(), "it is still there");
        // A password is a way in, and becomes the last one.
        let (id, hash) = (alpha.id.clone(), passwords::hash(&world.ids, "correct horse battery").unwrap());
        world.change(move |tx| passwords::set(tx, &id, &hash)).await.unwrap();
        remove(&world, &alpha, "id of a").await.unwrap();
        assert_eq!(providers(&world).await, "local");
        let forget = async || {
            let id = alpha.id.clone();
            world.change(move |tx| passwords::remove(tx, &id)).await
        };
        only(forget().await.unwrap_err());
        // So is an account of another issuer.
        let account = Account { provider: "google".to_owned(), subject: "1".to_owned(), label: "a".to_owned() };
        let person = alpha.clone();
        world.change(move |tx| logins::link(tx, &person, &account)).await.unwrap();
        forget().await.unwrap();
        assert_eq!(forget().await.unwrap_err().kind, Kind::NotFound);
        assert_eq!(providers(&world).await, "google");
        let unlink = async || {
            let id = alpha.id.clone();
            world.change(move |tx| logins::unlink(tx, &id, "google", "1")).await
        };
        only(unlink().await.unwrap_err());
        add(&world, &alpha, passkey("b")).await.unwrap();
        assert_eq!(providers(&world).await, "google local");
        unlink().await.unwrap();
        assert_eq!(providers(&world).await, "local");
    }

    async fn of_two_removals_at_once_one_stays(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        add(&world, &alpha, passkey("a")).await.unwrap();
        add(&world, &alpha, passkey("b")).await.unwrap();
        let (one, two) =
            tokio::join!(remove(&world, &alpha, "id of a"), remove(&world, &alpha, "id of b"));
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    }

    async fn a_ceremony_ends_once_and_in_its_own_browser(place: TestPlace) {
        let world = World::new(&place);
        let purposes = [
            Purpose::SignIn,
            Purpose::SignUp { person: "id".to_owned(), nickname: "alpha".to_owned() },
            Purpose::Add { person: "id".to_owned() },
        ];
        let begin = async |ticket: &'static str, purpose: Purpose| {
            let ceremony = Ceremony { browser: secret::hash("this browser"), purpose, state: "state".to_owned() };
            let kept = ceremony.clone();
            world.change(move |tx| ceremonies::begin(tx, ticket, &kept)).await.unwrap();
            ceremony
        };
        let take = async |ticket: &'static str, browser: &'static str| {
            world.change(move |tx| ceremonies::take(tx, ticket, &secret::hash(browser))).await.unwrap()
        };
        for purpose in purposes {
            let begun = begin("one", purpose).await;
            assert_eq!(take("other", "this browser").await, None);
            assert_eq!(take("one", "this browser").await, Some(begun));
            assert_eq!(take("one", "this browser").await, None, "once");
        }
        begin("two", Purpose::SignIn).await;
        assert_eq!(take("two", "another browser").await, None);
        assert_eq!(take("two", "this browser").await, None, "a guess uses it up");
        begin("three", Purpose::SignIn).await;
        world.sql(&CEREMONIES_OLD).await;
        assert_eq!(take("three", "this browser").await, None, "too late");
        begin("four", Purpose::SignIn).await;
        world.sql(&CEREMONIES_OLD).await;
        world.change(identity::prune).await.unwrap();
        let left = world.store.read(|tx| tx.row(&CEREMONIES, &[])).await.unwrap().unwrap().i64(0).unwrap();
        assert_eq!(left, 0);
    }
}

#[test]
fn a_name_is_short_and_shows_what_it_is() {
    assert_eq!(passkeys::label(" my\u{202e} phone\n").unwrap(), "my phone");
    for wrong in ["", "  ", "\u{202e}", &"x".repeat(61)] {
        assert!(passkeys::label(wrong).is_err(), "{wrong:?}");
    }
}
