//! Every operation of the catalog, over MCP and over REST: who may call, what is refused, and that the
//! published example works. The operations come from the published documents, so that a new one is
//! covered, or fails, without a change here.

use serde_json::{Map, Value, json};

use crate::{
    house::{House, SCOPE},
    http::{Answer, get, send},
    mcp_http::{Era, McpClient},
};

/// An operation as the server publishes it.
struct Published {
    tool: String,
    method: String,
    path: String,
    scope: String,
    input: Value,
    output: Value,
    example: Value,
    /// Whether the description admits that it can be unavailable.
    may_be_unavailable: bool,
}

/// The catalog out of `tools/list` and `/openapi.json`, which must tell of the same operations.
fn catalog(house: &House) -> Vec<Published> {
    let openapi = get(&format!("http://{}/openapi.json", house.address)).json();
    let mut rest = Vec::new();
    for (path, item) in openapi["paths"].as_object().unwrap() {
        for (method, operation) in
            item.as_object().unwrap().iter().filter(|(_, op)| op["x-arena-scope"].is_string())
        {
            // A stream is no tool; it has tests of its own.
            if operation["responses"]["200"]["content"]["text/event-stream"].is_object() {
                continue;
            }
            rest.push((path, method, operation));
        }
    }
    let tools = McpClient::new(&house.address, None, Era::Modern).tools();
    assert_eq!(tools.len(), rest.len());
    let published = tools.into_iter().map(|mut tool| {
        let name = tool["name"].as_str().unwrap().to_owned();
        let found = rest.iter().find(|(_, _, operation)| operation["operationId"] == name.as_str());
        let (path, method, operation) = found.unwrap_or_else(|| panic!("{name} is not in OpenAPI"));
        let body = &operation["requestBody"]["content"]["application/json"];
        let input = tool["inputSchema"].take();
        let mut bare = input.clone();
        bare.as_object_mut().unwrap().remove("$schema");
        assert_eq!(bare, body["schema"], "{name}");
        Published {
            tool: name,
            method: method.to_uppercase(),
            path: (*path).clone(),
            scope: operation["x-arena-scope"].as_str().unwrap().to_owned(),
            input,
            output: tool["outputSchema"].take(),
            example: body["example"].clone(),
            may_be_unavailable: tool["description"].as_str().unwrap().contains("EMBEDDING_UNAVAILABLE"),
        }
    });
    published.collect()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Through {
    Mcp(Era),
    Rest,
}

const DOORS: [Through; 3] = [Through::Mcp(Era::Legacy), Through::Mcp(Era::Modern), Through::Rest];

impl Through {
    fn call(self, house: &House, operation: &Published, key: Option<&str>, input: &Value) -> Answer {
        match self {
            Self::Mcp(era) => McpClient::new(&house.address, key, era)
                .request("tools/call", json!({"name": operation.tool, "arguments": input})),
            Self::Rest => {
                let credential = key.map(|key| format!("Bearer {key}"));
                let headers: Vec<_> =
                    credential.iter().map(|value| ("authorization", value.as_str())).collect();
                let body = input.to_string();
                send(&house.address, &operation.method, &operation.path, &headers, body.as_bytes())
            }
        }
    }

    /// The code and message of a refusal that is an HTTP status.
    fn refusal(self, answer: &Answer) -> (String, String) {
        let body = answer.json();
        let error = &body["error"];
        let code = if self == Self::Rest { &error["code"] } else { &error["data"]["code"] };
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{body}")).to_owned();
        if self != Self::Rest {
            assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(1)), "{body}");
        }
        (text(code), text(&error["message"]))
    }

    /// The body of the operation, success or error, with whether it is an error.
    fn outcome(self, answer: &Answer) -> (Value, bool) {
        if self == Self::Rest {
            return (answer.json(), answer.status != 200);
        }
        assert_eq!(answer.status, 200, "{}", answer.body);
        let result = answer.json()["result"].take();
        (result["structuredContent"].clone(), result["isError"].as_bool().unwrap())
    }
}

/// Everything of an account that a call could have changed.
fn state(house: &House, key: &str) -> Vec<Value> {
    let client = McpClient::new(&house.address, Some(key), Era::Modern);
    ["get_arena_status", "whoami", "get_transfer_history", "get_arena_history"]
        .map(|tool| {
            let mut body = client.tool(tool, &json!({}))["structuredContent"].take();
            // What differs between any two calls.
            for key in ["server_time", "message_ack_cursor"] {
                body.as_object_mut().unwrap().remove(key);
            }
            body
        })
        .to_vec()
}

const DAY_MS: i64 = 86_400_000;
/// More than the budget's short window, so that no account spends it here.
const PAUSE_MS: i64 = 61_000;

