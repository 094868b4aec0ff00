//! An issuer on loopback that answers each path as it is told to and notes what it was asked.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Bytes, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use kernel::Moment;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};
use upstream::{FlowSecrets, Profile, Provider, Secret, Upstream, UpstreamError};

use crate::keys::Key;

pub(crate) const CALLBACK: &str = "https://arena.example/oauth/callback/oidc:house";
pub(crate) const CLIENT_SECRET: &str = "s3cret-of-arena";
pub(crate) const ACCESS_TOKEN: &str = "access-token-of-ada";
pub(crate) const NOW: Moment = Moment::from_millis(1_800_000_000_000);
pub(crate) const NOW_SECONDS: i64 = NOW.as_millis() / 1000;

pub(crate) const DISCOVERY: &str = "/.well-known/openid-configuration";
pub(crate) const KEYS: &str = "/jwks";
pub(crate) const TOKEN: &str = "/token";

#[derive(Clone)]
pub(crate) enum Answer {
    Told { status: u16, headers: Vec<(&'static str, String)>, body: String },
    Never,
}

impl Answer {
    pub(crate) fn json(value: &Value) -> Self {
        Self::status(200, value)
    }

    pub(crate) fn status(status: u16, value: &Value) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self::Told { status, headers, body: value.to_string() }
    }

    pub(crate) fn html() -> Self {
        let headers = vec![("content-type", "text/html".to_owned())];
        Self::Told { status: 200, headers, body: "<!doctype html><p>maintenance".to_owned() }
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::Told { status: 302, headers: vec![("location", to.to_owned())], body: String::new() }
    }

    /// One byte more than an answer may have, but for the white space correct.
    pub(crate) fn huge(value: &Value) -> Self {
        let Self::Told { status, headers, mut body } = Self::json(value) else { unreachable!() };
        body.push_str(&" ".repeat(upstream::ANSWER_BYTES_MAX + 1 - body.len()));
        Self::Told { status, headers, body }
    }
}

pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        let mut fields = url::form_urlencoded::parse(self.body.as_bytes());
        fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }
}

#[derive(Default)]
struct State {
    answers: Mutex<HashMap<&'static str, Answer>>,
    asked: Mutex<Vec<Asked>>,
}

pub(crate) struct Issuer {
    pub(crate) base: String,
    state: Arc<State>,
    serving: JoinHandle<()>,
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Issuer {
    /// One that says nothing yet.
    pub(crate) async fn silent() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                let service = service_fn(move |request| answer(Arc::clone(&state), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { base, state, serving }
    }

    /// One that is as it should be, with the first key.
    pub(crate) async fn honest() -> Self {
        let issuer = Self::silent().await;
        issuer.answers(DISCOVERY, Answer::json(&issuer.document()));
        issuer.answers(KEYS, Answer::json(&json!({"keys": [Key::new(1).public()]})));
        issuer
    }

    pub(crate) fn answers(&self, path: &'static str, answer: Answer) {
        self.state.answers.lock().unwrap().insert(path, answer);
    }

    /// Answers every exchange with this proof.
    pub(crate) fn proves(&self, id_token: &str) {
        self.answers(TOKEN, Answer::json(&exchanged(id_token)));
    }

    pub(crate) fn document(&self) -> Value {
        let base = &self.base;
        json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/auth"),
            "token_endpoint": format!("{base}/token"),
            "jwks_uri": format!("{base}/jwks"),
            // An issuer may say that it would like these.
            "id_token_signing_alg_values_supported": ["ES256", "HS256", "none"],
        })
    }

    pub(crate) fn claims(&self) -> Value {
        json!({
            "iss": self.base, "sub": "ada-1", "aud": "arena", "nonce": secrets().nonce,
            "iat": NOW_SECONDS, "exp": NOW_SECONDS + 300,
            "email": "ada@example.test", "email_verified": true, "name": "Ada",
        })
    }

    pub(crate) fn asked(&self, path: &str) -> usize {
        self.state.asked.lock().unwrap().iter().filter(|asked| asked.path == path).count()
    }

    /// The last question at a path, taken out.
    pub(crate) fn take(&self, path: &str) -> Asked {
        let mut asked = self.state.asked.lock().unwrap();
        let at = asked.iter().rposition(|asked| asked.path == path).unwrap();
        asked.remove(at)
    }

    pub(crate) fn upstream(&self) -> Upstream {
        let provider = Provider::Oidc {
            name: "house".to_owned(),
            issuer: self.base.clone(),
            client_id: "arena".to_owned(),
            client_secret: Secret::new(CLIENT_SECRET),
        };
        Upstream::new(provider, CALLBACK).unwrap()
    }

    /// A whole return to a client that has not asked anything yet.
    pub(crate) async fn finish(&self) -> Result<Profile, UpstreamError> {
        self.upstream().finish("code-1", None, &secrets(), NOW).await
    }
}

pub(crate) fn exchanged(id_token: &str) -> Value {
    json!({"access_token": ACCESS_TOKEN, "token_type": "Bearer", "expires_in": 60, "id_token": id_token})
}

pub(crate) fn secrets() -> FlowSecrets {
    FlowSecrets { state: "s".repeat(43), nonce: "n".repeat(43), verifier: "v".repeat(43) }
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let authorization = request.headers().get("authorization");
    let authorization = authorization.map(|value| value.to_str().unwrap().to_owned());
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let told = state.answers.lock().unwrap().get(path.as_str()).cloned();
    state.asked.lock().unwrap().push(Asked { path, authorization, body });
    let told = told.unwrap_or_else(|| Answer::status(404, &json!({"message": "Not Found"})));
    let Answer::Told { status, headers, body } = told else { std::future::pending().await };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status.try_into().unwrap();
    for (name, value) in headers {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    Ok(response)
}
