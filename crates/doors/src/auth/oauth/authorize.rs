//! `GET /oauth/authorize`: checks what a client asks, keeps it, and leads to our own consent page. Until the
//! client and its address are known to belong together, nothing is sent anywhere: the person reads the error.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Method, Response, request::Parts};
use identity::{
    keys::SCOPES,
    oauth::{
        clients::{self as registered, Client},
        requests::{self, AuthRequest},
    },
    secret,
};
use kernel::{Fault, Kind};
use url::Url;

use super::{clients, metadata};
use crate::{
    address::as_ours,
    auth::{
        Auth,
        forms::Fields,
        page::{self, go, told},
    },
};

const NAME: &str = "/oauth/authorize";
/// Long enough for every client, short enough for a row.
const STATE_CHARS_MAX: usize = 2_000;
/// An S256 challenge is the base64url of 32 bytes.
const CHALLENGE_CHARS: usize = 43;
/// Asked for by clients that want a refresh token, which everybody gets here.
const OFFLINE: &str = "offline_access";

/// A refusal that the client is told of.
struct Refusal {
    error: &'static str,
    description: &'static str,
}

pub(in crate::auth) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    let (parts, _) = request.into_parts();
    match ask(&auth, &parts).await {
        Ok(to) => go(&to, told(NAME)),
        Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
    }
}

async fn ask(auth: &Auth, parts: &Parts) -> Result<String, Fault> {
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return Err(Fault::of(
            Kind::MethodNotAllowed,
            "this address takes GET; go back to the program and begin anew",
        ));
    }
    let fields = Fields::of_query(parts)?;
    let id = fields
        .get("client_id")
        .ok_or_else(|| Fault::invalid("client_id is missing; begin anew in the program"))?;
    let client = clients::find(auth, id).await?;
    let redirect_uri = redirect_uri(&client, fields.get("redirect_uri"))?;
    let state = fields.owned("state");
    match checked(auth, &client, &redirect_uri, &fields) {
        Ok(request) => keep(auth, &client, request).await,
        // Too long to be sent back, as much as to be kept.
        Err(Refusal { error, description }) => {
            let state = state.filter(|state| state.chars().count() <= STATE_CHARS_MAX);
            let told = [
                ("error", Some(error)),
                ("error_description", Some(description)),
                ("state", state.as_deref()),
            ];
            back(&redirect_uri, &told, &auth.house.public_url)
        }
    }
}

