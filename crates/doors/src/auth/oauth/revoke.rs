//! `POST /oauth/revoke` (RFC 7009): answers 200 whether or not there was such a token.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Response, StatusCode};
use identity::oauth::tokens;

use super::{OauthError, json_answer, only_post, preflight, refuse};
use crate::auth::{Auth, forms};

const NAME: &str = "/oauth/revoke";

pub(in crate::auth) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if let Some(response) = preflight(request.method(), NAME) {
        return response;
    }
    match revoke(&auth, request).await {
        Ok(()) => json_answer(StatusCode::OK, "{}".to_owned(), NAME),
        Err(error) => refuse(&error, NAME),
    }
}

async fn revoke(auth: &Auth, request: Request) -> Result<(), OauthError> {
    let (parts, content) = request.into_parts();
    only_post(&parts.method)?;
    let fields = forms::read(content, &parts.headers).await?;
    let Some(token) = fields.owned("token") else {
        return Err(OauthError::new("invalid_request", "token is missing"));
    };
    let client = fields.owned("client_id");
    let revoke =
        auth.change("identity.revoke_token", move |tx| tokens::revoke(tx, &token, client.as_deref()));
    revoke.await?;
    Ok(())
}