#[test]
fn who_may_not_call_is_told_why_and_changes_nothing() {
    let house = House::open();
    let good = house.join("alpha", 100);
    house.join("beta", 100);
    let short = house.key("alpha", SCOPE, Some(1));
    let revoked = house.key("alpha", SCOPE, None);
    let foreign = house.key("alpha", "other:read", None);
    let never = format!("arena_sk_{}", "a".repeat(43));
    house.revoke("alpha", &revoked);
    house.advance(DAY_MS);
    let before = state(&house, &good);
    let operations = catalog(&house);
    for operation in &operations {
        assert_eq!(operation.scope, SCOPE);
        let wrong_scope = format!(r#"error="insufficient_scope", scope="{}""#, operation.scope);
        for door in DOORS {
            for (key, status, challenge, word) in [
                (None, 401, "bearer realm=\"arena\"", "no credential"),
                (Some(&short), 401, "error=\"invalid_token\"", "expired"),
                (Some(&revoked), 401, "error=\"invalid_token\"", "revoked"),
                (Some(&never), 401, "error=\"invalid_token\"", "unknown"),
                (Some(&foreign), 403, wrong_scope.as_str(), operation.scope.as_str()),
            ] {
                let what = format!("{} through {door:?} with {word}", operation.tool);
                let answer = door.call(&house, operation, key.map(String::as_str), &operation.example);
                assert_eq!(answer.status, status, "{what}: {}", answer.body);
                assert!(answer.header("www-authenticate").contains(challenge), "{what}: {}", answer.head);
                let (code, message) = door.refusal(&answer);
                let wanted = if status == 401 { "UNAUTHORIZED" } else { "INSUFFICIENT_SCOPE" };
                assert_eq!(code, wanted, "{what}: {message}");
                assert!(message.contains(word), "{what}: {message}");
            }
        }
    }
    assert_eq!(state(&house, &good), before);
    house.assert_sound();
}

/// Inputs that break the schema of `operation` in one place each, with what the message must name.
fn broken_inputs(operation: &Published) -> Vec<(Value, String)> {
    let example = operation.example.as_object().unwrap();
    let with = |key: &str, value: Value| {
        let mut input: Map<String, Value> = example.clone();
        input.insert(key.to_owned(), value);
        Value::Object(input)
    };
    let mut inputs = vec![(with("unexpected_field", json!(1)), "unexpected_field".to_owned())];
    for (name, property) in operation.input["properties"].as_object().into_iter().flatten() {
        inputs.push((with(name, json!({"nested": 1})), name.clone()));
        inputs.push((with(name, json!([1])), name.clone()));
        if !property.to_string().contains("null") {
            inputs.push((with(name, Value::Null), name.clone()));
        }
        if property["type"] == "integer" {
            let maximum = property["maximum"].as_i64().unwrap();
            for value in [json!(1.5), json!("1"), json!(-1), json!(maximum + 1), json!(1e300)] {
                inputs.push((with(name, value), name.clone()));
            }
        } else {
            inputs.push((with(name, json!(7)), name.clone()));
        }
    }
    for name in operation.input["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let mut input = example.clone();
        input.remove(name);
        inputs.push((Value::Object(input), name.to_owned()));
    }
    inputs
}

#[test]
fn broken_input_is_named_and_changes_nothing() {
    let house = House::open();
    let key = house.join("alpha", 100);
    house.join("beta", 100);
    let before = state(&house, &key);
    for operation in catalog(&house) {
        let schema = jsonschema::validator_for(&operation.input).unwrap();
        let output = jsonschema::validator_for(&operation.output).unwrap();
        for door in DOORS {
            for (input, name) in broken_inputs(&operation) {
                assert!(!schema.is_valid(&input), "{} takes {input}", operation.tool);
                let answer = door.call(&house, &operation, Some(&key), &input);
                let (body, is_error) = door.outcome(&answer);
                assert!(is_error, "{} {input} through {door:?}: {body}", operation.tool);
                assert_eq!(body["error"]["code"], "VALIDATION_FAILED", "{} {input}: {body}", operation.tool);
                assert!(
                    body["error"]["message"].as_str().unwrap().contains(&name),
                    "{name} is not in {body}"
                );
                assert!(output.is_valid(&body), "{body}");
                if door == Through::Rest {
                    assert_eq!(answer.status, 400, "{body}");
                }
            }
            house.advance(PAUSE_MS);
        }
        for text in ["[]", "7", "null", "\"x\"", "{", "{\"a\":1,}", "\u{feff}{}"] {
            let credential = format!("Bearer {key}");
            let headers = [("authorization", credential.as_str())];
            let answer = send(&house.address, &operation.method, &operation.path, &headers, text.as_bytes());
            assert_eq!(answer.status, 400, "{} {text}: {}", operation.tool, answer.body);
            assert_eq!(answer.json()["error"]["code"], "VALIDATION_FAILED", "{text}");
        }
        house.advance(PAUSE_MS);
    }
    assert_eq!(state(&house, &key), before);
    house.assert_sound();
}

#[test]
fn the_published_examples_work() {
    for door in DOORS {
        let house = House::open();
        let keys = [house.join("alpha", 100), house.join("beta", 100)];
        let operations = catalog(&house);
        let by_name = |tool: &str| operations.iter().find(|operation| operation.tool == tool).unwrap();
        for operation in &operations {
            // Both are in the arena before each example, and in a duel for the examples that are about one.
            for key in &keys {
                let entered =
                    door.call(&house, by_name("enter_arena"), Some(key), &by_name("enter_arena").example);
                assert_eq!(entered.status, 200, "{}", entered.body);
            }
            if ["send_message", "submit_demand"].contains(&operation.tool.as_str()) {
                let begun = door.call(
                    &house,
                    by_name("challenge_agent"),
                    Some(&keys[0]),
                    &json!({"nickname": "beta"}),
                );
                assert_eq!(begun.status, 200, "{}", begun.body);
            }
            let answer = door.call(&house, operation, Some(&keys[0]), &operation.example);
            let (body, is_error) = door.outcome(&answer);
            if is_error && operation.may_be_unavailable {
                assert_eq!(body["error"]["code"], "EMBEDDING_UNAVAILABLE", "{body}");
                continue;
            }
            assert!(!is_error, "{} through {door:?}: {body}", operation.tool);
            let output = jsonschema::validator_for(&operation.output).unwrap();
            let errors: Vec<String> = output.iter_errors(&body).map(|error| error.to_string()).collect();
            assert_eq!(errors, Vec::<String>::new(), "{}: {body}", operation.tool);
        }
        house.assert_sound();
    }
}
