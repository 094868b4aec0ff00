//! The smallest MCP client over HTTP, in both revisions, one connection a request.

use serde_json::{Value, json};

use crate::http::{Answer, send};

/// The revision that a request is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-11-25; the server keeps no session, so there is no handshake to repeat.
    Legacy,
    /// 2026-07-28.
    Modern,
}

pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

#[derive(Clone)]
pub(crate) struct McpClient {
    pub(crate) address: String,
    pub(crate) path: &'static str,
    pub(crate) key: Option<String>,
    pub(crate) era: Era,
}

impl McpClient {
    pub(crate) fn new(address: &str, key: Option<&str>, era: Era) -> Self {
        Self { address: address.to_owned(), path: "/duels/mcp", key: key.map(str::to_owned), era }
    }

    /// Sends one request and reads the whole answer.
    pub(crate) fn request(&self, method: &str, mut params: Value) -> Answer {
        let mut headers = vec![("accept", "application/json, text/event-stream".to_owned())];
        match self.era {
            Era::Legacy => headers.push(("mcp-protocol-version", "2025-11-25".to_owned())),
            Era::Modern => {
                headers.push(("mcp-protocol-version", "2026-07-28".to_owned()));
                headers.push(("mcp-method", method.to_owned()));
                headers.extend(params["name"].as_str().map(|name| ("mcp-name", name.to_owned())));
                params["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
            }
        }
        headers.extend(self.key.as_ref().map(|key| ("authorization", format!("Bearer {key}"))));
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        send(&self.address, "POST", self.path, &headers, body.as_bytes())
    }

    /// The result of a request that succeeds on the protocol's level.
    pub(crate) fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert_eq!(answer.status, 200, "{method}: {}", answer.body);
        let mut message = answer.json();
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(1)), "{message}");
        message["result"].take()
    }

    pub(crate) fn tools(&self) -> Vec<Value> {
        let mut listed = self.result("tools/list", json!({}));
        serde_json::from_value(listed["tools"].take()).unwrap()
    }

    /// The result of a tool call; whether it is an error is the tool's business.
    pub(crate) fn tool(&self, name: &str, arguments: &Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
    }
}
