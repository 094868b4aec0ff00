//! `POST /oauth/token`: tokens for a code, and new ones for a refresh token.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{HeaderMap, Response, StatusCode, header};
use identity::oauth::{
    clients,
    grants::{self, NotGranted, Redeeming},
    tokens::{self, Issued, NewTokens, Refreshing},
};
use serde_json::json;

use super::{OauthError, clients::is_document, json_answer, only_post, preflight, refuse};
use crate::{
    address::as_ours,
    auth::{
        Auth,
        forms::{self, Fields},
    },
};

const NAME: &str = "/oauth/token";

pub(in crate::auth) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if let Some(response) = preflight(request.method(), NAME) {
        return response;
    }
    match exchange(&auth, request).await {
        Ok(Issued { access, refresh, scope, expires_in_seconds }) => {
            let body = json!({
                "access_token": access,
                "token_type": "Bearer",
                "expires_in": expires_in_seconds,
                "refresh_token": refresh,
                "scope": scope,
            });
            json_answer(StatusCode::OK, body.to_string(), NAME)
        }
        Err(error) => refuse(&error, NAME),
    }
}

async fn exchange(auth: &Auth, request: Request) -> Result<Issued, OauthError> {
    let (parts, content) = request.into_parts();
    only_post(&parts.method)?;
    let fields = forms::read(content, &parts.headers).await?;
    match fields.get("grant_type") {
        Some("authorization_code") => {
            let client = client(auth, &parts.headers, &fields).await?;
            redeem(auth, client, &fields).await
        }
        Some("refresh_token") => {
            let client = client(auth, &parts.headers, &fields).await?;
            renew(auth, client, &fields).await
        }
        Some(_) => Err(OauthError::new(
            "unsupported_grant_type",
            "grant_type is authorization_code or refresh_token",
        )),
        None => Err(OauthError::new("invalid_request", "grant_type is missing")),
    }
}

/// The client that asks. One that is not known gets 401 `invalid_client`: so clients learn to register anew.
pub(super) async fn client(auth: &Auth, headers: &HeaderMap, fields: &Fields) -> Result<String, OauthError> {
    let unknown = |why: &str| OauthError::new("invalid_client", why);
    if headers.contains_key(header::AUTHORIZATION) || fields.get("client_secret").is_some() {
        return Err(unknown("clients here are public; send client_id in the form and no secret"));
    }
    let Some(id) = fields.owned("client_id") else {
        return Err(unknown("client_id is missing; send it in the form"));
    };
    // A document was read when the code was asked for; the code is bound to its address.
    if is_document(&id) {
        return Ok(id);
    }
    let looked = id.clone();
    match auth.house.store.read(move |tx| clients::get(tx, &looked)).await? {
        Some(_) => Ok(id),
        None => Err(unknown("this client is not registered here; register it again")),
    }
}

fn needed(fields: &Fields, name: &'static str) -> Result<String, OauthError> {
    fields.owned(name).ok_or_else(|| OauthError::new("invalid_request", format!("{name} is missing")))
}

/// One resource, written as we write it.
fn resource(auth: &Auth, fields: &Fields) -> Option<String> {
    fields.get("resource").map(|named| as_ours(&auth.house.public_url, named))
}

async fn redeem(auth: &Auth, client: String, fields: &Fields) -> Result<Issued, OauthError> {
    let redeeming = Redeeming {
        code: needed(fields, "code")?,
        client,
        redirect_uri: fields.owned("redirect_uri"),
        verifier: needed(fields, "code_verifier")?,
        resource: resource(auth, fields),
    };
    let new = NewTokens::draw(auth.house.ids.as_ref());
    let redeem = auth.change("identity.redeem_code", move |tx| {
        let grant = match grants::redeem(tx, &redeeming)? {
            Ok(grant) => grant,
            // What was revoked on the way stays revoked.
            Err(refused) => return Ok(Err(refused)),
        };
        tokens::issue(tx, &grant, &new).map(Ok)
    });
    answered(redeem.await?)
}

async fn renew(auth: &Auth, client: String, fields: &Fields) -> Result<Issued, OauthError> {
    let refreshing = Refreshing {
        token: needed(fields, "refresh_token")?,
        client,
        resource: resource(auth, fields),
        scope: fields.owned("scope"),
    };
    let new = NewTokens::draw(auth.house.ids.as_ref());
    let renew = auth.change("identity.refresh", move |tx| tokens::refresh(tx, &refreshing, &new));
    answered(renew.await?)
}

fn answered(granted: Result<Issued, NotGranted>) -> Result<Issued, OauthError> {
    granted.map_err(|refused| match refused {
        NotGranted::Invalid(why) => OauthError::new("invalid_grant", why),
        NotGranted::Target => OauthError::new("invalid_target", "resource is not the one that was granted"),
    })
}
