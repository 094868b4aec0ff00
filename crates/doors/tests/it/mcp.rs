//! The MCP wire, in both eras: what works, and every way in which a request can be wrong.

use serde_json::{Value, json};
use testkit::TestPlace;

use crate::world::{ALPHA, Got, Headers, LEGACY, MODERN, World, mcp_request};

const ERAS: [&str; 2] = [LEGACY, MODERN];

/// Fails unless the answer is a JSON-RPC error.
#[track_caller]
pub(crate) fn assert_rpc_error(got: &Got, status: u16, code: i64) {
    assert_eq!(got.status, status, "{got:?}");
    assert_eq!(got.header("content-type"), "application/json", "{got:?}");
    let body = got.json();
    assert_eq!(body["jsonrpc"], "2.0", "{got:?}");
    assert_eq!(body["error"]["code"], code, "{got:?}");
    assert!(body["error"]["message"].is_string(), "{got:?}");
    assert!(body.get("result").is_none(), "{got:?}");
}

testkit::both_engines! {
    async fn a_tool_answers_in_both_eras(place: TestPlace) {
        let world = World::new(&place).await;
        for era in ERAS {
            let before = world.count_of(ALPHA).await;
            let got = world.tool(era, ALPHA, "poke", json!({"by": 3})).await;
            assert_eq!(got.status, 200, "{got:?}");
            let result = &got.json()["result"];
            assert_eq!(result["structuredContent"]["count"], before + 3);
            assert_eq!(result["isError"], false);
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
            assert_eq!(result.get("resultType").is_some(), era == MODERN, "{era}");
            let meta = &result["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/serverInfo"]["name"], "arena-toy");
            assert_eq!(meta["arena/request_id"], got.header("x-request-id"));
            assert_eq!(result["structuredContent"]["request_id"], got.header("x-request-id"));
            assert!(meta.get("arena/clock_speed").is_none());
            assert_eq!(world.count_of(ALPHA).await, before + 3);
        }
        world.end().await;
    }

    async fn an_error_is_a_typed_result(place: TestPlace) {
        let world = World::new(&place).await;
        for era in ERAS {
            for (tool, arguments, code, part) in [
                ("fail", json!({}), "TOY_BUSY", "busy"),
                ("poke", json!({"by": 11}), "VALIDATION_FAILED", "whole number from 1 to 10"),
                ("poke", json!({"by": 1.5}), "VALIDATION_FAILED", "whole number from 1 to 10"),
                ("poke", json!({"by": "1"}), "VALIDATION_FAILED", "whole number from 1 to 10"),
                ("poke", json!({"by": null}), "VALIDATION_FAILED", "by"),
                ("poke", json!({}), "VALIDATION_FAILED", "missing field `by`"),
                ("poke", json!({"by": 1, "x": 1}), "VALIDATION_FAILED", "unknown field `x`"),
                ("peek", json!({"x": 1}), "VALIDATION_FAILED", "unknown field `x`"),
                ("poke", json!([1]), "VALIDATION_FAILED", "not a JSON object"),
                ("poke", json!("x"), "VALIDATION_FAILED", "not a JSON object"),
            ] {
                let got = world.tool(era, ALPHA, tool, arguments.clone()).await;
                assert_eq!(got.status, 200, "{arguments} {got:?}");
                let result = &got.json()["result"];
                assert_eq!(result["isError"], true, "{got:?}");
                let error = &result["structuredContent"]["error"];
                assert_eq!(error["code"], code, "{got:?}");
                assert!(error["message"].as_str().unwrap().contains(part), "{got:?}");
                let text = result["content"][0]["text"].as_str().unwrap();
                assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
                assert!(!got.text.contains("/etc/shadow"), "context of the operator in {got:?}");
            }
            let got = world.tool(era, ALPHA, "fail", json!({})).await;
            let error = &got.json()["result"]["structuredContent"]["error"];
            assert_eq!((&error["retry_after_seconds"], &error["pieces"]), (&json!(7), &json!(3)));
        }
        assert_eq!(world.count_of(ALPHA).await, 0, "no refusal changed anything");
        world.end().await;
    }
}

