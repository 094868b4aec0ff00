//! Signing in at an `OpenID` Connect issuer: the address, the exchange, and every check of the proof that comes of it.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kernel::Moment;
use openidconnect::{
    AuthType, AuthUrl, AuthorizationCode, ClaimsVerificationError, ClientId, CsrfToken, IdTokenVerifier,
    IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope,
    SignatureVerificationError, StandardErrorResponse, TokenResponse, TokenUrl,
    core::{
        CoreAuthenticationFlow, CoreClient, CoreErrorResponseType, CoreIdToken, CoreIdTokenClaims,
        CoreJsonWebKeySet,
    },
};
use serde::Deserialize;
use url::Url;

use crate::{
    apple::Signatory,
    discovery::{Discovery, Issuer},
    error::{Part, UpstreamError},
    flow::{FlowSecrets, Profile, shown},
    http::{Asking, Http},
    provider::Secret,
};

/// How far the clock of an issuer may be from ours.
pub const SKEW_MS_MAX: i64 = 60_000;
/// `OpenID` Connect Core 1.0, section 2.
const SUBJECT_CHARS_MAX: usize = 255;
pub(crate) const EMAIL_CHARS_MAX: usize = 320;
pub(crate) const NAME_CHARS_MAX: usize = 200;

/// What proves to the issuer who we are.
pub(crate) enum ClientSecret {
    Lasting(Secret),
    /// Apple's way.
    Signed(Signatory),
}

pub(crate) struct Oidc {
    issuer: Issuer,
    client_id: String,
    secret: ClientSecret,
    http: Http,
}

impl Oidc {
    pub(crate) fn new(issuer: String, client_id: String, secret: ClientSecret, http: Http) -> Self {
        Self { issuer: Issuer::new(issuer, http.clone()), client_id, secret, http }
    }

    pub(crate) async fn start(
        &self,
        callback: &str,
        secrets: &FlowSecrets,
        now: Moment,
    ) -> Result<Url, UpstreamError> {
        let discovery = self.issuer.discovery(now).await?;
        let client = self
            .client(callback)?
            .set_auth_uri(AuthUrl::new(discovery.authorize.clone()).map_err(|_| INDESCRIBABLE)?);
        let verifier = PkceCodeVerifier::new(secrets.verifier.clone());
        let (state, nonce) = (CsrfToken::new(secrets.state.clone()), Nonce::new(secrets.nonce.clone()));
        let request = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, move || state, move || nonce)
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .add_scope(Scope::new("email".to_owned()));
        let request = match self.secret {
            ClientSecret::Lasting(_) => request.add_scope(Scope::new("profile".to_owned())),
            // Apple knows no `profile`, and posts its answer as soon as a scope is asked for.
            ClientSecret::Signed(_) => request.add_extra_param("response_mode", "form_post"),
        };
        Ok(request.url().0)
    }

    pub(crate) async fn finish(
        &self,
        callback: &str,
        code: &str,
        iss: Option<&str>,
        secrets: &FlowSecrets,
        now: Moment,
    ) -> Result<Profile, UpstreamError> {
        let discovery = self.issuer.discovery(now).await?;
        // An answer of another issuer would have us send its code, or ours, to the wrong one.
        if iss.map_or(discovery.names_itself, |iss| iss != self.issuer.name) {
            return Err(UpstreamError::ForeignAnswer);
        }
        // Before the exchange: a proof that cannot be checked is not asked for.
        let keys = self.issuer.keys(now, &discovery).await?;
        let token = self.exchange(callback, code, secrets, &discovery, now).await?;
        let nonce = Nonce::new(secrets.nonce.clone());
        let claims = match self.verified(&token, &keys, &discovery, &nonce, now)? {
            Ok(claims) => claims,
            Err(refusal) if may_be_rotated(&refusal) => {
                match self.issuer.newer_keys(now, &discovery, &keys).await? {
                    Some(newer) => {
                        self.verified(&token, &newer, &discovery, &nonce, now)?.map_err(|r| refused(&r))?
                    }
                    None => return Err(refused(&refusal)),
                }
            }
            Err(refusal) => return Err(refused(&refusal)),
        };
        self.person(claims, now)
    }

    fn client(&self, callback: &str) -> Result<CoreClient, UpstreamError> {
        let issuer = IssuerUrl::new(self.issuer.name.clone()).map_err(|_| INDESCRIBABLE)?;
        let callback = RedirectUrl::new(callback.to_owned()).map_err(|_| UpstreamError::UnknownCallback)?;
        // Its own keys and its own clock are not used: proofs are verified below.
        let client = CoreClient::new(self.id(), issuer, CoreJsonWebKeySet::default());
        Ok(client.set_redirect_uri(callback))
    }

    fn id(&self) -> ClientId {
        ClientId::new(self.client_id.clone())
    }

    /// The proof for a code. What else the issuer hands out is dropped here.
    async fn exchange(
        &self,
        callback: &str,
        code: &str,
        secrets: &FlowSecrets,
        discovery: &Discovery,
        now: Moment,
    ) -> Result<CoreIdToken, UpstreamError> {
        let (secret, in_form) = match &self.secret {
            ClientSecret::Lasting(secret) => (secret.reveal().to_owned(), discovery.secret_in_form),
            ClientSecret::Signed(signatory) => {
                (signatory.secret(&self.client_id, &self.issuer.name, now), true)
            }
        };
        let client = self
            .client(callback)?
            .set_client_secret(openidconnect::ClientSecret::new(secret))
            .set_auth_type(if in_form { AuthType::RequestBody } else { AuthType::BasicAuth })
            .set_token_uri(TokenUrl::new(discovery.token.clone()).map_err(|_| INDESCRIBABLE)?);
        let answer = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .set_pkce_verifier(PkceCodeVerifier::new(secrets.verifier.clone()))
            .request_async(&Asking { http: &self.http, part: Part::Token })
            .await
            .map_err(unexchanged)?;
        answer.id_token().cloned().ok_or(UpstreamError::Nonsense(Part::Token))
    }

    /// What a proof says, after the checks of section 3.1.3.7 that the library makes: issuer, audience, signature,
    /// end and nonce. The inner error is the library's, because one of its kinds asks for newer keys.
    fn verified<'a>(
        &self,
        token: &'a CoreIdToken,
        keys: &Arc<CoreJsonWebKeySet>,
        discovery: &Discovery,
        nonce: &Nonce,
        now: Moment,
    ) -> Result<Result<&'a CoreIdTokenClaims, ClaimsVerificationError>, UpstreamError> {
        let issuer = IssuerUrl::new(self.issuer.name.clone()).map_err(|_| INDESCRIBABLE)?;
        let late = instant(now.plus_ms(-SKEW_MS_MAX))?;
        // As a public client even though we have a secret: no secret is a key here.
        let verifier = IdTokenVerifier::new_public_client(self.id(), issuer, CoreJsonWebKeySet::clone(keys))
            .set_allowed_algs(discovery.algorithms.iter().cloned())
            .set_time_fn(move || late);
        Ok(token.claims(&verifier, nonce))
    }

    /// The checks that are left, and what is taken over of a person.
    fn person(&self, claims: &CoreIdTokenClaims, now: Moment) -> Result<Profile, UpstreamError> {
        if claims.authorized_party().is_some_and(|party| party.as_str() != self.client_id) {
            return Err(UpstreamError::WrongParty);
        }
        if claims.issue_time() > instant(now.plus_ms(SKEW_MS_MAX))? {
            return Err(UpstreamError::ClockSkew);
        }
        let subject = claims.subject().as_str();
        if subject.is_empty() || subject.chars().count() > SUBJECT_CHARS_MAX {
            return Err(UpstreamError::Nonsense(Part::Token));
        }
        let email = claims.email().and_then(|email| shown(email, EMAIL_CHARS_MAX));
        let name = claims.name().and_then(|names| names.get(None));
        Ok(Profile {
            provider: String::new(),
            subject: subject.to_owned(),
            login: None,
            email_verified: email.is_some() && claims.email_verified() == Some(true),
            email,
            display_name: name.and_then(|name| shown(name, NAME_CHARS_MAX)),
        })
    }
}

