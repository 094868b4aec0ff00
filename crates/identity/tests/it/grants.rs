//! Codes and tokens: one use each, one family, and the end of it when something comes back.

use std::collections::BTreeSet;

use identity::{
    oauth::{
        grants::{self, NotGranted, Redeeming},
        requests::{self, AuthRequest},
        tokens::{self, Issued, NewTokens, Refreshing},
    },
    people,
    people::Person,
    secret,
};
use kernel::{Fault, id::Ids};
use testkit::TestPlace;
use tokio::task::JoinSet;

use crate::world::World;

kernel::statements! {
    GRACE_OVER = "UPDATE oauth_token SET rotated_ms = rotated_ms - 61000 WHERE rotated_ms IS NOT NULL";
    CODES_OLD = "UPDATE oauth_code SET expires_ms = 0";
    ACCESS_OLD = "UPDATE oauth_token SET expires_ms = 0 WHERE kind = 'ACCESS'";
    REFRESH_OLD = "UPDATE oauth_token SET expires_ms = 0 WHERE kind = 'REFRESH'";
    GRANTS_OLD = "UPDATE oauth_grant SET expires_ms = 0";
    REQUESTS_OLD = "UPDATE oauth_request SET expires_ms = 0";
    COUNT = "SELECT (SELECT COUNT(*) FROM oauth_token) + (SELECT COUNT(*) FROM oauth_grant) + (SELECT COUNT(*) FROM oauth_code) + (SELECT COUNT(*) FROM oauth_request)";
    SEALED = "SELECT COUNT(*) FROM oauth_token WHERE successor IS NOT NULL";
}

const CLIENT: &str = "dcr_client";
const RESOURCE: &str = "https://arena.example/mcp";
const VERIFIER: &str = "a verifier of at least forty-three characters, so long";

fn request() -> AuthRequest {
    AuthRequest {
        client: CLIENT.to_owned(),
        client_name: "Client".to_owned(),
        redirect_uri: "http://127.0.0.1:1/cb".to_owned(),
        state: None,
        challenge: secret::challenge(VERIFIER),
        resource: RESOURCE.to_owned(),
        scope: "duels:play".to_owned(),
    }
}

/// A grant's code.
async fn allowed(world: &World, person: &Person) -> String {
    let (id, code) = (world.ids.slug(), secret::draw(&world.ids, "arena_ac_"));
    let (person, drawn) = (person.clone(), code.clone());
    world.change(move |tx| grants::allow(tx, &id, &drawn, &person, "google", &request())).await.unwrap();
    code
}

fn redeeming(code: &str) -> Redeeming {
    Redeeming {
        code: code.to_owned(),
        client: CLIENT.to_owned(),
        redirect_uri: None,
        verifier: VERIFIER.to_owned(),
        resource: None,
    }
}

async fn redeem(world: &World, redeeming: Redeeming) -> Result<Issued, NotGranted> {
    let new = NewTokens::draw(&world.ids);
    let run = move |tx: &mut dyn kernel::tx::Tx| match grants::redeem(tx, &redeeming)? {
        Ok(grant) => tokens::issue(tx, &grant, &new).map(Ok),
        Err(refused) => Ok(Err(refused)),
    };
    world.change(run).await.unwrap()
}

async fn refresh(world: &World, token: &str) -> Result<Issued, NotGranted> {
    refresh_as(world, token, CLIENT, None).await
}

async fn refresh_as(
    world: &World,
    token: &str,
    client: &str,
    resource: Option<&str>,
) -> Result<Issued, NotGranted> {
    let new = NewTokens::draw(&world.ids);
    let refreshing = Refreshing {
        token: token.to_owned(),
        client: client.to_owned(),
        resource: resource.map(str::to_owned),
        scope: None,
    };
    world.change(move |tx| tokens::refresh(tx, &refreshing, &new)).await.unwrap()
}

async fn enter(world: &World, token: &str) -> Result<(String, String, Option<String>), Fault> {
    let token = token.to_owned();
    let principal = world.store.read(move |tx| identity::authenticate(tx, &token)).await?;
    Ok((principal.nickname, principal.provider, principal.resource))
}

fn why(refused: &Result<Issued, NotGranted>) -> &'static str {
    match refused {
        Err(NotGranted::Invalid(why)) => why,
        Err(NotGranted::Target) => "target",
        Ok(_) => "granted",
    }
}