#[tokio::test]
async fn input_is_read_as_it_was_sent() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for era in ERAS {
        for (arguments, part) in [
            (r#"{"by":1e400}"#, "out of range"),
            (r#"{"by":1,"by":2}"#, "duplicate field `by`"),
            (r#"{"by":18446744073709551617}"#, "whole number from 1 to 10"),
            (r#"{"by":1,"note":"\ud800"}"#, ""),
        ] {
            let (headers, body) =
                mcp_request(era, Some(ALPHA), "tools/call", json!({"name": "poke", "arguments": "@"}));
            let body = body.to_string().replace("\"@\"", arguments);
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let got = world.send("POST", "/toy/mcp", &headers, body.as_bytes()).await;
            assert_eq!(got.status, 200, "{arguments} {got:?}");
            let result = &got.json()["result"];
            assert_eq!(result["isError"], true, "{arguments} {got:?}");
            assert!(result["structuredContent"]["summary"].as_str().unwrap().contains(part), "{got:?}");
        }
    }
    world.end().await;
}

#[tokio::test]
async fn a_call_without_arguments_is_an_empty_object() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for era in ERAS {
        for params in [json!({"name": "peek"}), json!({"name": "peek", "arguments": null})] {
            let got = world.mcp(era, Some(ALPHA), "tools/call", params).await;
            assert_eq!(got.json()["result"]["isError"], false, "{got:?}");
        }
    }
    world.end().await;
}

#[tokio::test]
async fn lists_are_cacheable_ordered_and_need_no_key() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for key in [None, Some(ALPHA)] {
        for era in ERAS {
            let got = world.mcp(era, key, "tools/list", json!({})).await;
            let result = &got.json()["result"];
            let tools = result["tools"].as_array().unwrap();
            let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["peek", "poke", "fail", "brew"]);
            assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "0.1.0");
            if era == MODERN {
                assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(300_000), &json!("public")));
                assert_eq!(result["resultType"], "complete");
            } else {
                assert!(result.get("ttlMs").is_none() && result.get("resultType").is_none());
            }
            for tool in tools {
                for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                    assert!(tool["annotations"][hint].is_boolean(), "{tool}");
                }
                for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
                    assert_eq!(schema["type"], "object");
                    assert_eq!(schema["additionalProperties"], false);
                    for combinator in ["anyOf", "allOf", "oneOf", "$ref", "$defs"] {
                        assert!(schema.get(combinator).is_none(), "{schema}");
                    }
                }
                assert_eq!(tool["outputSchema"]["required"], json!(["server_time", "summary"]));
            }
        }
    }
    let got = world.mcp(MODERN, None, "server/discover", json!({})).await;
    let result = &got.json()["result"];
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(300_000), &json!("public")));
    assert_eq!(result["instructions"], "Poke before you peek.");
    assert!(result["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)), "{got:?}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "arena-toy");
    world.end().await;
}

#[tokio::test]
async fn every_result_fits_the_published_schema() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let list = world.mcp(MODERN, None, "tools/list", json!({})).await.json();
    for (tool, arguments) in
        [("peek", json!({})), ("poke", json!({"by": 1})), ("poke", json!({"by": 0})), ("fail", json!({}))]
    {
        let tools = list["result"]["tools"].as_array().unwrap();
        let schema = &tools.iter().find(|t| t["name"] == tool).unwrap()["outputSchema"];
        let validator = jsonschema::validator_for(schema).unwrap();
        let got = world.tool(MODERN, ALPHA, tool, arguments).await.json();
        let structured = &got["result"]["structuredContent"];
        assert!(validator.is_valid(structured), "{tool}: {structured} against {schema}");
    }
    world.end().await;
}

