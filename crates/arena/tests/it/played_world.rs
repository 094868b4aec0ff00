//! Four agents play more than twenty duels each over real MCP, and every answer is judged three times:
//! by its published schema, by the reference model, and against the contract's example responses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use testkit::duels_model::{Model, Prediction, without_unpredicted};

use crate::{
    house::House,
    mcp_http::{ERAS, Era, McpClient},
    seen::{self, Kinds},
};

const PLAYERS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
/// Has the smallest stake and no point more.
const POOR: &str = "omega";
/// Each player meets each other one so often; three times it is more than a rank needs.
const ROUNDS: usize = 7;
const MINUTE_MS: i64 = 60_000;
const OPENING_POINTS: i64 = 1_000;

/// What cannot be seen here, by tool and start of the path: an avatar needs a server to fetch it from,
/// which the tests of avatars have.
const NEEDS_ANOTHER_SERVER: [(&str, &str); 2] =
    [("set_presentation", "presentation.avatar_url"), ("get_leaderboard", "top[].avatar_url")];

/// Kinds that a shared shape promises and a rule of the tool excludes: tool, path, kind, reason.
const NEVER_BY_RULE: [(&str, &str, &str, &str); 17] = [
    ("enter_arena", "arena.expires_at", "null", ENTERED),
    ("enter_arena", "arena.expires_in_seconds", "null", ENTERED),
    ("enter_arena", "arena.pitch", "null", ENTERED),
    ("leave_arena", "arena.expires_at", "string", LEFT),
    ("leave_arena", "arena.expires_in_seconds", "number", LEFT),
    ("leave_arena", "arena.pitch", "string", LEFT),
    ("leave_arena", "arena.model_key", "string", LEFT),
    ("challenge_agent", "result", "null", LEFT_OUT),
    ("challenge_agent", "rematch_at", "null", LEFT_OUT),
    ("challenge_agent", "retry_after_seconds", "null", LEFT_OUT),
    ("challenge_agent", "recovery", "null", LEFT_OUT),
    ("get_arena_status", "recovery", "null", LEFT_OUT),
    ("submit_demand", "recovery", "null", LEFT_OUT),
    ("transfer", "recovery", "null", LEFT_OUT),
    ("get_leaderboard", "top[].rating_percent", "null", RANKED),
    ("get_leaderboard", "top[].roi_percent", "null", RANKED),
    ("get_leaderboard", "top[].models[].rating_percent", "null", RANKED),
];
const ENTERED: &str = "whoever has just entered is in the arena";
const LEFT: &str = "whoever has just left is not in the arena";
const LEFT_OUT: &str = "a field that does not apply is left out, not null";
const RANKED: &str = "whoever is ranked has finished duels";

struct Game {
    house: House,
    model: Model,
    clients: BTreeMap<String, McpClient>,
    schemas: BTreeMap<String, Value>,
    /// What successes held, by tool, and what refusals held, over all tools.
    successes: BTreeMap<String, Kinds>,
    refusals: Kinds,
    calls: usize,
}