fn redirect_uri(client: &Client, asked: Option<&str>) -> Result<String, Fault> {
    match (asked, client.redirect_uris.as_slice()) {
        (Some(asked), _) if client.allows(asked) => Ok(asked.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (Some(_), _) => Err(Fault::invalid(
            "redirect_uri is not one that this client registered; nothing was sent to it. Begin anew in the program, or register it again there",
        )),
        (None, _) => Err(Fault::invalid(
            "redirect_uri is missing, and this client has several; begin anew in the program",
        )),
    }
}

fn checked(
    auth: &Auth,
    client: &Client,
    redirect_uri: &str,
    fields: &Fields,
) -> Result<AuthRequest, Refusal> {
    let refuse = |error, description| Err(Refusal { error, description });
    match fields.get("response_type") {
        Some("code") => {}
        Some(_) => return refuse("unsupported_response_type", "response_type is code"),
        None => return refuse("invalid_request", "response_type is missing; send code"),
    }
    if fields.get("request").is_some() || fields.get("request_uri").is_some() {
        return refuse(
            "request_not_supported",
            "request objects are not read; send the parameters themselves",
        );
    }
    if fields.get("response_mode").is_some_and(|mode| mode != "query") {
        return refuse("invalid_request", "response_mode is query");
    }
    let state = fields.get("state");
    if state.is_some_and(|state| state.chars().count() > STATE_CHARS_MAX) {
        return refuse("invalid_request", "state is longer than 2000 characters");
    }
    let Some(challenge) = fields.get("code_challenge") else {
        return refuse("invalid_request", "code_challenge is missing; PKCE is required");
    };
    if fields.get("code_challenge_method") != Some("S256") {
        return refuse("invalid_request", "code_challenge_method is S256");
    }
    if challenge.len() != CHALLENGE_CHARS
        || !challenge.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    {
        return refuse("invalid_request", "code_challenge is not the base64url of a SHA-256");
    }
    let Some(resource) = resource(auth, fields.get("resource")) else {
        return refuse("invalid_target", "resource is not an MCP address of this server");
    };
    let Some(scope) = scope(fields.get("scope")) else {
        return refuse("invalid_scope", "none of the scopes exists; see scopes_supported");
    };
    if fields.get("prompt") == Some("none") {
        return refuse("interaction_required", "a person has to allow this");
    }
    Ok(AuthRequest {
        client: client.id.clone(),
        client_name: client.name.clone(),
        redirect_uri: redirect_uri.to_owned(),
        state: state.map(str::to_owned),
        challenge: challenge.to_owned(),
        resource,
        scope,
    })
}

/// The resource that is asked for, as we write it; the root one for clients from before there were resources.
fn resource(auth: &Auth, asked: Option<&str>) -> Option<String> {
    let resources = metadata::resources(&auth.house);
    match asked {
        None => resources.into_iter().next().map(|(resource, _)| resource),
        Some(asked) => {
            let asked = as_ours(&auth.house.public_url, asked);
            resources.into_iter().map(|(resource, _)| resource).find(|resource| *resource == asked)
        }
    }
}

/// The known scopes of what is asked, ascending; all of them when nothing is.
fn scope(asked: Option<&str>) -> Option<String> {
    let known = |scope: &&str| SCOPES.iter().any(|(known, _)| known == scope);
    let asked: Vec<&str> =
        asked.unwrap_or_default().split_ascii_whitespace().filter(|scope| *scope != OFFLINE).collect();
    let mut scopes: Vec<&str> = if asked.is_empty() {
        SCOPES.iter().map(|(scope, _)| *scope).collect()
    } else {
        asked.into_iter().filter(known).collect()
    };
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() { None } else { Some(scopes.join(" ")) }
}

async fn keep(auth: &Auth, client: &Client, request: AuthRequest) -> Result<String, Fault> {
    let ticket = secret::draw(auth.house.ids.as_ref(), "");
    let (kept, id) = (ticket.clone(), client.id.clone());
    let insert = auth.change("identity.ask_consent", move |tx| {
        registered::used(tx, &id)?;
        requests::insert(tx, &kept, &request)
    });
    insert.await?;
    Ok(format!("/oauth/consent?request={ticket}"))
}

/// The client's address with what it is told, and who tells it (RFC 9207).
pub(super) fn back(redirect_uri: &str, told: &[(&str, Option<&str>)], issuer: &str) -> Result<String, Fault> {
    let mut url = Url::parse(redirect_uri).map_err(Fault::internal)?;
    {
        let mut query = url.query_pairs_mut();
        for (name, value) in told {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        query.append_pair("iss", issuer);
    }
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_the_known_ones() {
        for (asked, wanted) in [
            (None, Some("duels:play")),
            (Some(""), Some("duels:play")),
            (Some("offline_access"), Some("duels:play")),
            (Some("duels:play duels:play unknown"), Some("duels:play")),
            (Some("unknown"), None),
        ] {
            assert_eq!(scope(asked).as_deref(), wanted, "{asked:?}");
        }
    }

    #[test]
    fn what_is_told_stays_within_the_query() {
        let told = [("code", Some("a&b=c#d\r\n")), ("state", None)];
        assert_eq!(
            back("http://127.0.0.1:1/cb?keep=1", &told, "https://arena.example").unwrap(),
            "http://127.0.0.1:1/cb?keep=1&code=a%26b%3Dc%23d%0D%0A&iss=https%3A%2F%2Farena.example"
        );
    }
}
