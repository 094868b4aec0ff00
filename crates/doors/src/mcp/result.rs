//! Tool results as JSON text, written once around the operation's own text.

use serde_json::json;

use super::tools::SERVER_INFO_KEY;

pub(crate) const REQUEST_ID_KEY: &str = "arena/request_id";
pub(crate) const CLOCK_SPEED_KEY: &str = "arena/clock_speed";
pub(crate) const REPLAYED_KEY: &str = "arena/idempotent_replayed";
/// The `_meta` key of a request that carries its idempotency key.
pub(crate) const ONCE_KEY: &str = "arena/idempotency_key";

/// What travels beside a tool's result.
pub(crate) struct Beside<'a> {
    /// JSON text.
    pub(crate) server_info: &'a str,
    pub(crate) request_id: &'a str,
    pub(crate) clock_speed: Option<String>,
    pub(crate) replayed: bool,
}

impl Beside<'_> {
    /// The result's `_meta` as JSON text.
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::with_capacity(self.server_info.len() + 128);
        for part in ["{\"", SERVER_INFO_KEY, "\":", self.server_info, ",\"", REQUEST_ID_KEY, "\":"] {
            out.push_str(part);
        }
        push_quoted(&mut out, self.request_id);
        if let Some(speed) = &self.clock_speed {
            for part in [",\"", CLOCK_SPEED_KEY, "\":", &json!(speed).to_string()] {
                out.push_str(part);
            }
        }
        if self.replayed {
            for part in [",\"", REPLAYED_KEY, "\":true"] {
                out.push_str(part);
            }
        }
        out.push('}');
        out
    }
}

/// A whole JSON-RPC response with a tool's result. `structured` is the operation's answer or error
/// body, which appears twice: as an object and, for older clients, as text.
pub(crate) fn response(
    id: &str,
    modern: bool,
    structured: &str,
    is_error: bool,
    beside: &Beside<'_>,
) -> String {
    let meta = beside.to_json();
    let mut out = String::with_capacity(structured.len() * 2 + structured.len() / 4 + meta.len() + 192);
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    out.push_str(id);
    out.push_str(",\"result\":{");
    if modern {
        out.push_str("\"resultType\":\"complete\",");
    }
    out.push_str("\"content\":[{\"type\":\"text\",\"text\":");
    push_quoted(&mut out, structured);
    out.push_str("}],\"structuredContent\":");
    out.push_str(structured);
    out.push_str(if is_error { ",\"isError\":true,\"_meta\":" } else { ",\"isError\":false,\"_meta\":" });
    out.push_str(&meta);
    out.push_str("}}");
    out
}

/// Appends `text` as a JSON string.
fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            byte => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_text_is_the_structured_content() {
        for structured in [
            r#"{"a":1}"#.to_owned(),
            json!({"text": "quote \" back \\ line \n tab \t bell \u{7} é 👩‍👩‍👧 \u{2028}"}).to_string(),
            "{\"raw\":\"\u{7f}\"}".to_owned(),
        ] {
            let beside = Beside {
                server_info: r#"{"name":"x","version":"1"}"#,
                request_id: "r1",
                clock_speed: Some("60".to_owned()),
                replayed: true,
            };
            let text = response("\"a\\\"b\"", true, &structured, false, &beside);
            let value: Value = serde_json::from_str(&text).unwrap();
            let wanted: Value = serde_json::from_str(&structured).unwrap();
            assert_eq!(value["id"], "a\"b");
            assert_eq!(value["result"]["structuredContent"], wanted);
            assert_eq!(value["result"]["content"][0]["text"], Value::String(structured));
            assert_eq!(value["result"]["resultType"], "complete");
            assert_eq!(
                value["result"]["_meta"],
                json!({
                    "io.modelcontextprotocol/serverInfo": {"name": "x", "version": "1"},
                    "arena/request_id": "r1", "arena/clock_speed": "60", "arena/idempotent_replayed": true,
                }),
            );
        }
    }
}
