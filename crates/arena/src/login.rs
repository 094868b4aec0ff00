//! `arena login`: a key for this machine, without copying one: the server shows it to a person who types a
//! short code in a browser.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::{
    config::{layers::Loaded, model::web_url},
    exit::ExitCode,
    failure::Failure,
    output::{escape::printable, print},
    remote::http::{Http, SERVER_DEFAULT},
    serve::signals,
};

/// What a server may ask a command line to wait between two questions.
const INTERVAL_SECONDS: std::ops::RangeInclusive<u64> = 1..=30;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pairing {
    secret: String,
    code: String,
    url: String,
    interval_seconds: u64,
    expires_in_seconds: u64,
}

pub(crate) async fn run(loaded: &Loaded, as_json: bool) -> Result<ExitCode, Failure> {
    let base = web_url("server", loaded.config.server.as_deref().unwrap_or(SERVER_DEFAULT))?;
    let http = Http::new()?;
    let wish = signals::shutdown()?;
    let label = label();
    let pairing: Pairing = told(&http, &base, "/pair/start", &json!({ "label": label })).await?;
    print::note(&format!(
        "Open {}\nand compare the code: {}\nWaiting for you; Ctrl-C gives up.",
        printable(&pairing.url),
        printable(&pairing.code)
    ));
    let begun = Instant::now();
    let pause = Duration::from_secs(
        pairing.interval_seconds.clamp(*INTERVAL_SECONDS.start(), *INTERVAL_SECONDS.end()),
    );
    while begun.elapsed().as_secs() <= pairing.expires_in_seconds {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = wish.cancelled() => return Err(Failure::new(ExitCode::Refused, "given up; nothing was let in")),
        }
        let now: Value = told(&http, &base, "/pair/poll", &json!({ "secret": pairing.secret })).await?;
        match now["status"].as_str() {
            Some("waiting") => {}
            Some("allowed") => return show(&base, &now, as_json),
            Some("refused") => {
                return Err(Failure::new(ExitCode::Refused, "you refused it")
                    .hint("run arena login again to be asked anew"));
            }
            _ => break,
        }
    }
    Err(Failure::new(ExitCode::Refused, "the code has expired").hint("run arena login again"))
}

/// By what its owner knows this machine later, in the list of keys.
fn label() -> String {
    let name = rustix::system::uname();
    let host = name.nodename().to_string_lossy();
    let host = host.split('.').next().unwrap_or_default();
    format!("arena login on {}", if host.is_empty() { "a machine" } else { host })
}

/// Shells are given these lines to run, so nothing of them may be a command.
fn show(base: &Url, allowed: &Value, as_json: bool) -> Result<ExitCode, Failure> {
    let (Some(nickname), Some(key)) =
        (allowed["nickname"].as_str(), allowed["apiKey"].as_str().filter(|key| is_key(key)))
    else {
        return Err(another(base));
    };
    let nickname = printable(nickname);
    let server = base.as_str().trim_end_matches('/');
    if as_json {
        print::json(&json!({"server": server, "nickname": nickname, "apiKey": key}))?;
        return Ok(ExitCode::Ok);
    }
    print::note(&format!(
        "Signed in as {nickname}. The key is shown only now; these lines hand it to programs:"
    ));
    let (server, mcp) = (quoted(server), quoted(&format!("{server}/duels/mcp")));
    print::data(&format!(
        "export ARENA_SERVER={server}\nexport ARENA_MCP_URL={mcp}\nexport ARENA_API_KEY={key}\n"
    ));
    Ok(ExitCode::Ok)
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// One word of a shell.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:[]".contains(&byte);
    if text.bytes().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

async fn told<T: for<'a> Deserialize<'a>>(
    http: &Http,
    base: &Url,
    path: &str,
    body: &Value,
) -> Result<T, Failure> {
    let url = base.join(path).map_err(|error| Failure::failed(format!("{path} is no address: {error}")))?;
    let answer = http.post_open(&url, body.to_string().into_bytes()).await?;
    if answer.status != 200 {
        return Err(answer.failure());
    }
    let body = answer.body.unwrap_or_default();
    serde_json::from_value(body).map_err(|_| another(&url))
}

fn another(url: &Url) -> Failure {
    Failure::new(ExitCode::Network, format!("{url} answered something else than an Arena server does"))
        .hint("check --server, and that both are of one version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_server_answers_is_a_command_of_the_shell() {
        for bad in ["", "a b", "$(id)", "a;id", "`id`", "a\nid", "a'b", "ä"] {
            assert!(!is_key(bad), "{bad}");
            let base = Url::parse("http://127.0.0.1:1").unwrap();
            assert!(show(&base, &json!({"nickname": "alpha", "apiKey": bad}), true).is_err());
        }
        assert!(is_key("arena_sk_A-z0_9"));
        assert_eq!(quoted("http://[::1]:7878/duels/mcp"), "http://[::1]:7878/duels/mcp");
        assert_eq!(quoted("http://a/$(id);x'y"), r"'http://a/$(id);x'\''y'");
    }
}
