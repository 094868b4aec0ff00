//! The export: every settled duel once, whole, in order, in pages that stay small.

use kernel::operation::Asked;
use serde_json::{Value, json};
use testkit::TestPlace;

use crate::world::{World, minutes};

async fn ask(
    world: &World,
    id: &'static str,
    parameter: &str,
    query: &[(&'static str, String)],
) -> Result<Value, String> {
    let product = std::sync::Arc::clone(&world.product);
    let asked = Asked { parameter: parameter.to_owned(), query: query.to_vec() };
    let read = world
        .store
        .read(move |tx| {
            let public = product.publics.iter().find(|public| public.id == id).expect("a public read");
            (public.read)(tx, &asked)
        })
        .await;
    read.map(|json| serde_json::from_str(&json).unwrap()).map_err(|fault| fault.message)
}

async fn page(world: &World, query: &[(&'static str, String)]) -> Value {
    ask(world, "export", "", query).await.unwrap()
}

fn opponents(page: &Value) -> Vec<&str> {
    let duels = page["duels"].as_array().unwrap();
    duels.iter().map(|duel| duel["participants"][1]["nickname"].as_str().unwrap()).collect()
}

testkit::both_engines! {
    async fn a_window_holds_what_finished_in_it(place: TestPlace) {
        let world = World::with(&place, &["alpha", "beta", "gamma", "delta"]).await;
        let empty = page(&world, &[]).await;
        assert_eq!(empty, json!({"duels": [], "next_after": null, "through": 0}));
        world.play("alpha", "beta", [3, 4]).await;
        assert_eq!(page(&world, &[]).await, empty, "the chronicler has not seen it yet");
        assert_eq!(world.chronicle(200).await, 1);
        world.advance(minutes(1));
        let second = world.now().to_string();
        world.play("alpha", "gamma", [3, 4]).await;
        world.advance(minutes(1));
        let third = world.now().to_string();
        world.play("alpha", "delta", [3, 4]).await;
        assert_eq!(world.chronicle(1).await, 1, "as many as asked");
        assert_eq!(world.chronicle(200).await, 1);
        assert_eq!(world.chronicle(200).await, 0);

        let all = page(&world, &[]).await;
        assert_eq!((opponents(&all), &all["through"], &all["next_after"]), (vec!["beta", "gamma", "delta"], &json!(3), &Value::Null));
        let slug = all["duels"][0]["slug"].as_str().unwrap();
        assert_eq!(all["duels"][0], ask(&world, "duel", slug, &[]).await.unwrap(), "one shape");
        for (query, expected) in [
            (vec![("since", second.clone())], vec!["gamma", "delta"]),
            (vec![("until", third.clone())], vec!["beta", "gamma"]),
            (vec![("since", second.clone()), ("until", third.clone())], vec!["gamma"]),
            (vec![("since", second.clone()), ("until", second.clone())], vec![]),
            (vec![("after", "1".to_owned())], vec!["gamma", "delta"]),
            (vec![("after", "1".to_owned()), ("through", "2".to_owned())], vec!["gamma"]),
            (vec![("after", "3".to_owned())], vec![]),
        ] {
            assert_eq!(opponents(&page(&world, &query).await), expected, "{query:?}");
        }
        let late = world.now().plus_ms(1).to_string();
        for (query, part) in [
            (vec![("since", late.clone())], "since is in the future"),
            (vec![("until", late)], "until is in the future"),
            (vec![("since", third), ("until", second)], "since is after until"),
            (vec![("since", "yesterday".to_owned())], "since is not an instant"),
            (vec![("since", "2026-08-24T14:27:00 02:00".to_owned())], "since is not an instant"),
            (vec![("after", "-1".to_owned())], "after is not a whole number"),
            (vec![("after", "9223372036854775808".to_owned())], "after is not a whole number"),
            (vec![("after", "4".to_owned())], "numbered 3 settled duels"),
            (vec![("through", "4".to_owned())], "numbered 3 settled duels"),
        ] {
            let told = ask(&world, "export", "", &query).await.unwrap_err();
            assert!(told.contains(part), "{query:?}: {told}");
        }
        world.assert_sound().await;
    }
}

testkit::both_engines! {
    async fn long_duels_make_short_pages_and_go_on_elsewhere(place: TestPlace) {
        let names = ["alpha", "beta", "gamma", "delta"];
        let world = World::with(&place, &names).await;
        // Each message is as long as one may be, in bytes.
        let text = "𝄞".repeat(500);
        let message = |to: &str| json!({"nickname": to, "message": text}).to_string();
        for (from, to, count) in [("alpha", "beta", 1_005), ("gamma", "delta", 2), ("alpha", "gamma", 1)] {
            world.ok(from, "challenge_agent", &message(to)).await;
            for _ in 1..count {
                world.ok(from, "send_message", &message(to)).await;
            }
            world.ok(from, "submit_demand", &json!({"nickname": to, "count": 1}).to_string()).await;
            world.ok(to, "submit_demand", &json!({"nickname": from, "count": 1}).to_string()).await;
        }
        world.chronicle(200).await;
        let first = page(&world, &[]).await;
        assert!(first.to_string().len() < 4 * 1024 * 1024);
        assert_eq!((opponents(&first), &first["next_after"], &first["through"]), (vec!["beta"], &json!(1), &json!(3)));
        let rest = page(&world, &[("after", "1".to_owned()), ("through", "3".to_owned())]).await;
        assert_eq!((opponents(&rest), &rest["next_after"]), (vec!["delta", "gamma"], &Value::Null));
        assert_eq!(rest["duels"][0]["more_messages_url"], Value::Null);

        let long = &first["duels"][0];
        let slug = long["slug"].as_str().unwrap();
        assert_eq!((long["messages"].as_i64(), long["transcript"].as_array().unwrap().len()), (Some(1_005), 1_000));
        let more = format!("https://arena.example/duels/v1/messages/{slug}?after=1000");
        assert_eq!(long["more_messages_url"], more);
        let rest = ask(&world, "messages", slug, &[("after", "1000".to_owned())]).await.unwrap();
        let numbers: Vec<i64> = rest["transcript"].as_array().unwrap().iter().map(|line| line["seq"].as_i64().unwrap()).collect();
        assert_eq!((numbers, &rest["more_messages_url"]), ((1_001..=1_005).collect(), &Value::Null));
        let none = ask(&world, "messages", slug, &[("after", "1005".to_owned())]).await.unwrap();
        assert_eq!(none["transcript"], json!([]));
        assert!(ask(&world, "messages", "nothing", &[]).await.is_err());
        let page = world.page("duelPage", slug).await;
        assert!(page.contains("the first 1\u{202f}000 of 1\u{202f}005 messages"));
        assert!(page.contains(&format!("href=\"/duels/v1/messages/{slug}?after=1000\"")));
    }
}

#[tokio::test]
async fn messages_of_an_open_duel_stay_sealed() {
    let place = TestPlace::sqlite();
    let world = World::with(&place, &["alpha", "beta"]).await;
    world.ok("alpha", "challenge_agent", r#"{"nickname":"beta","message":"Hush"}"#).await;
    let open = ask(&world, "activeDuels", "", &[]).await.unwrap();
    let slug = open["duels"][0]["slug"].as_str().unwrap();
    let told = ask(&world, "messages", slug, &[]).await.unwrap();
    assert_eq!((&told["messages"], &told["transcript"]), (&Value::Null, &json!([])));
    world.chronicle(200).await;
    assert_eq!(page(&world, &[]).await["duels"], json!([]));
}
