//! Accounts of other issuers: one person each, never the last way in taken away, one arrival a departure.

use identity::{
    logins::{self, Account, Departure, Newcomer},
    passwords, secret,
};
use kernel::Kind;
use testkit::TestPlace;

use crate::world::World;

kernel::statements! {
    DEPARTED_OLD = "UPDATE departure SET expires_ms = 0";
    NEWCOMERS_OLD = "UPDATE newcomer SET expires_ms = 0";
    PROVIDERS = "SELECT providers FROM person WHERE nickname = 'alpha'";
}

fn account(provider: &str, subject: &str) -> Account {
    Account {
        provider: provider.to_owned(),
        subject: subject.to_owned(),
        label: format!("{subject}@{provider}"),
    }
}

async fn providers(world: &World) -> String {
    world.store.read(|tx| tx.row(&PROVIDERS, &[])).await.unwrap().unwrap().text(0).unwrap()
}

testkit::both_engines! {
    async fn an_account_is_of_one_person(place: TestPlace) {
        let world = World::new(&place);
        let (alpha, beta) = (world.person("alpha").await, world.person("beta").await);
        let link = async |person: &identity::people::Person, account: Account| {
            let person = person.clone();
            world.change(move |tx| logins::link(tx, &person, &account)).await
        };
        link(&alpha, account("google", "1")).await.unwrap();
        link(&alpha, account("github", "1")).await.unwrap();
        let renamed = Account { label: "renamed".to_owned(), ..account("google", "1") };
        link(&alpha, renamed.clone()).await.unwrap();
        assert_eq!(link(&beta, account("google", "1")).await.unwrap_err().kind, Kind::Conflict);
        let found = world.store.read(move |tx| logins::person_of(tx, &account("google", "1"))).await.unwrap();
        assert_eq!(found.unwrap().nickname, "alpha");
        let id = alpha.id.clone();
        let links = world.store.read(move |tx| logins::of(tx, &id)).await.unwrap();
        assert_eq!(links.iter().map(|link| link.account.label.as_str()).collect::<Vec<_>>(), ["1@github", "renamed"]);
        assert_eq!(providers(&world).await, "github google");
    }

    async fn the_last_way_in_stays(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let person = alpha.clone();
        world.change(move |tx| logins::link(tx, &person, &account("google", "1"))).await.unwrap();
        let unlink = async |provider: &'static str| {
            let id = alpha.id.clone();
            world.change(move |tx| logins::unlink(tx, &id, provider, "1")).await
        };
        assert!(unlink("google").await.unwrap_err().message.contains("only way"));
        let (id, hash) = (alpha.id.clone(), passwords::hash(&world.ids, "correct horse battery").unwrap());
        world.change(move |tx| passwords::set(tx, &id, &hash)).await.unwrap();
        assert_eq!(providers(&world).await, "google local");
        assert_eq!(unlink("github").await.unwrap_err().kind, Kind::NotFound);
        unlink("google").await.unwrap();
        assert_eq!(providers(&world).await, "local");
    }

    async fn a_departure_arrives_once_and_in_its_own_browser(place: TestPlace) {
        let world = World::new(&place);
        let departure = Departure {
            browser: secret::hash("this browser"),
            provider: "google".to_owned(),
            nonce: "n".to_owned(),
            verifier: "v".to_owned(),
            back: "/account".to_owned(),
            person: None,
        };
        let depart = async |state: &'static str| {
            let departure = departure.clone();
            world.change(move |tx| logins::depart(tx, state, &departure)).await.unwrap();
        };
        let arrive = async |state: &'static str, browser: &'static str| {
            world.change(move |tx| logins::arrive(tx, state, &secret::hash(browser))).await.unwrap()
        };
        depart("one").await;
        assert_eq!(arrive("other", "this browser").await, None);
        assert_eq!(arrive("one", "this browser").await, Some(departure.clone()));
        assert_eq!(arrive("one", "this browser").await, None, "once");
        depart("two").await;
        assert_eq!(arrive("two", "another browser").await, None);
        assert_eq!(arrive("two", "this browser").await, None, "a guess uses it up");
        depart("three").await;
        world.sql(&DEPARTED_OLD).await;
        assert_eq!(arrive("three", "this browser").await, None, "too late");
    }

    async fn a_newcomer_is_remembered_for_a_while(place: TestPlace) {
        let world = World::new(&place);
        let newcomer =
            Newcomer { account: account("github", "7"), suggested: Some("seven".to_owned()), back: "/".to_owned() };
        let kept = newcomer.clone();
        world.change(move |tx| logins::come(tx, "ticket", &kept)).await.unwrap();
        let found = async |ticket: &'static str| {
            world.store.read(move |tx| logins::newcomer(tx, ticket)).await.unwrap()
        };
        assert_eq!(found("ticket").await, Some(newcomer));
        assert_eq!(found("other").await, None);
        world.sql(&NEWCOMERS_OLD).await;
        assert_eq!(found("ticket").await, None);
        world.change(identity::prune).await.unwrap();
    }
}