impl Game {
    fn new() -> Self {
        let house = House::open();
        let mut model = Model::default();
        let mut clients = BTreeMap::new();
        for (name, points) in PLAYERS.map(|name| (name, OPENING_POINTS)).into_iter().chain([(POOR, 5)]) {
            let key = house.join(name, points);
            model.join(name, points);
            clients.insert(name.to_owned(), McpClient::new(&house.address, Some(&key), Era::Modern));
        }
        model.now = house.now_ms();
        let schemas = clients[PLAYERS[0]]
            .tools()
            .into_iter()
            .map(|mut tool| (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].take()));
        let schemas = schemas.collect();
        let (successes, refusals) = (BTreeMap::new(), Kinds::new());
        Self { house, model, clients, schemas, successes, refusals, calls: 0 }
    }

    fn advance(&mut self, ms: i64) {
        self.house.advance(ms);
        self.model.now += ms;
    }

    /// Each call has an instant of its own, so that no order is left to chance.
    fn tick(&mut self) {
        self.advance(1);
    }

    /// Calls, in the two revisions by turns, and judges the answer.
    fn call(&mut self, who: &str, tool: &str, input: &Value, predicted: &Prediction) -> Value {
        let client = self.clients.get_mut(who).unwrap();
        client.era = ERAS[self.calls % 2];
        self.calls += 1;
        let result = client.tool(tool, input);
        // Only the revision without a handshake knows kinds of results.
        let kind = (client.era == Era::Modern).then(|| json!("complete"));
        assert_eq!(result.get("resultType"), kind.as_ref(), "{tool}");
        let body = &result["structuredContent"];
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), body, "{tool}: the text is the content");
        let validator = jsonschema::validator_for(&self.schemas[tool]).unwrap();
        let errors: Vec<String> = validator.iter_errors(body).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{tool} {input}: {body}");
        let mut stripped = body.clone();
        without_unpredicted(&mut stripped);
        // Likeness is not predicted here.
        if let Some(agents) = stripped.get_mut("agents").and_then(Value::as_array_mut) {
            agents.sort_by_key(|agent| agent["nickname"].to_string());
        }
        match predicted {
            Ok(wanted) => {
                assert_eq!(result["isError"], false, "{who} {tool} {input}: {body}");
                assert_eq!(&stripped, wanted, "{who} {tool} {input}");
                assert!(body["summary"].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
                seen::add(body, ".", self.successes.entry(tool.to_owned()).or_default());
            }
            Err(code) => {
                assert_eq!(result["isError"], true, "{who} {tool} {input}: {body}");
                assert_eq!(body["error"]["code"], *code, "{who} {tool} {input}");
                assert!(body["summary"].as_str().unwrap().contains(code), "{body}");
                seen::add(body, ".", &mut self.refusals);
            }
        }
        body.clone()
    }

    fn refused(&mut self, who: &str, tool: &str, input: &Value, code: &'static str) {
        self.tick();
        self.call(who, tool, input, &Err(code));
    }

    fn enter(&mut self, who: &str, model_key: Option<&str>) {
        self.tick();
        let pitch = format!("{who} keeps deals");
        let mut input = json!({"pitch": pitch});
        if let Some(key) = model_key {
            input["model_key"] = json!(key);
        }
        let predicted = self.model.enter(who, &pitch, 15, model_key);
        self.call(who, "enter_arena", &input, &predicted);
    }

    fn leave(&mut self, who: &str) {
        self.tick();
        let predicted = self.model.leave(who);
        self.call(who, "leave_arena", &json!({}), &predicted);
    }

    fn search(&mut self, who: &str) {
        self.tick();
        let predicted = self.model.search(who);
        self.call(who, "search_agents", &json!({"query": "agents that keep deals"}), &predicted);
    }

    fn challenge(&mut self, who: &str, other: &str, message: Option<&str>) -> Value {
        self.tick();
        let mut input = json!({"nickname": other});
        if let Some(message) = message {
            input["message"] = json!(message);
        }
        let predicted = self.model.challenge(who, other, message);
        self.call(who, "challenge_agent", &input, &predicted)
    }

    fn say(&mut self, who: &str, other: &str, message: &str) {
        self.tick();
        let predicted = self.model.message(who, other, message);
        self.call(who, "send_message", &json!({"nickname": other, "message": message}), &predicted);
    }

    fn demand(&mut self, who: &str, other: &str, count: i64) {
        self.tick();
        let predicted = self.model.demand(who, other, count);
        self.call(who, "submit_demand", &json!({"nickname": other, "count": count}), &predicted);
    }

    fn transfer(&mut self, who: &str, other: &str, count: i64, note: Option<&str>) {
        self.tick();
        let mut input = json!({"nickname": other, "count": count});
        if let Some(note) = note {
            input["message"] = json!(note);
        }
        let predicted = self.model.transfer(who, other, count, note);
        self.call(who, "transfer", &input, &predicted);
    }

    fn present(&mut self, who: &str, bio: Option<&str>, handle: Option<&str>) {
        self.tick();
        let predicted = self.model.set_bio(who, bio);
        self.call(who, "set_presentation", &json!({"bio": bio}), &predicted);
        self.tick();
        let predicted = self.model.set_handle(who, handle);
        let link = handle.map(|handle| format!("https://x.com/{handle}"));
        self.call(who, "set_presentation", &json!({"social_url": link}), &predicted);
    }

    /// Polls, passing `cursor` back, which acknowledges what its answer delivered.
    fn status(&mut self, who: &str, cursor: Option<&str>) -> String {
        self.tick();
        let acks = cursor.and_then(|_| self.model.cursors.get(who).cloned()).unwrap_or_default();
        let predicted = self.model.status(who, &acks);
        let body = self.call(who, "get_arena_status", &json!({"message_ack_cursor": cursor}), &predicted);
        body["message_ack_cursor"].as_str().unwrap().to_owned()
    }

    /// Reads a history to its end; answers the number of pages.
    fn pages(&mut self, who: &str, tool: &str) -> usize {
        let mut cursor = Value::Null;
        for page in 0.. {
            let predicted = if tool == "get_arena_history" {
                self.model.history(who, page)
            } else {
                self.model.transfers(who, page)
            };
            let body = self.call(who, tool, &json!({"cursor": cursor}), &predicted);
            cursor = body["next_cursor"].clone();
            if cursor.is_null() {
                return page + 1;
            }
        }
        unreachable!("a history ends")
    }

    fn read_all(&mut self, who: &str) {
        self.tick();
        let whoami = self.model.whoami(who);
        self.call(who, "whoami", &json!({}), &whoami);
        let board = self.model.leaderboard(who);
        self.call(who, "get_leaderboard", &json!({}), &board);
        let feed = self.model.feed();
        self.call(who, "get_arena_feed", &json!({}), &feed);
        self.pages(who, "get_arena_history");
        self.pages(who, "get_transfer_history");
        self.status(who, None);
    }

    /// Every pair once, with an ending that the round chooses.
    fn round(&mut self, round: usize) {
        let models = [Some("openai/gpt-5.4"), None, Some("anthropic/claude-5:latest"), None];
        for (index, who) in PLAYERS.into_iter().enumerate() {
            // The second player never tells a model; the others change theirs.
            let model = if index == 1 { None } else { models[(index + round / 2) % models.len()] };
            self.enter(who, model);
        }
        self.search(PLAYERS[round % 4]);
        let pairs: Vec<(&str, &str)> = (0..PLAYERS.len())
            .flat_map(|a| (a + 1..PLAYERS.len()).map(move |b| (PLAYERS[a], PLAYERS[b])))
            .collect();
        for (index, (one, two)) in pairs.iter().enumerate() {
            let message = (index % 2 == 0).then_some("Half each?");
            self.challenge(one, two, message);
            self.say(two, one, "Agreed, if you mean it.");
            self.challenge(two, one, None);
        }
        self.refused("alpha", "challenge_agent", &json!({"nickname": POOR}), "AGENT_NOT_AVAILABLE");
        self.status(PLAYERS[round % 4], None);
        for (index, (one, two)) in pairs.iter().enumerate() {
            let pot = self.model.pot(one, two);
            let demands = match (round + index) % 5 {
                // Equal stakes are rare, so half of the pot is a win for one and a loss for the other.
                0 | 3 => [Some(pot / 2), Some(pot / 2)],
                1 => [Some(pot), Some(1)],
                2 => [Some(pot / 3), None],
                _ => [None, None],
            };
            if let Some(count) = demands[0] {
                self.demand(one, two, count);
                self.demand(one, two, count);
            }
            if let Some(count) = demands[1] {
                self.demand(two, one, count);
            }
        }
        if round.is_multiple_of(2) {
            self.leave(PLAYERS[round % 4]);
            self.leave(PLAYERS[round % 4]);
        }
        self.advance(10 * MINUTE_MS);
        // Every other round the next command about a pair settles it, instead of the worker.
        if round.is_multiple_of(2) {
            self.house.sweep();
            self.model.sweep();
        }
        for (one, two) in &pairs {
            if self.model.opponents(one).iter().any(|other| other == two) {
                self.challenge(one, two, None);
            }
        }
        self.house.sweep();
        self.model.sweep();
        self.advance(5 * MINUTE_MS);
    }

    /// Every refusal that the rules have, met once.
    fn refusals(&mut self) {
        self.enter("alpha", None);
        self.enter("beta", None);
        for (who, tool, input, code) in [
            ("alpha", "challenge_agent", json!({"nickname": "alpha"}), "SELF_CHALLENGE"),
            ("alpha", "challenge_agent", json!({"nickname": "nobody"}), "AGENT_NOT_FOUND"),
            ("alpha", "challenge_agent", json!({"nickname": "gamma"}), "AGENT_NOT_AVAILABLE"),
            ("gamma", "challenge_agent", json!({"nickname": "alpha"}), "NOT_IN_ARENA"),
            ("alpha", "send_message", json!({"nickname": POOR, "message": "hi"}), "DUEL_NOT_FOUND"),
            ("alpha", "send_message", json!({"nickname": "beta", "message": "hi"}), "DUEL_FINISHED"),
            ("alpha", "send_message", json!({"nickname": "beta", "message": ""}), "VALIDATION_FAILED"),
            ("alpha", "transfer", json!({"nickname": "alpha", "count": 1}), "SELF_TRANSFER"),
            ("alpha", "transfer", json!({"nickname": "beta", "count": 100_000}), "INSUFFICIENT_BALANCE"),
            ("alpha", "get_arena_status", json!({"message_ack_cursor": "forged"}), "INVALID_CURSOR"),
            ("alpha", "get_arena_history", json!({"cursor": "forged"}), "INVALID_CURSOR"),
            ("alpha", "get_transfer_history", json!({"cursor": "forged"}), "INVALID_CURSOR"),
            ("alpha", "set_presentation", json!({}), "VALIDATION_FAILED"),
            ("alpha", "set_presentation", json!({"avatar_url": "https://a.example/x.png"}), "IMAGE_REJECTED"),
            ("alpha", "search_agents", json!({"query": " "}), "VALIDATION_FAILED"),
            ("alpha", "whoami", json!({"who": "me"}), "VALIDATION_FAILED"),
            ("alpha", "enter_arena", json!({"pitch": 7}), "VALIDATION_FAILED"),
        ] {
            self.refused(who, tool, &input, code);
        }
        let begun = self.challenge("alpha", "beta", Some("Once more?"));
        let pot = begun["distributable_pot"].as_i64().unwrap();
        self.refused(
            "alpha",
            "submit_demand",
            &json!({"nickname": "beta", "count": pot + 1}),
            "DEMAND_OUT_OF_RANGE",
        );
        self.demand("alpha", "beta", 1);
        self.refused(
            "alpha",
            "submit_demand",
            &json!({"nickname": "beta", "count": 2}),
            "DEMAND_ALREADY_SUBMITTED",
        );
        self.refused("beta", "send_message", &json!({"nickname": "alpha", "message": "hi"}), "CHAT_CLOSED");
        self.leave("alpha");
        self.demand("beta", "alpha", 1);
        self.enter("alpha", None);
        self.refused("alpha", "challenge_agent", &json!({"nickname": "beta"}), "PAIR_COOLDOWN");
    }

    /// An agent that a duel, or a gift, leaves with too little for the next one.
    fn spend_all(&mut self) {
        self.enter("alpha", None);
        self.enter(POOR, Some("a/b"));
        self.challenge(POOR, "alpha", Some("All that I have."));
        self.enter("alpha", Some("a/b"));
        self.status(POOR, None);
        self.refused(POOR, "enter_arena", &json!({"pitch": "again"}), "INSUFFICIENT_BALANCE");
        self.demand(POOR, "alpha", 1);
        self.demand("alpha", POOR, 1);
        self.transfer(POOR, "alpha", 1, None);
        self.read_all(POOR);
    }

    fn play(&mut self) {
        for who in PLAYERS {
            self.read_all(who);
        }
        self.present("alpha", Some("I negotiate with receipts."), Some("alpha_bot"));
        self.present("beta", None, None);
        for round in 0..ROUNDS {
            self.round(round);
        }
        for count in 1..=21 {
            self.transfer("alpha", "beta", count, (count % 2 == 0).then_some("For the lesson."));
        }
        assert_eq!(self.pages("alpha", "get_arena_history"), 2);
        assert_eq!(self.pages("beta", "get_transfer_history"), 2);
        self.refusals();
        self.spend_all();
        self.advance(15 * MINUTE_MS);
        self.transfer("gamma", "delta", 1, None);
        for who in PLAYERS {
            self.read_all(who);
            // Deliveries go on until they are acknowledged; then the same poll finds nothing.
            let mut cursor = self.status(who, None);
            for _ in 0..ROUNDS * 3 {
                cursor = self.status(who, Some(&cursor));
            }
        }
    }
}

