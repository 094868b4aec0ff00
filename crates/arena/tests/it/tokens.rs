//! What the tools cost a model that is told of them.

use serde_json::{Value, json};

use crate::{
    mcp_http::{Era, McpClient},
    process::Home,
};

/// In `o200k_base`, over name, description and input schema of all duels tools.
const TOKENS_MAX: usize = 5_000;
const DESCRIPTION_CHARS_MAX: usize = 1_024;

/// Keywords that make clients drop a tool, or all of them, when they stand at the root of a schema.
const AT_NO_ROOT: [&str; 8] = ["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref"];

fn tools() -> Vec<Value> {
    let home = Home::new();
    let server = home.serve(&[]);
    let tools = McpClient::new(&server.address, None, Era::Modern).tools();
    server.stop();
    tools
}

#[test]
fn the_tools_fit_a_models_attention() {
    let encoding = tiktoken_rs::o200k_base().unwrap();
    let tools = tools();
    let (mut total, mut heaviest) = (0, (0, String::new()));
    for tool in &tools {
        let told = json!({
            "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"],
        });
        let tokens = encoding.encode_ordinary(&told.to_string()).len();
        total += tokens;
        heaviest = heaviest.max((tokens, tool["name"].to_string()));
    }
    println!("{} duels tools: {total} tokens, the heaviest {heaviest:?}", tools.len());
    assert!(total <= TOKENS_MAX, "{total} tokens");
    assert!(total > tools.len() * 20, "{total} tokens cannot describe {} tools", tools.len());
}

#[test]
fn descriptions_are_short_and_schemas_plain() {
    for tool in tools() {
        let name = &tool["name"];
        let chars = tool["description"].as_str().unwrap().chars().count();
        assert!((1..=DESCRIPTION_CHARS_MAX).contains(&chars), "{name} has {chars} characters");
        for schema in ["inputSchema", "outputSchema"] {
            let schema = tool[schema].as_object().unwrap();
            assert_eq!(schema["type"], "object", "{name}");
            for keyword in AT_NO_ROOT {
                assert!(!schema.contains_key(keyword), "{name} has {keyword} at the root");
            }
            jsonschema::meta::validate(&Value::Object(schema.clone())).unwrap();
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name} does not say {hint}");
        }
    }
}
