//! Random histories: every answer of both engines equals the reference's, and nothing is lost.

use duels::ops;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value, json};
use testkit::{
    TestPlace,
    duels_model::{Model, Prediction, without_unpredicted},
};

use crate::letters::Letters;
use crate::world::World;

const NAMES: [&str; 5] = ["alpha", "beta", "gamma", "delta", "omega"];

#[derive(Debug, Clone)]
enum Step {
    Enter {
        who: usize,
        minutes: i64,
        model: Option<usize>,
    },
    Leave {
        who: usize,
    },
    Challenge {
        who: usize,
        other: usize,
        message: Option<u8>,
    },
    Message {
        who: usize,
        other: usize,
        text: u8,
    },
    /// A share of the pot in percent; above 100 is out of range.
    Demand {
        who: usize,
        other: usize,
        percent: i64,
    },
    Transfer {
        who: usize,
        other: usize,
        count: i64,
        note: Option<u8>,
    },
    Bio {
        who: usize,
        text: Option<u8>,
    },
    Status {
        who: usize,
        acknowledge: bool,
    },
    Read {
        who: usize,
        what: usize,
    },
    Search {
        who: usize,
    },
    Advance {
        ms: i64,
        sweep: bool,
    },
    /// To the next deadline, expiry or end of a cooldown, so that the next step falls exactly on it
    /// or one millisecond before.
    Boundary {
        before: bool,
    },
}

const MODELS: [&str; 2] = ["openai/gpt-5.4", "a/b"];

fn pair() -> impl Strategy<Value = (usize, usize)> {
    (0..NAMES.len(), 1..NAMES.len()).prop_map(|(who, step)| (who, (who + step) % NAMES.len()))
}

fn step() -> impl Strategy<Value = Step> {
    let who = 0..NAMES.len();
    prop_oneof![
        8 => (who.clone(), 5..=15i64, prop::option::of(0..MODELS.len()))
            .prop_map(|(who, minutes, model)| Step::Enter { who, minutes, model }),
        1 => who.clone().prop_map(|who| Step::Leave { who }),
        8 => (pair(), any::<Option<u8>>()).prop_map(|((who, other), message)| Step::Challenge { who, other, message }),
        4 => (pair(), any::<u8>()).prop_map(|((who, other), text)| Step::Message { who, other, text }),
        9 => (pair(), prop_oneof![Just(50i64), 0..=60i64, 0..=104i64])
            .prop_map(|((who, other), percent)| Step::Demand { who, other, percent }),
        1 => (pair(), prop_oneof![1..=9i64, 1..=120i64], any::<Option<u8>>())
            .prop_map(|((who, other), count, note)| Step::Transfer { who, other, count, note }),
        1 => (who.clone(), any::<Option<u8>>()).prop_map(|(who, text)| Step::Bio { who, text }),
        5 => (who.clone(), any::<bool>()).prop_map(|(who, acknowledge)| Step::Status { who, acknowledge }),
        3 => who.clone().prop_map(|who| Step::Search { who }),
        3 => (who, 0..5usize).prop_map(|(who, what)| Step::Read { who, what }),
        2 => (prop_oneof![4 => 1..=20_000i64, 1 => 1..=300_000i64, 1 => Just(600_000i64)], any::<bool>())
            .prop_map(|(ms, sweep)| Step::Advance { ms, sweep }),
        1 => any::<bool>().prop_map(|before| Step::Boundary { before }),
    ]
}

