//! How to connect a client: one table of commands and configurations, for pages and for the terminal.

use base64::{Engine, engine::general_purpose::STANDARD};
use look::{Markup, html};
use serde_json::{Value, json};

use crate::house::House;

/// Where the key goes when it is not known.
pub(crate) const KEY_PLACE: &str = "arena_sk_YOUR_KEY";

/// How the text of a snippet is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Shell,
    Json,
    Toml,
    Yaml,
    /// An address that the client opens by itself.
    Link,
}

/// A way to connect, ready to paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The client.
    pub title: &'static str,
    /// The file that the text goes into; empty for a command.
    pub file: &'static str,
    /// The trap that catches people here; empty when there is none.
    pub note: &'static str,
    pub form: Form,
    pub text: String,
}

/// Every client that is known, for a server whose MCP endpoint is `mcp_url`.
pub fn snippets(mcp_url: &str, rest_url: &str, key: &str) -> Vec<Snippet> {
    let bearer = format!("Bearer {key}");
    let http = json!({"type": "http", "url": mcp_url, "headers": {"Authorization": bearer}});
    let entry = |title, file, note, value: Value| Snippet {
        title,
        file,
        note,
        form: Form::Json,
        text: serde_json::to_string_pretty(&value).unwrap_or_default(),
    };
    let text = |title, file, note, form, text| Snippet { title, file, note, form, text };
    let remote = json!({"type": "remote", "url": mcp_url, "headers": {"Authorization": bearer}});
    vec![
        text(
            "Claude Code",
            "",
            "Without --transport an address would be taken for a command.",
            Form::Shell,
            format!("claude mcp add --transport http arena {mcp_url} --header \"Authorization: {bearer}\""),
        ),
        entry(
            "Claude Code, for a project",
            ".mcp.json",
            "Write ${ARENA_API_KEY} in place of the key if others share the file.",
            json!({"mcpServers": {"arena": http}}),
        ),
        entry("Cursor", "~/.cursor/mcp.json", "", json!({"mcpServers": {"arena": http}})),
        text(
            "Cursor, by a link",
            "",
            "Cursor asks before it adds the server.",
            Form::Link,
            cursor_link(&http),
        ),
        entry(
            "VS Code",
            ".vscode/mcp.json",
            "The key is `servers`, not `mcpServers`.",
            json!({"servers": {"arena": http}}),
        ),
        entry(
            "Gemini CLI",
            "~/.gemini/settings.json",
            "The key is `httpUrl`; `url` would mean the old SSE transport there.",
            json!({"mcpServers": {"arena": {"httpUrl": mcp_url, "headers": {"Authorization": bearer}}}}),
        ),
        text(
            "Codex",
            "~/.codex/config.toml",
            "The key is `http_headers`; one named `headers` is silently ignored.",
            Form::Toml,
            format!(
                "[mcp_servers.arena]\nurl = \"{mcp_url}\"\nhttp_headers = {{ Authorization = \"{bearer}\" }}"
            ),
        ),
        entry(
            "opencode 2",
            "opencode.json",
            "",
            json!({"$schema": "https://opencode.ai/config.json", "mcp": {"servers": {"arena": remote}}}),
        ),
        entry(
            "opencode 1",
            "opencode.json",
            "",
            json!({"$schema": "https://opencode.ai/config.json", "mcp": {"arena": {
                "type": "remote", "url": mcp_url, "enabled": true, "headers": {"Authorization": bearer},
            }}}),
        ),
        text(
            "goose",
            "~/.config/goose/config.yaml",
            "",
            Form::Yaml,
            format!(
                "extensions:\n  arena:\n    enabled: true\n    name: arena\n    type: streamable_http\n    uri: \"{mcp_url}\"\n    timeout: 300\n    headers:\n      Authorization: \"{bearer}\""
            ),
        ),
        entry(
            "Claude Desktop",
            "claude_desktop_config.json",
            "Its file takes local programs only, so this program stands in between.",
            json!({"mcpServers": {"arena": {
                "command": "arena",
                "args": ["mcp", "duels", "--server", server_of(mcp_url)],
                "env": {"ARENA_API_KEY": key},
            }}}),
        ),
        text(
            "Python",
            "",
            "It needs no library. The example is in the source tree; copy it and change its mind.",
            Form::Shell,
            format!("ARENA_MCP_URL={mcp_url} ARENA_API_KEY={key} python3 examples/agent.py"),
        ),
        text(
            "curl",
            "",
            "",
            Form::Shell,
            format!(
                "curl -s {rest_url}/whoami -H 'Authorization: {bearer}' -H 'Content-Type: application/json' -d '{{}}'"
            ),
        ),
    ]
}

