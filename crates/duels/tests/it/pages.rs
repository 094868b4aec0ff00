//! The pages of duels: what they show, what they must not show yet, and that no user's text is markup.

use std::sync::Arc;

use kernel::{
    card::{Card, DuelState, Verdict},
    operation::Page,
};
use serde_json::json;
use testkit::TestPlace;

use crate::world::{World, minutes};

async fn page(world: &World, path: &'static str, parameter: &str) -> Page {
    let (product, parameter) = (Arc::clone(&world.product), parameter.to_owned());
    let read = move |tx: &mut dyn kernel::tx::Tx| {
        let page = product.pages.pages.iter().find(|page| page.path == path).expect("a page of that path");
        (page.read)(tx, &parameter)
    };
    world.store.read(read).await.unwrap()
}

async fn card(world: &World, path: &'static str, parameter: &str) -> (Card, u32) {
    let (product, parameter) = (Arc::clone(&world.product), parameter.to_owned());
    let read = move |tx: &mut dyn kernel::tx::Tx| {
        let card = product.pages.cards.iter().find(|card| card.page == path).expect("a card of that page");
        (card.read)(tx, &parameter)
    };
    let shown = world.store.read(read).await.unwrap();
    (shown.card, shown.max_age_seconds)
}

async fn front(world: &World) -> String {
    let product = Arc::clone(&world.product);
    world.store.read(move |tx| (product.pages.front.as_ref().unwrap())(tx)).await.unwrap()
}

async fn slug(world: &World, path: &'static str) -> String {
    let product = Arc::clone(&world.product);
    let read = move |tx: &mut dyn kernel::tx::Tx| {
        let public = product.publics.iter().find(|public| public.path == path).unwrap();
        (public.read)(tx, &kernel::operation::Asked::default())
    };
    let json: serde_json::Value = serde_json::from_str(&world.store.read(read).await.unwrap()).unwrap();
    let duel = &json["duels"][0];
    duel["slug"].as_str().or(duel["public_slug"].as_str()).unwrap().to_owned()
}

/// An attack on an element, an attribute and the reader's eye. Paired, so that it is accepted.
const HOSTILE: &str =
    "<hostile onload=x></bdi></title>\" hostile=\"' &lt; \u{202e}txt\u{202c} 字字字 👩‍👩‍👧 \u{200b}";

/// Instants may hold any number.
fn without_times(text: &str) -> String {
    let mut parts = text.split("<time ");
    let first = parts.next().unwrap_or_default();
    parts.fold(first.to_owned(), |text, part| text + part.split_once('>').map_or("", |(_, rest)| rest))
}

/// All pages of a world with one settled duel.
async fn all_pages(world: &World) -> Vec<String> {
    let slug = slug(world, "/duels/v1/settled").await;
    let mut shown = vec![front(world).await];
    for (path, parameter) in [
        ("/duels/{slug}", slug.as_str()),
        ("/agents/{id}", &world.id("alpha")),
        ("/agents/{id}", &world.id("beta")),
        ("/leaderboard/agents", ""),
        ("/leaderboard/models", ""),
    ] {
        let page = page(world, path, parameter).await;
        // Title and description are escaped by the shell.
        shown.push(page.main);
    }
    shown
}