#[tokio::test]
async fn the_handshake_of_older_revisions_works_without_a_session() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for (asked, told) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
        let headers =
            [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        let got = world.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await;
        assert_eq!(got.status, 200, "{got:?}");
        assert_eq!(got.json()["result"]["protocolVersion"], told, "asked for {asked}");
        assert!(got.headers.get("mcp-session-id").is_none());
    }
    let (headers, mut body) = mcp_request(LEGACY, None, "notifications/initialized", json!({}));
    body.as_object_mut().unwrap().remove("id");
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let got = world.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await;
    assert_eq!((got.status, got.text.as_str()), (202, ""));
    // A session of a server that is gone is no reason to fail.
    let stale = [&headers[..], &[("mcp-session-id", "dead")]].concat();
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let got = world.send("POST", "/toy/mcp", &stale, list.as_bytes()).await;
    assert_eq!(got.status, 200, "{got:?}");
    let got = world.mcp(LEGACY, None, "ping", json!({})).await;
    assert_eq!(got.json()["result"], json!({}));
    world.end().await;
}

#[tokio::test]
async fn all_paths_of_a_product_are_one() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let (headers, body) = mcp_request(MODERN, None, "tools/list", json!({}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for path in ["/toy/mcp", "/toy/mcp/", "/mcp", "/mcp/"] {
        let got = world.send("POST", path, &headers, body.to_string().as_bytes()).await;
        assert_eq!(got.status, 200, "{path} {got:?}");
    }
    for accept in ["application/json", "*/*", "text/event-stream, application/json;q=0.5"] {
        let headers: Vec<_> =
            headers.iter().map(|(n, v)| if *n == "accept" { (*n, accept) } else { (*n, *v) }).collect();
        let got = world.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await;
        assert_eq!((got.status, got.header("content-type")), (200, "application/json"), "{accept}");
    }
    world.end().await;
}

/// Changes to a right modern `tools/call`, and what each must give.
#[tokio::test]
async fn wrong_modern_requests() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let set = |name: &'static str, value: &'static str| (Some((name, value)), None::<(&str, Value)>);
    let meta = |key: &'static str, value: Value| (None, Some((key, value)));
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for (what, (header, member), status, code) in [
        ("no Mcp-Name", set("mcp-name", ""), 400, -32020),
        ("another Mcp-Name", set("mcp-name", "poke"), 400, -32020),
        ("no Mcp-Method", set("mcp-method", ""), 400, -32020),
        ("another Mcp-Method", set("mcp-method", "tools/list"), 400, -32020),
        ("no version header", set("mcp-protocol-version", ""), 400, -32020),
        ("another version header", set("mcp-protocol-version", "2025-11-25"), 400, -32020),
        ("no capabilities", meta(capabilities, Value::Null), 400, -32602),
        ("malformed capabilities", meta(capabilities, json!("x")), 400, -32602),
        ("no version in _meta", meta(version, Value::Null), 400, -32602),
    ] {
        let (headers, mut body) = mcp_request(MODERN, Some(ALPHA), "tools/call", json!({"name": "peek"}));
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        if let Some((name, value)) = header {
            headers.retain(|(known, _)| *known != name);
            if !value.is_empty() {
                headers.push((name, value));
            }
        }
        if let Some((key, value)) = member {
            let meta = body["params"]["_meta"].as_object_mut().unwrap();
            meta.remove(key);
            if !value.is_null() {
                meta.insert(key.to_owned(), value);
            }
        }
        let got = world.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await;
        assert_eq!((got.status, &got.json()["error"]["code"]), (status, &json!(code)), "{what}: {got:?}");
    }
    let got = world.mcp("2099-01-01", Some(ALPHA), "tools/call", json!({"name": "peek"})).await;
    assert_rpc_error(&got, 400, -32022);
    assert!(got.json()["error"]["data"]["supported"].as_array().unwrap().len() >= 2, "{got:?}");
    let (headers, mut body) = mcp_request(MODERN, None, "tools/list", json!({}));
    body["params"]["_meta"][version] = "2099-01-01".into();
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (*name, if value == MODERN { "2099-01-01" } else { value.as_str() }))
        .collect();
    let got = world.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await;
    assert_rpc_error(&got, 400, -32022);
    world.end().await;
}