/// The summary is a pure function of the answer's other fields.
fn assert_summary(tool: &str, body: &Value) {
    macro_rules! check {
        ($module:ident) => {{
            let out: ops::$module::Output = serde_json::from_value(body.clone()).unwrap();
            assert_eq!(out.summary, out.summarize());
            assert_eq!(serde_json::to_value(&out).unwrap(), *body, "an answer reads back as itself");
        }};
    }
    match tool {
        "enter_arena" => check!(enter_arena),
        "leave_arena" => check!(leave_arena),
        "search_agents" => check!(search_agents),
        "challenge_agent" => check!(challenge_agent),
        "send_message" => check!(send_message),
        "submit_demand" => check!(submit_demand),
        "transfer" => check!(transfer),
        "set_presentation" => check!(set_presentation),
        "whoami" => check!(whoami),
        "get_arena_status" => check!(get_arena_status),
        "get_arena_history" => check!(get_arena_history),
        "get_transfer_history" => check!(get_transfer_history),
        "get_arena_feed" => check!(get_arena_feed),
        "get_leaderboard" => {
            let out: ops::get_leaderboard::Output = serde_json::from_value(body.clone()).unwrap();
            assert!([true, false].iter().any(|incomplete| out.summary == out.summarize(*incomplete)));
        }
        other => panic!("{other} has no summary check"),
    }
}

struct Run {
    world: World,
    model: Model,
    cursors: std::collections::BTreeMap<String, Value>,
    tally: Tally,
}

/// How often each outcome was seen, so that a history that explores little fails.
type Tally = std::collections::BTreeMap<String, usize>;

/// Outcomes that the histories together must reach at least this often.
const REACHED: [(&str, usize); 25] = [
    ("enter_arena ENTERED", 100),
    ("leave_arena LEFT", 5),
    ("leave_arena ALREADY_INACTIVE", 5),
    ("challenge_agent CREATED_DUEL", 100),
    ("challenge_agent EXISTING_DUEL", 20),
    ("challenge_agent FINISHED_DUEL", 1),
    ("challenge_agent AGENT_NOT_AVAILABLE", 20),
    ("challenge_agent NOT_IN_ARENA", 5),
    ("challenge_agent DUEL_LIMIT_REACHED", 2),
    ("challenge_agent PAIR_COOLDOWN", 20),
    ("send_message SENT_MESSAGE", 50),
    ("send_message DUEL_FINISHED", 5),
    ("send_message CHAT_CLOSED", 5),
    ("submit_demand SUBMITTED_DEMAND", 100),
    ("submit_demand EXISTING_DEMAND", 2),
    ("submit_demand FINISHED_DUEL", 3),
    ("submit_demand DEMAND_ALREADY_SUBMITTED", 5),
    ("submit_demand DEMAND_OUT_OF_RANGE", 1),
    ("submit_demand DUEL_FINISHED", 20),
    ("transfer TRANSFERRED", 20),
    ("transfer INSUFFICIENT_BALANCE", 2),
    ("search_agents read", 100),
    ("opponents found", 200),
    ("completed deliveries", 20),
    ("ranked rows", 5),
];

impl Run {
    fn count(&mut self, tool: &str, answer: &Result<Value, Value>) {
        let what = match answer {
            Ok(body) => body["action"].as_str().unwrap_or("read").to_owned(),
            Err(body) => body["error"]["code"].as_str().unwrap_or("?").to_owned(),
        };
        *self.tally.entry(format!("{tool} {what}")).or_default() += 1;
        for (name, path) in [
            ("completed deliveries", "completed_message_deliveries"),
            ("ranked rows", "top"),
            ("opponents found", "agents"),
        ] {
            let rows = answer.as_ref().ok().and_then(|body| body[path].as_array()).map_or(0, Vec::len);
            *self.tally.entry(name.to_owned()).or_default() += rows;
        }
    }

    async fn call(
        &mut self,
        who: usize,
        tool: &str,
        input: &Value,
        predicted: Prediction,
    ) -> Result<(), String> {
        let answer = self.world.call(NAMES[who], tool, &input.to_string()).await;
        self.count(tool, &answer);
        match (answer, predicted) {
            (Ok(body), Ok(wanted)) => {
                assert_summary(tool, &body);
                let schema = self.world.product.operation(tool).unwrap().output_schema.clone();
                if !jsonschema::is_valid(&Value::Object((*schema).clone()), &body) {
                    return Err(format!("{tool} breaks its schema: {body}"));
                }
                if tool == "get_arena_status" {
                    self.cursors.insert(NAMES[who].to_owned(), body["message_ack_cursor"].clone());
                }
                let mut stripped = body;
                without_unpredicted(&mut stripped);
                if let Some(agents) = stripped.get_mut("agents").and_then(Value::as_array_mut) {
                    agents.sort_by_key(|agent| agent["nickname"].to_string());
                }
                if stripped == wanted {
                    Ok(())
                } else {
                    Err(format!("{tool}\n got {stripped}\nwant {wanted}"))
                }
            }
            (Err(body), Err(code)) if body["error"]["code"] == code => Ok(()),
            (answer, predicted) => Err(format!("{tool} {input}\n got {answer:?}\nwant {predicted:?}")),
        }
    }

