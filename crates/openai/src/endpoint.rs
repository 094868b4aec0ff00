//! One endpoint: a base address, a model, a key; a deadline, one repeat, a limit on the answer.

use std::{fmt, time::Duration};

use reqwest::{Client, StatusCode, header};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

/// From the first byte sent to the last received, of each of the two tries.
pub const TIME_MAX: Duration = Duration::from_secs(10);
/// The longest pause before the one repeat.
pub const RETRY_PAUSE_MAX: Duration = Duration::from_secs(2);
const RETRY_PAUSE: Duration = Duration::from_millis(250);
/// The largest answer.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Why there is no answer, for the operator. Neither key nor text is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    #[error("the endpoint could not be reached; check its address and that it runs")]
    Unreachable,
    #[error("the endpoint took longer than {} seconds", TIME_MAX.as_secs())]
    TooSlow,
    #[error("the endpoint answered with the status {0}; check the address, the key and the model")]
    Status(u16),
    #[error("the endpoint redirects; give the address that it leads to")]
    Redirect,
    #[error("the endpoint's answer has more than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the endpoint's answer is not one of this interface: {0}")]
    Unexpected(&'static str),
    #[error(
        "the endpoint's vectors have {found} components, not {expected}; set semantic.embed_dims to what the model has"
    )]
    Dimensions { expected: usize, found: usize },
}

pub struct Endpoint {
    base: Url,
    key: Option<String>,
    pub(crate) model: String,
    client: Client,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("host", &self.host())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

impl Endpoint {
    /// `base` is what stands before `/embeddings` and `/chat/completions`, for example
    /// `http://127.0.0.1:11434/v1`.
    pub fn new(base: Url, model: &str, key: Option<String>) -> Result<Self, EndpointError> {
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(TIME_MAX)
            .build()
            .map_err(|_| EndpointError::Unreachable)?;
        Ok(Self { base, key, model: model.to_owned(), client })
    }

    /// For names of models and for logs.
    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// The vector of a text, of length one.
    pub async fn embed(&self, text: &str, dims: usize) -> Result<Vec<f32>, EndpointError> {
        let body = json!({"model": self.model, "input": [text], "encoding_format": "float"});
        let answer: Embeddings = self.ask("embeddings", &body).await?;
        let [Embedding { embedding }] = <[_; 1]>::try_from(answer.data)
            .map_err(|_| EndpointError::Unexpected("it has not exactly one vector"))?;
        if embedding.len() != dims {
            return Err(EndpointError::Dimensions { expected: dims, found: embedding.len() });
        }
        let length = embedding.iter().map(|c| f64::from(*c) * f64::from(*c)).sum::<f64>().sqrt();
        if !length.is_finite() || length <= 0.0 {
            return Err(EndpointError::Unexpected("its vector has no direction"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "components of a vector of length one")]
        let unit = embedding.iter().map(|c| (f64::from(*c) / length) as f32).collect();
        Ok(unit)
    }

    /// What the model says to `user` under the rules of `system`, as it says it.
    pub async fn complete(&self, system: &str, user: &str) -> Result<String, EndpointError> {
        let body = json!({
            "model": self.model,
            "temperature": 0,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        });
        let answer: Completion = self.ask("chat/completions", &body).await?;
        let first = answer.choices.into_iter().next().and_then(|choice| choice.message.content);
        first.filter(|text| !text.trim().is_empty()).ok_or(EndpointError::Unexpected("it says nothing"))
    }

    async fn ask<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, EndpointError> {
        let bytes = match self.once(path, body).await {
            Ok(bytes) => bytes,
            Err(Failed { again: Some(pause), .. }) => {
                tokio::time::sleep(pause).await;
                self.once(path, body).await.map_err(|failed| failed.error)?
            }
            Err(failed) => return Err(failed.error),
        };
        serde_json::from_slice(&bytes)
            .map_err(|_| EndpointError::Unexpected("it cannot be read as JSON of the kind"))
    }

    async fn once(&self, path: &str, body: &Value) -> Result<Vec<u8>, Failed> {
        let url = format!("{}/{path}", self.base.as_str().trim_end_matches('/'));
        let mut request =
            self.client.post(url).header(header::CONTENT_TYPE, "application/json").body(body.to_string());
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let mut response = request.send().await.map_err(|error| Failed::of(&error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(Failed { error: EndpointError::Redirect, again: None });
        }
        if !status.is_success() {
            let passes = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            let asked = response
                .headers()
                .get(header::RETRY_AFTER)
                .and_then(|value| value.to_str().ok()?.parse().ok());
            let pause = asked.map_or(RETRY_PAUSE, Duration::from_secs);
            // An endpoint that wants a longer pause is asked again by the job, not here.
            let again = (passes && pause <= RETRY_PAUSE_MAX).then_some(pause);
            return Err(Failed { error: EndpointError::Status(status.as_u16()), again });
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| Failed::of(&error))? {
            if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(Failed { error: EndpointError::TooLarge, again: None });
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// A try that failed, and after which pause another may succeed.
struct Failed {
    error: EndpointError,
    again: Option<Duration>,
}

impl Failed {
    fn of(error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            // Twice the deadline would be longer than anybody waits.
            Self { error: EndpointError::TooSlow, again: None }
        } else {
            Self { error: EndpointError::Unreachable, again: Some(RETRY_PAUSE) }
        }
    }
}