fn is_excepted(list: &[(&str, &str)], tool: &str, path: &str) -> bool {
    list.iter().any(|(excepted, start)| *excepted == tool && path.starts_with(start))
}

#[test]
fn every_answer_is_valid_predicted_and_as_rich_as_the_contract() {
    let mut game = Game::new();
    game.play();
    game.house.assert_sound();

    let contract: Value =
        serde_json::from_str(include_str!("../../../duels/tests/data/seed_tools.json")).unwrap();
    let none = Kinds::new();
    let (mut lacking, mut excluded) = (BTreeSet::new(), BTreeSet::new());
    for (tool, facts) in contract.as_object().unwrap() {
        let ours = game.successes.get(tool).unwrap_or(&none);
        for row in facts["response"].as_array().unwrap() {
            let (path, kind) = row.as_str().unwrap().rsplit_once(": ").unwrap();
            if !ours.get(path).is_some_and(|kinds| kinds.contains(kind))
                && !is_excepted(&NEEDS_ANOTHER_SERVER, tool, path)
            {
                lacking.insert(format!("{tool} {path} was never a {kind}"));
            }
        }
        // What our schema promises beyond the contract is met too: both kinds of every nullable field,
        // an element of every array, every optional field.
        for (path, kinds) in seen::promised(&game.schemas[tool]) {
            if path == "error"
                || path.starts_with("error.")
                || is_excepted(&NEEDS_ANOTHER_SERVER, tool, &path)
            {
                continue;
            }
            let found = ours.get(&path).cloned().unwrap_or_default();
            for kind in kinds.difference(&found) {
                excluded.insert((tool.clone(), path.clone(), (*kind).to_owned()));
            }
        }
    }
    for (tool, path, kind, _) in NEVER_BY_RULE {
        let row = (tool.to_owned(), path.to_owned(), kind.to_owned());
        assert!(excluded.remove(&row), "{row:?} was seen, or nothing promises it: strike it off the list");
    }
    lacking
        .extend(excluded.into_iter().map(|(tool, path, kind)| format!("{tool} {path} was never a {kind}")));
    let promised = seen::promised(&game.schemas["enter_arena"]);
    for (path, _) in promised.iter().filter(|(path, _)| path.starts_with("error")) {
        if !game.refusals.contains_key(path) {
            lacking.insert(format!("no refusal had {path}"));
        }
    }
    assert_eq!(lacking, BTreeSet::new());
}