#[tokio::test]
async fn unknown_methods_and_tools() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    assert_rpc_error(&world.mcp(MODERN, None, "foo/bar", json!({})).await, 404, -32601);
    assert_rpc_error(&world.mcp(MODERN, None, "ping", json!({})).await, 404, -32601);
    assert_rpc_error(&world.mcp(MODERN, None, "initialize", json!({})).await, 404, -32601);
    assert_rpc_error(&world.mcp(MODERN, None, "prompts/list", json!({})).await, 404, -32601);
    assert_rpc_error(&world.mcp(LEGACY, None, "foo/bar", json!({})).await, 200, -32601);
    for era in ERAS {
        assert_rpc_error(&world.tool(era, ALPHA, "nope", json!({})).await, 200, -32602);
        let got = world.mcp(era, Some(ALPHA), "tools/call", json!({"arguments": {}})).await;
        assert_rpc_error(&got, 400, -32602);
    }
    let got = world.mcp(LEGACY, None, "initialize", json!({"protocolVersion": 7})).await;
    assert_rpc_error(&got, 400, -32602);
    for era in ERAS {
        assert_rpc_error(&world.mcp(era, None, "tools/list", json!({"cursor": "x"})).await, 200, -32602);
        assert_rpc_error(&world.mcp(era, None, "tools/list", json!({"cursor": 7})).await, 400, -32602);
    }
    world.end().await;
}

#[tokio::test]
async fn wrong_messages() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let json_type = ("content-type", "application/json");
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
        "[".repeat(70),
        "]".repeat(70)
    );
    let large =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "x".repeat(70_000));
    let rows: [(&str, &[u8], Headers<'_>, u16, i64); 12] = [
        ("broken JSON", b"{bad", &[json_type], 400, -32700),
        ("no body", b"", &[json_type], 400, -32700),
        ("broken UTF-8", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", &[json_type], 400, -32700),
        ("text after the end", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#, &[json_type], 400, -32700),
        ("batch", br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, &[json_type], 400, -32600),
        ("empty batch", b"[]", &[json_type], 400, -32600),
        ("not 2.0", br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, &[json_type], 400, -32600),
        ("a response", br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, &[json_type], 400, -32600),
        ("too deep", deep.as_bytes(), &[json_type], 400, -32600),
        ("too large", large.as_bytes(), &[json_type], 413, -32600),
        ("no media type", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, &[], 415, -32600),
        ("form", b"a=b", &[("content-type", "application/x-www-form-urlencoded")], 415, -32600),
    ];
    for (what, body, headers, status, code) in rows {
        let got = world.send("POST", "/toy/mcp", headers, body).await;
        assert_eq!((got.status, &got.json()["error"]["code"]), (status, &json!(code)), "{what}: {got:?}");
        assert_rpc_error(&got, status, code);
    }
    for method in ["GET", "DELETE", "PUT", "OPTIONS"] {
        let got = world.send(method, "/toy/mcp", &[("accept", "text/event-stream")], b"").await;
        assert_rpc_error(&got, 405, -32600);
        assert_eq!(got.header("allow"), "POST");
    }
    let headers = [json_type, ("mcp-protocol-version", "1999-01-01")];
    let got = world.send("POST", "/toy/mcp", &headers, br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_rpc_error(&got, 400, -32022);
    assert_eq!(got.json()["id"], 1);
    world.end().await;
}

#[tokio::test]
async fn input_may_nest_to_its_limit_and_not_deeper() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for (levels, part) in [(31, "unknown field"), (32, "nests deeper than 32")] {
        let arguments = format!(r#"{{"x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        let got = world.tool(MODERN, ALPHA, "peek", serde_json::from_str(&arguments).unwrap()).await;
        let error = got.json()["result"]["structuredContent"]["error"]["message"].clone();
        assert!(error.as_str().unwrap().contains(part), "{levels}: {got:?}");
    }
    world.end().await;
}
