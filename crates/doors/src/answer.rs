//! Answers as HTTP: bodies, challenges, and the note that the front turns into a log line.

use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, header};
use kernel::{Fault, Kind, operation::Product};
use serde_json::json;

use crate::{
    config::Door,
    dispatch::{Gate, Refused},
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
        && let Ok(value) = HeaderValue::from_str(&challenge(gate, &refused.fault.message))
    {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
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

fn challenge(gate: Gate, message: &str) -> String {
    match gate {
        Gate::NoCredential => "Bearer realm=\"arena\"".to_owned(),
        Gate::BadCredential => {
            let text: String =
                message.chars().filter(|c| (' '..='~').contains(c) && !matches!(c, '"' | '\\')).collect();
            format!("Bearer realm=\"arena\", error=\"invalid_token\", error_description=\"{text}\"")
        }
        Gate::Scope(scope) => {
            format!("Bearer realm=\"arena\", error=\"insufficient_scope\", scope=\"{scope}\"")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_cannot_be_broken_out_of() {
        assert_eq!(
            challenge(Gate::BadCredential, "a\"b\\c\r\nX: y é"),
            "Bearer realm=\"arena\", error=\"invalid_token\", error_description=\"abcX: y \"",
        );
        assert_eq!(
            challenge(Gate::Scope("duels:play"), ""),
            "Bearer realm=\"arena\", error=\"insufficient_scope\", scope=\"duels:play\"",
        );
    }
}
