//! `arena mcp duels` over standard input and output.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::process::Home;

struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl Session {
    fn start(home: &Home, variables: &[(&str, &str)]) -> Self {
        let mut command = home.command(&["mcp", "duels"]);
        command.envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut session = Self { child, input, output, next_id: 1 };
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        assert_eq!(session.ask("initialize", &hello)["protocolVersion"], "2025-11-25");
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The client hangs up, which ends the program.
    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn tools_are_listed_with_nothing_running_and_calls_say_what_to_do() {
    let home = Home::new();
    let mut session = Session::start(&home, &[]);
    let listed = session.ask("tools/list", &json!({}));
    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 14);
    assert!(tools.iter().any(|tool| tool["name"] == "submit_demand"));
    let refused = session.call("whoami", &json!({}));
    assert_eq!(refused["isError"], true);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("ARENA_API_KEY") && text.contains("admin user create"), "{text}");
    session.end();
    assert!(!home.data().exists(), "no database is made");
}

#[test]
fn a_server_that_is_away_is_said() {
    let home = Home::new();
    let server = format!("http://{}", crate::http::free_address());
    let mut session = Session::start(&home, &[("ARENA_API_KEY", "arena_sk_x"), ("ARENA_SERVER", &server)]);
    let refused = session.call("whoami", &json!({}));
    assert_eq!(refused["isError"], true);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("arena serve") && text.contains("ARENA_SERVER"), "{text}");
    session.end();
}

#[test]
fn calls_reach_the_server_with_the_key() {
    let home = Home::new();
    let key = home.person("alice");
    let server = home.serve(&[]);
    let url = format!("http://{}", server.address);
    let mut session = Session::start(&home, &[("ARENA_API_KEY", &key), ("ARENA_SERVER", &url)]);
    let me = session.call("whoami", &json!({}));
    assert_ne!(me["isError"], true, "{me}");
    assert_eq!(me["structuredContent"]["agent"]["nickname"], "alice");
    // A refusal of the server is passed on as it is.
    let refused = session.call("challenge_agent", &json!({"nickname": "alice"}));
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["structuredContent"]["error"]["code"], "SELF_CHALLENGE");
    session.end();
    server.stop();
}