    /// Usually an opponent in an active duel, so that most messages and demands meet one.
    fn opponent(&self, who: usize, other: usize, spread: usize) -> usize {
        let active = self.model.opponents(NAMES[who]);
        match active.get(spread % active.len().max(1)) {
            Some(name) if !spread.is_multiple_of(5) => {
                NAMES.iter().position(|known| known == name).unwrap_or(other)
            }
            _ => other,
        }
    }

    async fn step(&mut self, step: &Step) -> Result<(), String> {
        let say = |text: u8| format!("message {text}");
        // Every step has an instant of its own, so that no order is left to chance.
        self.world.advance(1);
        self.model.now += 1;
        match *step {
            Step::Enter { who, minutes, model } => {
                let mut input = json!({"pitch": format!("pitch {minutes}"), "ttl_minutes": minutes});
                let model = model.map(|model| MODELS[model]);
                if let Some(model) = model {
                    input["model_key"] = json!(model);
                }
                let predicted = self.model.enter(NAMES[who], &format!("pitch {minutes}"), minutes, model);
                self.call(who, "enter_arena", &input, predicted).await
            }
            Step::Leave { who } => {
                let predicted = self.model.leave(NAMES[who]);
                self.call(who, "leave_arena", &json!({}), predicted).await
            }
            Step::Challenge { who, other, message } => {
                let message = message.map(say);
                let mut input = json!({"nickname": NAMES[other]});
                if let Some(message) = &message {
                    input["message"] = json!(message);
                }
                let predicted = self.model.challenge(NAMES[who], NAMES[other], message.as_deref());
                self.call(who, "challenge_agent", &input, predicted).await
            }
            Step::Message { who, other, text } => {
                let other = self.opponent(who, other, usize::from(text));
                let predicted = self.model.message(NAMES[who], NAMES[other], &say(text));
                let input = json!({"nickname": NAMES[other], "message": say(text)});
                self.call(who, "send_message", &input, predicted).await
            }
            Step::Demand { who, other, percent } => {
                let other = self.opponent(who, other, usize::try_from(percent).unwrap_or(0));
                let count = percent * self.model.pot(NAMES[who], NAMES[other]) / 100;
                let predicted = self.model.demand(NAMES[who], NAMES[other], count);
                self.call(who, "submit_demand", &json!({"nickname": NAMES[other], "count": count}), predicted)
                    .await
            }
            Step::Transfer { who, other, count, note } => {
                let note = note.map(say);
                let mut input = json!({"nickname": NAMES[other], "count": count});
                if let Some(note) = &note {
                    input["message"] = json!(note);
                }
                let predicted = self.model.transfer(NAMES[who], NAMES[other], count, note.as_deref());
                self.call(who, "transfer", &input, predicted).await
            }
            Step::Bio { who, text } => {
                let bio = text.map(|text| format!("bio {text}"));
                let predicted = self.model.set_bio(NAMES[who], bio.as_deref());
                self.call(who, "set_presentation", &json!({"bio": bio}), predicted).await
            }
            Step::Status { who, acknowledge } => {
                let cursor = self.cursors.get(NAMES[who]).filter(|_| acknowledge).cloned();
                let acks = cursor
                    .as_ref()
                    .and_then(|_| self.model.cursors.get(NAMES[who]).cloned())
                    .unwrap_or_default();
                let predicted = self.model.status(NAMES[who], &acks);
                let input = json!({"message_ack_cursor": cursor.unwrap_or(Value::Null)});
                self.call(who, "get_arena_status", &input, predicted).await
            }
            Step::Search { who } => {
                let predicted = self.model.search(NAMES[who]);
                self.call(who, "search_agents", &json!({"query": "pitch"}), predicted).await
            }
            Step::Read { who, what } => {
                let (tool, predicted) = match what {
                    0 => ("get_arena_history", self.model.history(NAMES[who], 0)),
                    1 => ("get_transfer_history", self.model.transfers(NAMES[who], 0)),
                    2 => ("get_leaderboard", self.model.leaderboard(NAMES[who])),
                    3 => ("get_arena_feed", self.model.feed()),
                    _ => ("whoami", self.model.whoami(NAMES[who])),
                };
                self.call(who, tool, &json!({}), predicted).await
            }
            Step::Boundary { before } => {
                // The next step takes one millisecond of its own.
                let target = self.model.next_boundary().map(|at| at - 1 - i64::from(before));
                let ms = target.map_or(0, |target| (target - self.model.now).max(0));
                self.world.advance(ms);
                self.model.now += ms;
                Ok(())
            }
            Step::Advance { ms, sweep } => {
                self.world.advance(ms);
                self.model.now += ms;
                if sweep {
                    self.world.sweep().await;
                    self.model.sweep();
                }
                Ok(())
            }
        }
    }
}

