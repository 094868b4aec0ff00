//! The stdio server: the same tools, and calls that go wherever the callback takes them.

use std::sync::{Arc, Mutex};

use doors::{Forward, Forwarded, ServerName, serve_stdio_over};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

use crate::product;

struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
}

impl Client {
    async fn ask(&mut self, message: Value) -> Value {
        self.tell(message).await;
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn tell(&mut self, message: Value) {
        self.output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
}

#[tokio::test]
async fn tools_are_listed_and_calls_forwarded() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let forward: Forward = Arc::new(move |call| {
        seen.lock().unwrap().push((call.name.clone(), call.arguments.clone()));
        let is_error = call.name == "fail";
        Box::pin(async move { Forwarded { json: json!({"echo": call.name}).to_string(), is_error } })
    });
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let serving = tokio::spawn(async move {
        let (input, output) = tokio::io::split(theirs);
        let name = ServerName { name: "arena".into(), title: "Arena".into(), version: "0.1.0".into() };
        serve_stdio_over(&product::toy(), &name, forward, input, output).await
    });
    let (input, output) = tokio::io::split(ours);
    let mut client = Client { lines: BufReader::new(input).lines(), output };
    let hello = client
        .ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}))
        .await;
    assert_eq!(hello["result"]["serverInfo"]["name"], "arena-toy", "{hello}");
    client.tell(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let list = client.ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 4, "{list}");
    for (tool, is_error) in [("poke", false), ("fail", true)] {
        let got = client
            .ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": {"name": tool, "arguments": {"by": 2}}}))
            .await;
        assert_eq!(got["result"]["structuredContent"], json!({"echo": tool}), "{got}");
        assert_eq!(got["result"]["isError"], is_error);
    }
    let got = client
        .ask(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "nope"}}))
        .await;
    assert_eq!(got["error"]["code"], -32602, "{got}");
    assert_eq!(calls.lock().unwrap()[0], ("poke".to_owned(), r#"{"by":2}"#.to_owned()));
    drop(client);
    serving.await.unwrap().unwrap();
}
