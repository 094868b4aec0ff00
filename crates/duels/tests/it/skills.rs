//! Skills: the same digits on both engines and however the chronicler came by, and what they say is so.

use std::collections::BTreeMap;

use kernel::operation::Asked;
use serde_json::{Value, json};
use testkit::TestPlace;

use crate::world::{World, minutes};

const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
const PAIRS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
const ROUNDS: usize = 10;

async fn read(world: &World, id: &'static str, parameter: &str) -> Value {
    let product = std::sync::Arc::clone(&world.product);
    let asked = Asked { parameter: parameter.to_owned(), query: Vec::new() };
    let json = world.store.read(move |tx| {
        let public = product.publics.iter().find(|public| public.id == id).expect("a public read");
        (public.read)(tx, &asked)
    });
    serde_json::from_str(&json.await.unwrap()).unwrap()
}

/// Everybody meets everybody in each round. Alpha asks for most and gets it; what the others ask for is drawn.
/// The chronicler comes after every `every` duels.
async fn season(place: &TestPlace, every: usize) -> (World, BTreeMap<&'static str, Value>) {
    let world = World::new(place);
    for name in NAMES {
        world.join(name, 5_000).await;
    }
    let (mut state, mut played) = (7_u64, 0);
    for _ in 0..ROUNDS {
        for (at, name) in NAMES.iter().enumerate() {
            let model = format!("maker/model-{}", at % 3);
            world.ok(name, "enter_arena", &json!({"pitch": "x", "model_key": model}).to_string()).await;
        }
        for [a, b] in PAIRS {
            let begun =
                world.ok(NAMES[a], "challenge_agent", &json!({"nickname": NAMES[b]}).to_string()).await;
            let pot = begun["distributable_pot"].as_i64().unwrap();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let drawn = i64::try_from((state >> 33) % 60).unwrap() + 20;
            let share = if a == 0 { 70 } else { drawn };
            let first = pot * share / 100;
            for (who, other, count) in [(a, b, first), (b, a, pot - first)] {
                world
                    .ok(
                        NAMES[who],
                        "submit_demand",
                        &json!({"nickname": NAMES[other], "count": count}).to_string(),
                    )
                    .await;
            }
            played += 1;
            if played % every == 0 {
                world.chronicle(3).await;
            }
        }
        world.advance(minutes(5));
    }
    while world.chronicle(7).await > 0 {}
    world.assert_sound().await;
    let mut skills = BTreeMap::new();
    for name in NAMES {
        skills.insert(name, read(&world, "agent", &world.id(name)).await["skill"].clone());
    }
    let models = read(&world, "modelLeaderboard", "").await;
    skills.insert("models", models["top"].clone());
    (world, skills)
}

#[tokio::test]
async fn both_engines_and_any_pace_give_the_same_digits() {
    let sqlite = TestPlace::sqlite();
    let (world, skills) = season(&sqlite, 1).await;
    let slow = TestPlace::sqlite();
    assert_eq!(season(&slow, 1_000).await.1, skills, "all at once, after the season");
    if let Some(postgres) = TestPlace::postgres("skills::both_engines_and_any_pace_give_the_same_digits") {
        assert_eq!(season(&postgres, 4).await.1, skills, "PostgreSQL");
    }

    let estimate = |name: &str| skills[name]["estimate"].as_f64().unwrap();
    for other in &NAMES[1..] {
        assert!(estimate("alpha") > estimate(other), "{skills:?}");
    }
    assert_eq!(skills["alpha"]["duels"], 30);
    let (low, high) = (&skills["alpha"]["low"], &skills["alpha"]["high"]);
    assert!(
        low.as_f64() < skills["alpha"]["estimate"].as_f64()
            && skills["alpha"]["estimate"].as_f64() < high.as_f64()
    );

    // What alpha and delta play with is compared with the other two, never with itself.
    let models = skills["models"].as_array().unwrap();
    let shared = models.iter().find(|model| model["model_key"] == "maker/model-0").unwrap();
    assert_eq!((&shared["duels_played"], &shared["skill"]["duels"]), (&json!(60), &json!(40)));
    assert!(
        shared["roi_percent"].is_number() && shared["rating_interval_percent"][1].is_number(),
        "{shared}"
    );
    let board = read(&world, "agentLeaderboard", "").await;
    let first = &board["top"][0];
    assert_eq!((&first["nickname"], &first["skill"]), (&json!("alpha"), &skills["alpha"]));

    for (id, parameter) in [
        ("agentLeaderboardPage", String::new()),
        ("modelLeaderboardPage", String::new()),
        ("agentPage", world.id("alpha")),
    ] {
        let page = world.page(id, &parameter).await;
        assert!(page.contains("<details><summary>The bars as numbers</summary>"), "{id}");
        assert!(page.contains(&skills["alpha"]["estimate"].to_string()) || id.starts_with("model"), "{id}");
        assert!(page.contains("return"), "{id}");
    }
    // The tool is as it was.
    let tool = world.ok("alpha", "get_leaderboard", "{}").await;
    assert!(tool["top"][0].get("skill").is_none() && tool["top"][0].get("rating_interval_percent").is_none());
}

/// Changes one number behind everybody's back.
struct Tamper;

kernel::statements! {
    RAISE = "UPDATE skill SET mean_micro = mean_micro + 1 WHERE kind = 'AGENT' AND name = (SELECT id FROM agent WHERE nickname = 'beta')";
    LOSE = "UPDATE duel SET chronicle = chronicle + 1";
    STAKE = "UPDATE agent_model SET staked = staked + 1";
}

impl kernel::tx::Command for Tamper {
    type Out = ();
    fn name(&self) -> &'static str {
        "test.tamper"
    }
    fn run(&self, tx: &mut dyn kernel::tx::Tx) -> Result<kernel::tx::Verdict<()>, kernel::Fault> {
        for sql in ALL {
            tx.exec(sql, &[])?;
        }
        Ok(kernel::tx::Verdict::Done(()))
    }
}

testkit::both_engines! {
    async fn the_audit_sees_what_does_not_follow(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta"]).await;
        world.ok("alpha", "enter_arena", r#"{"pitch":"Here","model_key":"a/b"}"#).await;
        world.play("alpha", "beta", [3, 4]).await;
        world.chronicle(200).await;
        world.assert_sound().await;
        world.store.write(Box::new(Tamper)).await.unwrap();
        let audit = world.store.read(|tx| duels::audit::audit(tx)).await.unwrap();
        let told = audit.violations.join("\n");
        for part in ["does not follow from its duels", "chronicle has 1 duels and its last number is 2", "counters of model a/b"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }
}
