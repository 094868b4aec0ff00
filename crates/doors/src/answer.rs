//! Answers as HTTP: bodies, challenges, and the note that the front turns into a log line.

use std::fmt::Write;

use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, header};
use kernel::{Fault, Kind, operation::Product};
use serde_json::json;

use crate::{
    config::Door,
    dispatch::{Gate, Refused, WayIn},
    status,
};

/// What a handler tells the front about its answer, in the response's extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) door: Door,
    pub(crate) product: Option<&'static str>,
    pub(crate) operation: Option<&'static str>,
    pub(crate) code: Option<&'static str>,
}

impl Told {
    pub(crate) const fn by(door: Door) -> Self {
        Self { door, product: None, operation: None, code: None }
    }
}

static JSON: HeaderValue = HeaderValue::from_static("application/json");
static NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// A JSON answer that no cache keeps.
pub(crate) fn json(status: StatusCode, body: impl Into<Body>, told: Told) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON.clone());
    headers.insert(header::CACHE_CONTROL, NO_STORE.clone());
    response.extensions_mut().insert(told);
    response
}

/// A refusal in the product's envelope.
pub(crate) fn refused(product: &Product, refused: &Refused, told: Told) -> Response<Body> {
    let code = product.code(&refused.fault);
    log(&refused.fault, code);
    let body = product.body(&refused.fault, refused.at).to_string();
    let mut response = json(status::of(refused.fault.kind), body, Told { code: Some(code), ..told });
    add_refusal_headers(&mut response, refused);
    response
}

/// A refusal that belongs to no product.
pub(crate) fn plain_refusal(fault: &Fault, told: Told) -> Response<Body> {
    let code = status::code(fault.kind);
    log(fault, code);
    let body = json!({"error": {"code": code, "message": fault.message}}).to_string();
    json(status::of(fault.kind), body, Told { code: Some(code), ..told })
}

/// `Retry-After` and `WWW-Authenticate`, where they apply.
pub(crate) fn add_refusal_headers(response: &mut Response<Body>, refused: &Refused) {
    if let Some(seconds) = refused.fault.retry_after_seconds {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(0)));
    }
    if let Some(gate) = refused.gate
        && let Ok(value) =
            HeaderValue::from_str(&challenge(gate, &refused.fault.message, refused.way_in.as_ref()))
    {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
        // Pages of other origins, such as inspectors, read it, too.
        response
            .headers_mut()
            .insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("WWW-Authenticate"));
    }
}

/// Writes what only the operator may read; the log line of the request carries its id.
pub(crate) fn log(fault: &Fault, code: &'static str) {
    let context = fault.context().unwrap_or("");
    match fault.kind {
        Kind::Internal => tracing::error!(code, context, "a request met a mistake of ours"),
        Kind::Unavailable => tracing::warn!(code, context, "a request could not be served"),
        _ if context.is_empty() => {}
        _ => tracing::debug!(code, context, "a request was refused"),
    }
}

fn challenge(gate: Gate, message: &str, way_in: Option<&WayIn>) -> String {
    let mut out = "Bearer realm=\"arena\"".to_owned();
    let mut add = |name: &str, value: &str| {
        let value: String =
            value.chars().filter(|c| (' '..='~').contains(c) && !matches!(c, '"' | '\\')).collect();
        // Writing to a String cannot fail.
        let _ = write!(out, ", {name}=\"{value}\"");
    };
    if let Some(way_in) = way_in {
        add("resource_metadata", &way_in.metadata);
    }
    match (gate, way_in) {
        (Gate::Scope(scope), _) => {
            add("error", "insufficient_scope");
            add("scope", scope);
            add("error_description", message);
        }
        (Gate::NoCredential, way_in) => {
            if let Some(way_in) = way_in {
                add("scope", &way_in.scope);
            }
        }
        (Gate::BadCredential, way_in) => {
            if let Some(way_in) = way_in {
                add("scope", &way_in.scope);
            }
            add("error", "invalid_token");
            add("error_description", message);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_cannot_be_broken_out_of() {
        assert_eq!(
            challenge(Gate::BadCredential, "a\"b\\c\r\nX: y é", None),
            "Bearer realm=\"arena\", error=\"invalid_token\", error_description=\"abcX: y \"",
        );
        let way_in = WayIn { metadata: "https://a.example/m".to_owned(), scope: "duels:play".to_owned() };
        assert_eq!(
            challenge(Gate::NoCredential, "", Some(&way_in)),
            "Bearer realm=\"arena\", resource_metadata=\"https://a.example/m\", scope=\"duels:play\"",
        );
        assert_eq!(
            challenge(Gate::Scope("duels:play"), "no", Some(&way_in)),
            "Bearer realm=\"arena\", resource_metadata=\"https://a.example/m\", error=\"insufficient_scope\", scope=\"duels:play\", error_description=\"no\"",
        );
    }
}