/// The opening points: many for a long history, which would burn the usual hundred.
fn opening(steps: usize) -> i64 {
    if steps > 500 { 5_000 } else { 100 }
}

async fn play(place: &TestPlace, steps: &[Step]) -> Result<Tally, String> {
    let world = World::searching(place, Letters::new("letters/1"));
    let mut model = Model::default();
    model.now = world.now().as_millis();
    for name in NAMES {
        world.join(name, opening(steps.len())).await;
        model.join(name, opening(steps.len()));
    }
    let mut run = Run { world, model, cursors: std::collections::BTreeMap::new(), tally: Tally::new() };
    for (index, step) in steps.iter().enumerate() {
        run.step(step).await.map_err(|why| format!("step {index} {step:?}: {why}"))?;
        if index % 50 == 49 {
            run.world.assert_sound().await;
        }
    }
    run.world.assert_sound().await;
    Ok(run.tally)
}

/// The lengths of the histories on each engine; the long one fills the leaderboard.
const STEPS: [usize; 9] = [200, 200, 200, 200, 200, 200, 200, 200, 1_600];

testkit::both_engines! {
    async fn every_answer_equals_the_references(place: TestPlace) {
        let mut tally = Tally::new();
        for (seed, steps) in STEPS.into_iter().enumerate() {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
            let mut runner = TestRunner::new_with_rng(Config::default(), rng);
            let mut tree = prop::collection::vec(step(), steps).new_tree(&mut runner).unwrap();
            let fresh = place.another();
            let why = match play(&fresh, &tree.current()).await {
                Ok(seen) => {
                    for (what, times) in seen {
                        *tally.entry(what).or_default() += times;
                    }
                    continue;
                }
                Err(why) => why,
            };
            {
                // Shrink by hand for a while: each try is a whole world.
                let mut smallest = (tree.current(), why);
                for _ in 0..60 {
                    let moved = if play(&place.another(), &tree.current()).await.is_err() { tree.simplify() } else { tree.complicate() };
                    if !moved {
                        break;
                    }
                    if let Err(why) = play(&place.another(), &tree.current()).await {
                        smallest = (tree.current(), why);
                    }
                }
                panic!("history {seed}: {}\n{:#?}", smallest.1, smallest.0);
            }
        }
        let missed: Vec<_> = REACHED
            .into_iter()
            .filter(|(what, least)| tally.get(*what).copied().unwrap_or(0) < *least)
            .collect();
        assert!(missed.is_empty(), "too rarely reached: {missed:?} in {tally:#?}");
    }
}