const INDESCRIBABLE: UpstreamError = UpstreamError::Nonsense(Part::Discovery);

fn instant(moment: Moment) -> Result<DateTime<Utc>, UpstreamError> {
    DateTime::from_timestamp_millis(moment.as_millis()).ok_or(UpstreamError::ClockSkew)
}

/// An issuer that changed its keys may have kept the name of one.
fn may_be_rotated(refusal: &ClaimsVerificationError) -> bool {
    matches!(
        refusal,
        ClaimsVerificationError::SignatureVerification(
            SignatureVerificationError::NoMatchingKey | SignatureVerificationError::CryptoError(_)
        )
    )
}

fn refused(refusal: &ClaimsVerificationError) -> UpstreamError {
    match refusal {
        ClaimsVerificationError::Expired(_) => UpstreamError::Expired,
        ClaimsVerificationError::InvalidAudience(_) => UpstreamError::WrongAudience,
        ClaimsVerificationError::InvalidIssuer(_) => UpstreamError::WrongIssuer,
        ClaimsVerificationError::InvalidNonce(_) => UpstreamError::WrongNonce,
        ClaimsVerificationError::SignatureVerification(signature) => match signature {
            SignatureVerificationError::NoMatchingKey | SignatureVerificationError::AmbiguousKeyId(_) => {
                UpstreamError::UnknownKey
            }
            SignatureVerificationError::DisallowedAlg(_)
            | SignatureVerificationError::NoSignature
            | SignatureVerificationError::UnsupportedAlg(_) => UpstreamError::ForbiddenAlgorithm,
            _ => UpstreamError::BadSignature,
        },
        _ => UpstreamError::Nonsense(Part::Token),
    }
}

/// The error of an exchange. The library's own has the answer in it, and with that perhaps a token.
fn unexchanged(
    error: RequestTokenError<UpstreamError, StandardErrorResponse<CoreErrorResponseType>>,
) -> UpstreamError {
    #[derive(Deserialize)]
    struct Answer {
        error: String,
    }
    match error {
        RequestTokenError::Request(error) => error,
        RequestTokenError::ServerResponse(answer) => UpstreamError::of_code(answer.error().as_ref()),
        // An error with the status 200.
        RequestTokenError::Parse(_, body) => serde_json::from_slice(&body)
            .map_or(UpstreamError::Nonsense(Part::Token), |Answer { error }| UpstreamError::of_code(&error)),
        RequestTokenError::Other(_) => UpstreamError::Nonsense(Part::Token),
    }
}