testkit::both_engines! {
    async fn users_text_is_never_markup(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        let bio = json!({"bio": HOSTILE, "social_url": "https://x.com/builder"});
        world.ok("alpha", "set_presentation", &bio.to_string()).await;
        world.ok("alpha", "enter_arena", &json!({"pitch": HOSTILE, "model_key": "a/b"}).to_string()).await;
        world.ok("beta", "challenge_agent", &json!({"nickname": "alpha", "message": HOSTILE}).to_string()).await;
        world.ok("alpha", "send_message", &json!({"nickname": "beta", "message": HOSTILE}).to_string()).await;
        world.ok("alpha", "submit_demand", r#"{"nickname":"beta","count":9}"#).await;
        world.ok("beta", "submit_demand", r#"{"nickname":"alpha","count":9}"#).await;
        let pages = all_pages(&world).await;
        for page in &pages {
            assert!(!page.contains("<hostile") && !page.contains("\" hostile="), "{page}");
            for (open, close) in [("<bdi>", "</bdi>"), ("<title>", "</title>"), ("<table", "</table>")] {
                assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open} in {page}");
            }
        }
        assert_eq!(pages.iter().map(|page| page.matches("&lt;hostile").count()).sum::<usize>(), 3, "bio and two messages");
        assert!(pages[2].contains("rel=\"nofollow ugc noopener noreferrer\""));
    }

    async fn an_open_duel_keeps_its_secrets(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "enter_arena", r#"{"pitch":"Here","model_key":"secret/model"}"#).await;
        let challenge = json!({"nickname": "beta", "message": "a secret word"}).to_string();
        world.ok("alpha", "challenge_agent", &challenge).await;
        world.ok("alpha", "submit_demand", r#"{"nickname":"beta","count":17}"#).await;
        let slug = slug(&world, "/duels/v1/active").await;
        let shown = page(&world, "/duels/{slug}", &slug).await;
        let home = front(&world).await;
        for text in [shown.main.as_str(), &shown.title, &shown.description, &home].map(without_times) {
            for secret in ["secret", "17"] {
                // Hex digits of ids and commitments may hold anything.
                let words = text.split(|c: char| !c.is_alphanumeric());
                assert!(words.clone().all(|word| word != secret), "{secret} in {text}");
            }
        }
        assert!(shown.main.contains("sealed") && home.contains("one sealed"), "{}", shown.main);
        world.ok("beta", "submit_demand", r#"{"nickname":"alpha","count":2}"#).await;
        let opened = page(&world, "/duels/{slug}", &slug).await.main;
        for now_public in ["a secret word", "secret/model", "arena duels verify https://arena.example/duels/", "a deal, 0 unclaimed"] {
            assert!(opened.contains(now_public), "{now_public} not in {opened}");
        }
    }

    async fn cards_show_what_the_pages_show(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "enter_arena", r#"{"pitch":"Here","model_key":"secret/model"}"#).await;
        world.ok("alpha", "challenge_agent", r#"{"nickname":"beta","message":"a secret word"}"#).await;
        world.ok("alpha", "submit_demand", r#"{"nickname":"beta","count":17}"#).await;
        let slug = slug(&world, "/duels/v1/active").await;
        let (Card::Duel(open), open_age) = card(&world, "/duels/{slug}", &slug).await else { panic!("a duel") };
        assert_eq!(open.names, ["alpha", "beta"]);
        assert!(matches!(open.state, DuelState::Open { sealed: [true, false], base_burn: 1, .. }), "{open:?}");
        assert!(!format!("{open:?}").contains("secret"), "{open:?}");
        world.ok("beta", "submit_demand", r#"{"nickname":"alpha","count":1}"#).await;
        let (Card::Duel(settled), settled_age) = card(&world, "/duels/{slug}", &slug).await else { panic!("a duel") };
        assert_eq!((settled.stakes, settled.distributable), ([10, 10], 19));
        let expected = DuelState::Settled {
            headline: "A deal over 19 points".to_owned(),
            verdict: Verdict::Deal,
            models: [Some("secret/model".to_owned()), None],
            demands: [17, 1],
            payouts: [17, 1],
            burned: 2,
        };
        assert_eq!(settled.state, expected);
        assert!(open_age <= 10 && settled_age >= 3600, "{open_age} {settled_age}");
        let page = page(&world, "/duels/{slug}", &slug).await.main;
        assert!(page.contains("A deal over 19 points") && page.contains("1 unclaimed, burned"), "{page}");
        let (Card::Agent(agent), _) = card(&world, "/agents/{id}", &world.id("beta")).await else { panic!("an agent") };
        assert_eq!((agent.nickname.as_str(), agent.rating_permille), ("beta", Some(0)));
        assert_eq!((agent.wins, agent.draws, agent.losses), (0, 0, 1));
    }

    async fn a_demand_that_never_came_is_told(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", r#"{"nickname":"beta"}"#).await;
        world.ok("alpha", "submit_demand", r#"{"nickname":"beta","count":19}"#).await;
        world.advance(minutes(10));
        world.settle_due().await;
        let slug = slug(&world, "/duels/v1/settled").await;
        let shown = page(&world, "/duels/{slug}", &slug).await.main;
        assert!(shown.contains("was never sealed") && shown.contains("Neither wrote a word"), "{shown}");
    }

    async fn a_pot_that_nobody_asked_for_is_no_deal(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "challenge_agent", r#"{"nickname":"beta"}"#).await;
        world.advance(minutes(10));
        world.settle_due().await;
        let slug = slug(&world, "/duels/v1/settled").await;
        let shown = page(&world, "/duels/{slug}", &slug).await.main;
        assert!(shown.contains("Nobody claimed 19 points") && !shown.contains("is-deal"), "{shown}");
        let home = front(&world).await;
        assert!(home.contains(">unclaimed") && !home.contains(">deal"), "{home}");
    }

    async fn empty_pages_say_what_will_be_there(place: TestPlace) {
        let world = World::new(&place);
        world.join("alpha", 100).await;
        assert!(front(&world).await.contains("No duel is settled yet"));
        assert!(page(&world, "/agents/{id}", &world.id("alpha")).await.main.contains("appear with the first"));
        assert!(page(&world, "/leaderboard/agents", "").await.main.contains("Nobody has finished 20 duels yet"));
        assert!(page(&world, "/leaderboard/models", "").await.main.contains("model_key"));
    }

    async fn the_stream_and_the_home_page_draw_the_same_row(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.play("alpha", "beta", [9, 9]).await;
        let product = Arc::clone(&world.product);
        let events = world.store.read(move |tx| (product.pages.live.as_ref().unwrap())(tx)).await.unwrap();
        assert_eq!(events.len(), 1);
        assert!(front(&world).await.contains(&events[0].html), "{}", events[0].html);
        assert!(!events[0].html.contains('\n'));
    }
}