/// The address that adds a server to Cursor: the inner object alone, as Base64, because a name around it is taken
/// for the server's.
fn cursor_link(http: &Value) -> String {
    let config = STANDARD.encode(http.to_string());
    // `+`, `/` and `=` mean other things in an address.
    let config: String = url::form_urlencoded::byte_serialize(config.as_bytes()).collect();
    format!("cursor://anysphere.cursor-deeplink/mcp/install?name=arena&config={config}")
}

/// The snippets of every client as tabs that need no script.
pub(crate) fn tabs(house: &House, key: &str) -> Markup {
    let root = &house.products[house.root].product;
    let mcp_url = format!("{}{}", house.public_url, root.mcp_path);
    let rest_url = format!("{}{}", house.public_url, root.rest_prefix);
    html! {
        div class="tabs" {
            @for (at, snippet) in snippets(&mcp_url, &rest_url, key).iter().enumerate() {
                details name="connect" open[at == 0] {
                    summary { (snippet.title) }
                    p {
                        @if snippet.form == Form::Link { "Open in a browser. " } @else if snippet.file.is_empty() { "Run in a terminal. " } @else { "Goes into " code { (snippet.file) } ". " }
                        (snippet.note)
                    }
                    pre data-copy { (snippet.text) }
                }
            }
        }
    }
}

/// The address of the server whose endpoint this is.
fn server_of(mcp_url: &str) -> String {
    url::Url::parse(mcp_url).map_or_else(|_| mcp_url.to_owned(), |url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_snippet_names_server_and_key_and_reads_back() {
        let made =
            snippets("http://127.0.0.1:7878/duels/mcp", "http://127.0.0.1:7878/duels/v1", "arena_sk_x");
        assert!(made.len() >= 10);
        let http = json!({
            "type": "http",
            "url": "http://127.0.0.1:7878/duels/mcp",
            "headers": {"Authorization": "Bearer arena_sk_x"},
        });
        for Snippet { title, form, text, .. } in &made {
            match form {
                Form::Shell => {}
                Form::Json => drop(serde_json::from_str::<Value>(text).unwrap()),
                Form::Toml => {
                    let read: toml::Table = text.parse().unwrap();
                    let arena = &read["mcp_servers"]["arena"];
                    assert_eq!(arena["url"].as_str(), http["url"].as_str(), "{title}");
                    assert_eq!(arena["http_headers"]["Authorization"].as_str(), Some("Bearer arena_sk_x"));
                }
                Form::Yaml => {
                    let read =
                        &yaml_rust2::YamlLoader::load_from_str(text).unwrap()[0]["extensions"]["arena"];
                    assert_eq!(read["uri"].as_str(), http["url"].as_str(), "{title}");
                    assert_eq!(read["headers"]["Authorization"].as_str(), Some("Bearer arena_sk_x"));
                    assert_eq!(
                        (read["enabled"].as_bool(), read["timeout"].as_i64()),
                        (Some(true), Some(300))
                    );
                }
                Form::Link => {
                    let read = url::Url::parse(text).unwrap();
                    let (_, config) = read.query_pairs().find(|(name, _)| name == "config").unwrap();
                    let config = STANDARD.decode(config.as_bytes()).unwrap();
                    assert_eq!(serde_json::from_slice::<Value>(&config).unwrap(), http, "{title}");
                    continue;
                }
            }
            assert!(text.contains("http://127.0.0.1:7878") && text.contains("arena_sk_x"), "{title}");
        }
        let titles: std::collections::BTreeSet<_> = made.iter().map(|snippet| snippet.title).collect();
        assert_eq!(titles.len(), made.len());
    }

    /// Without a key a link is, byte for byte, what the client's own service publishes.
    #[test]
    fn a_cursor_link_holds_the_inner_object_alone() {
        let link = cursor_link(&json!({"type": "http", "url": "https://api.arcgate.dev/mcp"}));
        let published = "eyJ0eXBlIjoiaHR0cCIsInVybCI6Imh0dHBzOi8vYXBpLmFyY2dhdGUuZGV2L21jcCJ9";
        assert!(link.ends_with(&format!("&config={published}")), "{link}");
    }
}
