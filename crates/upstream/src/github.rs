//! Signing in at GitHub, which speaks OAuth without a proof of identity: the token is used once, to ask who it is.

use http::{HeaderValue, Request, header};
use openidconnect::{PkceCodeChallenge, PkceCodeVerifier};
use serde::Deserialize;
use url::{Url, form_urlencoded};

use crate::{
    error::{Part, UpstreamError},
    flow::{FlowSecrets, Profile, shown},
    http::{Http, whole},
    oidc::{EMAIL_CHARS_MAX, NAME_CHARS_MAX},
    provider::{Secret, SetupError, under},
};

const SCOPE: &str = "read:user";

pub(crate) struct Github {
    client_id: String,
    client_secret: Secret,
    authorize: Url,
    token: String,
    user: String,
    http: Http,
}

/// Errors have the status 200 here, so both are read from every answer.
#[derive(Deserialize)]
struct Exchanged {
    #[serde(default)]
    access_token: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct User {
    id: u64,
    login: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    email: Option<String>,
}

impl Github {
    pub(crate) fn new(
        client_id: String,
        client_secret: Secret,
        base: &str,
        api: &str,
        http: Http,
    ) -> Result<Self, SetupError> {
        let authorize = Url::parse(&under(base, "login/oauth/authorize")).map_err(|_| SetupError::Address)?;
        let (token, user) = (under(base, "login/oauth/access_token"), under(api, "user"));
        Ok(Self { client_id, client_secret, authorize, token, user, http })
    }

    pub(crate) fn start(&self, callback: &str, secrets: &FlowSecrets) -> Url {
        let verifier = PkceCodeVerifier::new(secrets.verifier.clone());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        let mut url = self.authorize.clone();
        url.query_pairs_mut()
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", callback)
            .append_pair("scope", SCOPE)
            .append_pair("state", &secrets.state)
            .append_pair("code_challenge", challenge.as_str())
            .append_pair("code_challenge_method", "S256");
        url
    }

    pub(crate) async fn finish(
        &self,
        callback: &str,
        code: &str,
        secrets: &FlowSecrets,
    ) -> Result<Profile, UpstreamError> {
        let token = self.exchange(callback, code, secrets).await?;
        let user = self.user(&token).await?;
        Ok(Profile {
            provider: String::new(),
            subject: user.id.to_string(),
            login: shown(&user.login, NAME_CHARS_MAX),
            email: user.email.as_deref().and_then(|email| shown(email, EMAIL_CHARS_MAX)),
            email_verified: false,
            display_name: user.name.as_deref().and_then(|name| shown(name, NAME_CHARS_MAX)),
        })
    }

    async fn exchange(
        &self,
        callback: &str,
        code: &str,
        secrets: &FlowSecrets,
    ) -> Result<HeaderValue, UpstreamError> {
        const NONSENSE: UpstreamError = UpstreamError::Nonsense(Part::Token);
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &self.client_id)
            .append_pair("client_secret", self.client_secret.reveal())
            .append_pair("code", code)
            .append_pair("redirect_uri", callback)
            .append_pair("code_verifier", &secrets.verifier)
            .finish();
        let request = Request::post(&self.token)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.into_bytes())
            .map_err(|_| NONSENSE)?;
        let body = whole(Part::Token, self.http.send(Part::Token, request).await?)?;
        let exchanged: Exchanged = serde_json::from_slice(&body).map_err(|_| NONSENSE)?;
        if let Some(error) = exchanged.error {
            return Err(UpstreamError::of_code(&error));
        }
        let token = exchanged.access_token.filter(|token| !token.is_empty()).ok_or(NONSENSE)?;
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| NONSENSE)?;
        value.set_sensitive(true);
        Ok(value)
    }

    async fn user(&self, token: &HeaderValue) -> Result<User, UpstreamError> {
        const NONSENSE: UpstreamError = UpstreamError::Nonsense(Part::Person);
        let request = Request::get(&self.user)
            .header(header::ACCEPT, "application/vnd.github+json")
            .header(header::AUTHORIZATION, token)
            .body(Vec::new())
            .map_err(|_| NONSENSE)?;
        let body = whole(Part::Person, self.http.send(Part::Person, request).await?)?;
        serde_json::from_slice(&body).map_err(|_| NONSENSE)
    }
}
