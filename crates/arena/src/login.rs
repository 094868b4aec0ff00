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
    let label = format!("arena {}", env!("CARGO_PKG_VERSION"));
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

fn show(base: &Url, allowed: &Value, as_json: bool) -> Result<ExitCode, Failure> {
    let field = |name: &str| printable(allowed[name].as_str().unwrap_or_default());
    let (nickname, key) = (field("nickname"), field("apiKey"));
    let server = base.as_str().trim_end_matches('/');
    if as_json {
        print::json(&json!({"server": server, "nickname": nickname, "apiKey": key}))?;
        return Ok(ExitCode::Ok);
    }
    print::note(&format!(
        "Signed in as {nickname}. The key is shown only now; these lines hand it to programs:"
    ));
    print::data(&format!(
        "export ARENA_SERVER={server}\nexport ARENA_MCP_URL={server}/duels/mcp\nexport ARENA_API_KEY={key}\n"
    ));
    Ok(ExitCode::Ok)
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
    serde_json::from_value(body).map_err(|_| {
        Failure::new(ExitCode::Network, format!("{url} answered something else than an Arena server does"))
            .hint("check --server, and that both are of one version")
    })
}
