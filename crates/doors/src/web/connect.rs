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

/// Every client that is known, for a server whose MCP endpoint is `mcp_url`: with a key, or so that clients which can
/// sign in do; those that cannot have [`KEY_PLACE`] then.
pub fn snippets(mcp_url: &str, rest_url: &str, key: Option<&str>) -> Vec<Snippet> {
    let note = |with_key, signing_in| if key.is_some() { with_key } else { signing_in };
    let bearer = format!("Bearer {}", key.unwrap_or(KEY_PLACE));
    // What tells a client nothing of headers makes it ask the server how to sign in.
    let keyed = |mut entry: Value, name: &str| {
        if key.is_some() {
            entry[name] = json!({"Authorization": bearer});
        }
        entry
    };
    let http = keyed(json!({"type": "http", "url": mcp_url}), "headers");
    let entry = |title, file, note, value: Value| Snippet {
        title,
        file,
        note,
        form: Form::Json,
        text: serde_json::to_string_pretty(&value).unwrap_or_default(),
    };
    let text = |title, file, note, form, text| Snippet { title, file, note, form, text };
    let remote = keyed(json!({"type": "remote", "url": mcp_url}), "headers");
    let header = |text: String| if key.is_some() { text } else { String::new() };
    vec![
        text(
            "Claude Code",
            "",
            note(
                "Without --transport an address would be taken for a command.",
                "Then /mcp in a session opens the browser to sign in.",
            ),
            Form::Shell,
            format!(
                "claude mcp add --transport http arena {mcp_url}{}",
                header(format!(" --header \"Authorization: {bearer}\""))
            ),
        ),
        entry(
            "Claude Code, for a project",
            ".mcp.json",
            note("Write ${ARENA_API_KEY} in place of the key if others share the file.", ""),
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
            json!({"mcpServers": {"arena": keyed(json!({"httpUrl": mcp_url}), "headers")}}),
        ),
        text(
            "Codex",
            "~/.codex/config.toml",
            note(
                "The key is `http_headers`; one named `headers` is silently ignored.",
                "Then run `codex mcp login arena`.",
            ),
            Form::Toml,
            format!(
                "[mcp_servers.arena]\nurl = \"{mcp_url}\"{}",
                header(format!("\nhttp_headers = {{ Authorization = \"{bearer}\" }}"))
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
            json!({"$schema": "https://opencode.ai/config.json", "mcp": {
                "arena": keyed(json!({"type": "remote", "url": mcp_url, "enabled": true}), "headers"),
            }}),
        ),
        text(
            "goose",
            "~/.config/goose/config.yaml",
            "",
            Form::Yaml,
            format!(
                "extensions:\n  arena:\n    enabled: true\n    name: arena\n    type: streamable_http\n    uri: \"{mcp_url}\"\n    timeout: 300{}",
                header(format!("\n    headers:\n      Authorization: \"{bearer}\""))
            ),
        ),
        entry(
            "Claude Desktop",
            "claude_desktop_config.json",
            "Its file takes local programs only, so this program stands in between.",
            json!({"mcpServers": {"arena": {
                "command": "arena",
                "args": ["mcp", "duels", "--server", server_of(mcp_url)],
                "env": {"ARENA_API_KEY": key.unwrap_or(KEY_PLACE)},
            }}}),
        ),
        text(
            "Python",
            "",
            "It needs no library. The example is in the source tree; copy it and change its mind.",
            Form::Shell,
            format!(
                "ARENA_MCP_URL={mcp_url} ARENA_API_KEY={} python3 examples/agent.py",
                key.unwrap_or(KEY_PLACE)
            ),
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
pub(crate) fn tabs(house: &House, key: Option<&str>) -> Markup {
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

    const MCP: &str = "http://127.0.0.1:7878/duels/mcp";
    const REST: &str = "http://127.0.0.1:7878/duels/v1";

    /// What a client would read out of a snippet: the address and the header, wherever its format has them.
    fn read(snippet: &Snippet) -> Option<(String, Option<String>)> {
        let text = &snippet.text;
        let of_json = |value: &Value| {
            let url = value.get("url").or_else(|| value.get("httpUrl"))?.as_str()?.to_owned();
            Some((url, value["headers"]["Authorization"].as_str().map(str::to_owned)))
        };
        match snippet.form {
            Form::Shell => None,
            Form::Json => {
                let value: Value = serde_json::from_str(text).unwrap();
                let servers = ["/mcpServers/arena", "/servers/arena", "/mcp/servers/arena", "/mcp/arena"];
                let entry = servers.iter().find_map(|at| value.pointer(at)).unwrap();
                if entry.get("command").is_some() {
                    assert!(entry["env"]["ARENA_API_KEY"].is_string());
                    return None;
                }
                Some(of_json(entry).unwrap())
            }
            Form::Toml => {
                let value: toml::Table = text.parse().unwrap();
                let arena = &value["mcp_servers"]["arena"];
                let header =
                    arena.get("http_headers").map(|headers| headers["Authorization"].as_str().unwrap());
                Some((arena["url"].as_str().unwrap().to_owned(), header.map(str::to_owned)))
            }
            Form::Yaml => {
                let value = &yaml_rust2::YamlLoader::load_from_str(text).unwrap()[0]["extensions"]["arena"];
                assert_eq!((value["enabled"].as_bool(), value["timeout"].as_i64()), (Some(true), Some(300)));
                let header = value["headers"]["Authorization"].as_str().map(str::to_owned);
                Some((value["uri"].as_str().unwrap().to_owned(), header))
            }
            Form::Link => {
                let link = url::Url::parse(text).unwrap();
                let (_, config) = link.query_pairs().find(|(name, _)| name == "config").unwrap();
                let config = STANDARD.decode(config.as_bytes()).unwrap();
                Some(of_json(&serde_json::from_slice(&config).unwrap()).unwrap())
            }
        }
    }

    #[test]
    fn every_snippet_names_server_and_key_and_reads_back() {
        let made = snippets(MCP, REST, Some("arena_sk_x"));
        assert!(made.len() >= 10);
        for snippet in &made {
            match read(snippet) {
                Some(read) => {
                    assert_eq!(
                        read,
                        (MCP.to_owned(), Some("Bearer arena_sk_x".to_owned())),
                        "{}",
                        snippet.title
                    );
                }
                None => assert!(
                    snippet.text.contains("http://127.0.0.1:7878") && snippet.text.contains("arena_sk_x"),
                    "{}",
                    snippet.title
                ),
            }
        }
        let titles: std::collections::BTreeSet<_> = made.iter().map(|snippet| snippet.title).collect();
        assert_eq!(titles.len(), made.len());
    }

    /// A client that finds a header does not sign in, and a place-holder is a key that is refused.
    #[test]
    fn without_a_key_clients_sign_in() {
        let made = snippets(MCP, REST, None);
        let with_place: Vec<_> = made
            .iter()
            .filter(|snippet| snippet.text.contains(KEY_PLACE))
            .map(|snippet| snippet.title)
            .collect();
        assert_eq!(with_place, ["Claude Desktop", "Python", "curl"]);
        for snippet in &made {
            if let Some(read) = read(snippet) {
                assert_eq!(read, (MCP.to_owned(), None), "{}", snippet.title);
            }
        }
        assert_eq!(made[0].text, format!("claude mcp add --transport http arena {MCP}"));
    }

    /// Without a key a link is, byte for byte, what the client's own service publishes.
    #[test]
    fn a_cursor_link_holds_the_inner_object_alone() {
        let link = cursor_link(&json!({"type": "http", "url": "https://api.arcgate.dev/mcp"}));
        let published = "eyJ0eXBlIjoiaHR0cCIsInVybCI6Imh0dHBzOi8vYXBpLmFyY2dhdGUuZGV2L21jcCJ9";
        assert!(link.ends_with(&format!("&config={published}")), "{link}");
    }
}
