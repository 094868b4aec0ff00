//! The authorization server's endpoints (OAuth 2.1 for MCP clients).

pub(super) mod authorize;
mod clients;
pub(super) mod consent;
pub(crate) mod metadata;
pub(super) mod register;
pub(super) mod revoke;
pub(super) mod token;

use axum::body::Body;
use http::{HeaderValue, Method, Response, StatusCode, header};
use kernel::{Fault, Kind};
use serde_json::json;

use super::page::told;
use crate::{answer, status};

/// A refusal of an endpoint that programs call, as RFC 6749 writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OauthError {
    pub(super) status: StatusCode,
    pub(super) error: &'static str,
    pub(super) description: String,
    pub(super) retry_after_seconds: Option<i64>,
}

impl OauthError {
    pub(super) fn new(error: &'static str, description: impl Into<String>) -> Self {
        let status =
            if error == "invalid_client" { StatusCode::UNAUTHORIZED } else { StatusCode::BAD_REQUEST };
        Self { status, error, description: description.into(), retry_after_seconds: None }
    }
}

impl From<Fault> for OauthError {
    fn from(fault: Fault) -> Self {
        answer::log(&fault, "oauth");
        let error = match fault.kind {
            Kind::Internal => "server_error",
            Kind::Unavailable | Kind::RateLimited => "temporarily_unavailable",
            _ => "invalid_request",
        };
        let status = status::of(fault.kind);
        Self { status, error, description: fault.message, retry_after_seconds: fault.retry_after_seconds }
    }
}

/// JSON that no cache keeps and every page may read: what it tells, the caller has shown to know.
pub(super) fn json_answer(status: StatusCode, body: String, operation: &'static str) -> Response<Body> {
    let mut response = answer::json(status, body, told(operation));
    let headers = response.headers_mut();
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    allow_any_page(headers);
    response
}

pub(super) fn refuse(error: &OauthError, operation: &'static str) -> Response<Body> {
    // Descriptions are of a small set of characters (RFC 6749, 5.2).
    let description: String =
        error.description.chars().filter(|c| (' '..='~').contains(c) && !matches!(c, '"' | '\\')).collect();
    let body = json!({"error": error.error, "error_description": description});
    let mut response = json_answer(error.status, body.to_string(), operation);
    if let Some(seconds) = error.retry_after_seconds {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(0)));
    }
    if error.status == StatusCode::UNAUTHORIZED {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_client\""));
    }
    response
}

/// What a browser asks before a page of another origin may call.
pub(super) fn preflight(method: &Method, operation: &'static str) -> Option<Response<Body>> {
    if *method != Method::OPTIONS {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    allow_any_page(headers);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, OPTIONS"));
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type, mcp-protocol-version"),
    );
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
    response.extensions_mut().insert(told(operation));
    Some(response)
}

fn allow_any_page(headers: &mut http::HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

pub(super) fn only_post(method: &Method) -> Result<(), OauthError> {
    if *method == Method::POST {
        return Ok(());
    }
    Err(OauthError {
        status: StatusCode::METHOD_NOT_ALLOWED,
        ..OauthError::new("invalid_request", "this endpoint takes POST")
    })
}
