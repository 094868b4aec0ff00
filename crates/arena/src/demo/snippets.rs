//! How to connect a client of one's own: commands and configuration to copy, with a working key.

use serde_json::json;

/// A way to connect, ready to paste.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

/// The snippets for a server whose MCP endpoint is `mcp_url`.
pub(crate) fn snippets(mcp_url: &str, rest_url: &str, key: &str) -> Vec<Snippet> {
    let bearer = format!("Bearer {key}");
    let servers = json!({"mcpServers": {"arena": {
        "type": "http", "url": mcp_url, "headers": {"Authorization": bearer},
    }}});
    let vs_code = json!({"servers": {"arena": {
        "type": "http", "url": mcp_url, "headers": {"Authorization": bearer},
    }}});
    let gemini = json!({"mcpServers": {"arena": {"httpUrl": mcp_url, "headers": {"Authorization": bearer}}}});
    vec![
        Snippet {
            title: "Claude Code",
            text: format!(
                "claude mcp add --transport http arena {mcp_url} --header \"Authorization: {bearer}\""
            ),
        },
        Snippet { title: "Cursor (~/.cursor/mcp.json), Claude Code (.mcp.json)", text: servers.to_string() },
        Snippet { title: "VS Code (.vscode/mcp.json)", text: vs_code.to_string() },
        Snippet { title: "Gemini CLI (~/.gemini/settings.json)", text: gemini.to_string() },
        Snippet {
            title: "Codex (~/.codex/config.toml; a key named `headers` would be ignored there)",
            text: format!(
                "[mcp_servers.arena]\nurl = \"{mcp_url}\"\nhttp_headers = {{ Authorization = \"{bearer}\" }}"
            ),
        },
        Snippet {
            title: "curl",
            text: format!(
                "curl -s {rest_url}/whoami -H 'Authorization: {bearer}' -H 'Content-Type: application/json' -d '{{}}'"
            ),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_snippets_are_json_and_all_name_the_server() {
        let made = snippets("http://127.0.0.1:7878/mcp", "http://127.0.0.1:7878/duels/v1", "arena_sk_x");
        for snippet in &made {
            assert!(snippet.text.contains("http://127.0.0.1:7878/"), "{}", snippet.title);
            assert!(snippet.text.contains("arena_sk_x"), "{}", snippet.title);
            if snippet.text.starts_with('{') {
                assert!(
                    serde_json::from_str::<serde_json::Value>(&snippet.text).is_ok(),
                    "{}",
                    snippet.title
                );
            }
        }
    }
}