testkit::both_engines! {
    async fn a_code_becomes_tokens_once(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let code = allowed(&world, &alpha).await;
        // What is wrong is refused and uses nothing up.
        for (other, words) in [
            (Redeeming { code: "arena_ac_x".to_owned(), ..redeeming(&code) }, "unknown"),
            (Redeeming { client: "dcr_other".to_owned(), ..redeeming(&code) }, "another client"),
            (Redeeming { redirect_uri: Some("http://127.0.0.1:2/cb".to_owned()), ..redeeming(&code) }, "redirect_uri"),
            (Redeeming { verifier: "another".to_owned(), ..redeeming(&code) }, "code_verifier"),
            (Redeeming { resource: Some("https://arena.example/other".to_owned()), ..redeeming(&code) }, "target"),
        ] {
            let refused = why(&redeem(&world, other).await);
            assert!(refused.contains(words), "{words}: {refused}");
        }
        let issued = redeem(&world, redeeming(&code)).await.unwrap();
        assert_eq!((issued.scope.as_str(), issued.expires_in_seconds), ("duels:play", 3600));
        let who = enter(&world, &issued.access).await.unwrap();
        assert_eq!(who, ("alpha".to_owned(), "google".to_owned(), Some(RESOURCE.to_owned())));
        assert!(enter(&world, &issued.refresh).await.is_err(), "a refresh token opens nothing by itself");
        // The code comes back: everything that came of it ends, also what was renewed.
        let renewed = refresh(&world, &issued.refresh).await.unwrap();
        assert!(why(&redeem(&world, redeeming(&code)).await).contains("used before"));
        for token in [&issued.access, &renewed.access] {
            assert!(enter(&world, token).await.unwrap_err().message.contains("revoked"));
        }
        assert!(why(&refresh(&world, &renewed.refresh).await).contains("revoked"));
    }

    async fn ten_at_once_get_one_successor_and_a_late_one_ends_the_family(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let code = allowed(&world, &alpha).await;
        let first = redeem(&world, redeeming(&code)).await.unwrap();
        let mut asking = JoinSet::new();
        for _ in 0..10 {
            let (store, token, new) = (world.store.clone(), first.refresh.clone(), NewTokens::draw(&world.ids));
            asking.spawn(async move {
                let refreshing = Refreshing { token, client: CLIENT.to_owned(), resource: None, scope: None };
                let act = identity::act::Act::new("test.refresh", move |tx| {
                    tokens::refresh(tx, &refreshing, &new)
                });
                store.write(Box::new(act)).await.unwrap()
            });
        }
        let mut answers = Vec::new();
        while let Some(answer) = asking.join_next().await {
            let kernel::tx::Verdict::Done(Ok(issued)) = answer.unwrap() else { panic!("one of ten was refused") };
            answers.push(issued);
        }
        let successors: BTreeSet<&str> = answers.iter().map(|issued| issued.refresh.as_str()).collect();
        assert_eq!(successors.len(), 1, "one lineage");
        for issued in &answers {
            enter(&world, &issued.access).await.unwrap();
        }
        let successor = answers[0].refresh.clone();
        refresh(&world, &successor).await.unwrap();
        // After the grace the first token is a stolen one.
        world.sql(&GRACE_OVER).await;
        assert!(why(&refresh(&world, &first.refresh).await).contains("used before"));
        assert!(why(&refresh(&world, &successor).await).contains("revoked"));
        assert!(enter(&world, &answers[0].access).await.is_err());
    }

    async fn a_refresh_token_is_of_its_client_and_resource(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let code = allowed(&world, &alpha).await;
        let first = redeem(&world, redeeming(&code)).await.unwrap();
        assert!(why(&refresh_as(&world, &first.refresh, "dcr_other", None).await).contains("another client"));
        assert_eq!(why(&refresh_as(&world, &first.refresh, CLIENT, Some("https://arena.example/x")).await), "target");
        assert_eq!(why(&refresh_as(&world, &first.refresh, CLIENT, Some(RESOURCE)).await), "granted");
    }

    async fn everything_ends_in_time(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let late = allowed(&world, &alpha).await;
        let code = allowed(&world, &alpha).await;
        let issued = redeem(&world, redeeming(&code)).await.unwrap();
        world.sql(&CODES_OLD).await;
        assert!(why(&redeem(&world, redeeming(&late)).await).contains("expired"));
        world.sql(&ACCESS_OLD).await;
        assert!(enter(&world, &issued.access).await.unwrap_err().message.contains("expired"));
        let renewed = refresh(&world, &issued.refresh).await.unwrap();
        world.sql(&REFRESH_OLD).await;
        assert!(why(&refresh(&world, &renewed.refresh).await).contains("unknown or has expired"));
        let ticket = secret::draw(&world.ids, "");
        let kept = ticket.clone();
        world.change(move |tx| requests::insert(tx, &kept, &request())).await.unwrap();
        world.sql(&REQUESTS_OLD).await;
        let looked = ticket.clone();
        assert_eq!(world.store.read(move |tx| requests::get(tx, &looked)).await.unwrap(), None);
        // What has ended leaves.
        world.sql(&ACCESS_OLD).await;
        world.sql(&GRANTS_OLD).await;
        world.change(identity::prune).await.unwrap();
        let left = world.store.read(|tx| tx.row(&COUNT, &[])).await.unwrap().unwrap().i64(0).unwrap();
        assert_eq!(left, 0);
    }

    async fn a_successor_is_not_kept_past_its_grace(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let code = allowed(&world, &alpha).await;
        let first = redeem(&world, redeeming(&code)).await.unwrap();
        refresh(&world, &first.refresh).await.unwrap();
        let sealed = async || world.store.read(|tx| tx.row(&SEALED, &[])).await.unwrap().unwrap().i64(0).unwrap();
        world.change(identity::prune).await.unwrap();
        assert_eq!(sealed().await, 1);
        world.sql(&GRACE_OVER).await;
        world.change(identity::prune).await.unwrap();
        assert_eq!(sealed().await, 0);
    }

    async fn a_person_ends_what_it_allowed(place: TestPlace) {
        let world = World::new(&place);
        let (alpha, beta) = (world.person("alpha").await, world.person("beta").await);
        let code = allowed(&world, &alpha).await;
        let issued = redeem(&world, redeeming(&code)).await.unwrap();
        // A grant whose code nobody fetched is no program that is let in.
        allowed(&world, &alpha).await;
        let id = alpha.id.clone();
        let listed = world.store.read(move |tx| grants::list(tx, &id)).await.unwrap();
        assert_eq!(listed.len(), 1);
        let (grant, other) = (listed[0].id.clone(), beta.id.clone());
        let tried = grant.clone();
        assert!(!world.change(move |tx| grants::revoke_own(tx, &other, &tried)).await.unwrap(), "not another's");
        enter(&world, &issued.access).await.unwrap();
        let id = alpha.id.clone();
        assert!(world.change(move |tx| grants::revoke_own(tx, &id, &grant)).await.unwrap());
        assert!(enter(&world, &issued.access).await.is_err());
    }

    async fn a_client_ends_its_own_tokens_only(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let code = allowed(&world, &alpha).await;
        let issued = redeem(&world, redeeming(&code)).await.unwrap();
        let revoke = async |token: &str, client: &'static str| {
            let token = token.to_owned();
            world.change(move |tx| tokens::revoke(tx, &token, Some(client))).await.unwrap();
        };
        revoke(&issued.refresh, "dcr_other").await;
        revoke("arena_rt_unknown", CLIENT).await;
        enter(&world, &issued.access).await.unwrap();
        revoke(&issued.access, CLIENT).await;
        assert!(enter(&world, &issued.access).await.is_err());
        let renewed = refresh(&world, &issued.refresh).await.unwrap();
        revoke(&renewed.refresh, CLIENT).await;
        assert!(enter(&world, &renewed.access).await.is_err());
    }

    async fn a_disabled_person_is_out_at_once(place: TestPlace) {
        let world = World::new(&place);
        let alpha = world.person("alpha").await;
        let code = allowed(&world, &alpha).await;
        let issued = redeem(&world, redeeming(&code)).await.unwrap();
        let person = alpha.clone();
        world.change(move |tx| people::disable(tx, &person)).await.unwrap();
        assert!(enter(&world, &issued.access).await.unwrap_err().message.contains("disabled"));
        assert!(why(&refresh(&world, &issued.refresh).await).contains("revoked"));
        world.change(move |tx| people::enable(tx, &alpha)).await.unwrap();
        enter(&world, &issued.access).await.unwrap();
    }
}
