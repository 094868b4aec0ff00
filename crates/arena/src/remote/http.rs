//! One HTTP client for all client commands. Answers are bounded, redirects are not followed.

use std::time::Duration;

use serde_json::Value;

use crate::{exit::ExitCode, failure::Failure, output::escape::printable};

/// The server of a command that names none.
pub(crate) const SERVER_DEFAULT: &str = "http://127.0.0.1:7878";

const CONNECT_TIME: Duration = Duration::from_secs(5);
const REQUEST_TIME: Duration = Duration::from_secs(30);
/// More than this is no answer of an Arena server.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How much of a foreign message is shown.
const SHOWN_CHARS_MAX: usize = 300;

/// An answer, read whole.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// `None` when the body is not JSON.
    pub(crate) body: Option<Value>,
}

impl Answer {
    /// The message of an Arena error body, made safe to print.
    pub(crate) fn message(&self) -> Option<String> {
        let text = self.body.as_ref()?.get("error")?.get("message")?.as_str()?;
        Some(printable(&text.chars().take(SHOWN_CHARS_MAX).collect::<String>()))
    }

    /// The failure that a status other than success means.
    pub(crate) fn failure(&self) -> Failure {
        let message = self.message().unwrap_or_else(|| format!("the server answered status {}", self.status));
        Failure::new(ExitCode::of_status(self.status), message)
    }
}

/// A client for any number of requests.
#[derive(Debug, Clone)]
pub(crate) struct Http(reqwest::Client);

impl Http {
    pub(crate) fn new() -> Result<Self, Failure> {
        let built = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIME)
            .timeout(REQUEST_TIME)
            .redirect(reqwest::redirect::Policy::none())
            // A proxy of the environment would see keys, and loopback servers are the usual case.
            .no_proxy()
            .user_agent(concat!("arena-cli/", env!("CARGO_PKG_VERSION")))
            .build();
        built.map(Self).map_err(|error| Failure::failed(format!("cannot set up HTTP: {error}")))
    }

    pub(crate) async fn get(&self, url: &url::Url) -> Result<Answer, Failure> {
        let request = self.0.get(url.clone()).header("accept", "application/json");
        self.send(url, request).await
    }

    /// Sends JSON with a key.
    pub(crate) async fn post(
        &self,
        url: &url::Url,
        key: &str,
        body: Vec<u8>,
        idempotency_key: Option<&str>,
    ) -> Result<Answer, Failure> {
        let mut request = self
            .0
            .post(url.clone())
            .bearer_auth(key)
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(body);
        if let Some(text) = idempotency_key {
            request = request.header("idempotency-key", text);
        }
        self.send(url, request).await
    }

    /// Sends JSON without a key.
    pub(crate) async fn post_open(&self, url: &url::Url, body: Vec<u8>) -> Result<Answer, Failure> {
        let request = self
            .0
            .post(url.clone())
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(body);
        self.send(url, request).await
    }

    async fn send(&self, url: &url::Url, request: reqwest::RequestBuilder) -> Result<Answer, Failure> {
        let mut response = request.send().await.map_err(|error| no_answer(url, &error))?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| no_answer(url, &error))? {
            if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(Failure::new(
                    ExitCode::Network,
                    format!("the answer of {url} is over {ANSWER_BYTES_MAX} bytes"),
                )
                .hint("check that the address is an Arena server's"));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Answer { status, body: serde_json::from_slice(&bytes).ok() })
    }
}

fn no_answer(url: &url::Url, error: &reqwest::Error) -> Failure {
    let what = if error.is_timeout() {
        "did not answer in time"
    } else if error.is_connect() {
        "cannot be reached"
    } else {
        "broke off its answer"
    };
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
    Failure::new(ExitCode::Network, format!("{host}{port} {what}"))
        .hint("check the address, and that the server is running (`arena serve`)")
}
