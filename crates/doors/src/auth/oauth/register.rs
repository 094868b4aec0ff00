//! `POST /oauth/register` (RFC 7591): public clients, a few an hour from one address.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Response, StatusCode};
use identity::oauth::clients::{self, Client};
use serde::Deserialize;
use serde_json::json;

use super::{OauthError, json_answer, only_post, preflight, refuse};
use crate::{
    auth::{Auth, forms::FORM_BYTES_MAX, limits, sign_in::attempt},
    body,
    web::seats::{Peer, counted},
};

const NAME: &str = "/oauth/register";
#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(default)]
    client_name: Option<String>,
    redirect_uris: Vec<String>,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    grant_types: Option<Vec<String>>,
    #[serde(default)]
    response_types: Option<Vec<String>>,
}

pub(in crate::auth) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if let Some(response) = preflight(request.method(), NAME) {
        return response;
    }
    match register(&auth, request).await {
        Ok((client, issued_at)) => {
            let body = json!({
                "client_id": client.id,
                "client_id_issued_at": issued_at,
                "client_name": client.name,
                "redirect_uris": client.redirect_uris,
                "token_endpoint_auth_method": "none",
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
            });
            json_answer(StatusCode::CREATED, body.to_string(), NAME)
        }
        Err(error) => refuse(&error, NAME),
    }
}

async fn register(auth: &Auth, request: Request) -> Result<(Client, i64), OauthError> {
    let peer = request.extensions().get::<Peer>().copied();
    let (parts, content) = request.into_parts();
    only_post(&parts.method)?;
    let invalid = |why: &str| OauthError::new("invalid_client_metadata", why);
    if !body::is_json(&parts.headers) {
        return Err(invalid("the body is not declared as JSON; send Content-Type: application/json"));
    }
    let text = body::read(content, FORM_BYTES_MAX).await?;
    if body::is_deeper_than(&text, 8) {
        return Err(invalid("the metadata nests too deep"));
    }
    let asked: Asked = serde_json::from_slice(&text)
        .map_err(|_| invalid("the metadata is not a JSON object with redirect_uris"))?;
    if asked.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
        return Err(invalid(
            "clients here are public; send token_endpoint_auth_method none, and prove the code by PKCE",
        ));
    }
    let only = |asked: &Option<Vec<String>>, known: &[&str]| {
        asked.as_ref().is_none_or(|asked| asked.iter().all(|asked| known.contains(&asked.as_str())))
    };
    if !only(&asked.grant_types, &["authorization_code", "refresh_token"])
        || !only(&asked.response_types, &["code"])
    {
        return Err(invalid("grant_types are authorization_code and refresh_token, response_types is code"));
    }
    let client = Client::draw(auth.house.ids.as_ref(), asked.client_name.as_deref(), &asked.redirect_uris)
        .map_err(|fault| {
            let error = if fault.message.contains("redirect_uri") {
                "invalid_redirect_uri"
            } else {
                "invalid_client_metadata"
            };
            OauthError::new(error, fault.message)
        })?;
    if let Some(address) = peer.and_then(|peer| counted(peer.0)) {
        attempt(auth, &format!("register|{address}"), limits::CLIENTS_OF_ADDRESS).await?;
    }
    attempt(auth, "register", limits::CLIENTS_OF_ALL).await?;
    let stored = client.clone();
    let insert = auth.change("identity.register_client", move |tx| {
        clients::insert(tx, &stored)?;
        Ok(tx.real_ms() / 1000)
    });
    let issued_at = insert.await?;
    Ok((client, issued_at))
}
