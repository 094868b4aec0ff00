//! JSON-RPC messages as far as the door reads them itself, and its error bodies.

use std::borrow::Cow;

use axum::body::Body;
use http::{Response, StatusCode};
use kernel::{Fault, Kind, operation::Product};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    answer::{self, Told},
    status,
};

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
/// Of the range that JSON-RPC leaves to implementations.
const UNAUTHENTICATED: i64 = -32001;
const FORBIDDEN: i64 = -32003;

/// A message whose parts are still text.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
}

/// A message that the door refuses before anything looks at its method.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) code: i64,
    pub(crate) message: &'static str,
}

impl<'a> Envelope<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, Malformed> {
        let invalid = |message| Malformed { code: INVALID_REQUEST, message };
        if body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            return Err(invalid("batches are not taken; send one JSON-RPC message a request"));
        }
        let envelope: Self = serde_json::from_slice(body).map_err(|error| {
            if error.is_data() {
                invalid(
                    "the body is not a JSON-RPC 2.0 message; send an object with jsonrpc, id, method, params",
                )
            } else {
                Malformed {
                    code: PARSE_ERROR,
                    message: "the body is not JSON in UTF-8; send one JSON-RPC message",
                }
            }
        })?;
        if envelope.jsonrpc.as_deref() != Some("2.0") {
            return Err(invalid("jsonrpc is not \"2.0\"; send JSON-RPC 2.0"));
        }
        if envelope.id.is_some_and(|id| !is_id(id.get())) {
            return Err(invalid("the id is neither a string nor a whole number; send one of those"));
        }
        Ok(envelope)
    }

    pub(crate) fn id_text(&self) -> Option<&'a str> {
        self.id.map(RawValue::get)
    }
}

fn is_id(raw: &str) -> bool {
    raw.starts_with('"') || raw.parse::<i64>().is_ok()
}

/// An error body with the id of its request, as JSON text, where that is known.
pub(crate) fn error(
    status: StatusCode,
    id: Option<&str>,
    code: i64,
    message: &str,
    data: Option<&Value>,
    told: Told,
) -> Response<Body> {
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data.clone();
    }
    let body = ["{\"jsonrpc\":\"2.0\",\"id\":", id.unwrap_or("null"), ",\"error\":", &error.to_string(), "}"]
        .concat();
    answer::json(status, body, told)
}

/// A fault of the door itself, before a message was understood.
pub(crate) fn refusal(product: &Product, fault: &Fault, told: Told) -> Response<Body> {
    refusal_of(product, None, fault, told)
}

/// A fault as an HTTP refusal with a JSON-RPC body.
pub(crate) fn refusal_of(product: &Product, id: Option<&str>, fault: &Fault, told: Told) -> Response<Body> {
    let code = product.code(fault);
    answer::log(fault, code);
    let mut data = json!({"code": code});
    if let Some(seconds) = fault.retry_after_seconds {
        data["retry_after_seconds"] = json!(seconds);
    }
    let told = Told { code: Some(code), ..told };
    error(status::of(fault.kind), id, rpc_code(fault.kind), &fault.message, Some(&data), told)
}

const fn rpc_code(kind: Kind) -> i64 {
    match kind {
        Kind::Unauthenticated => UNAUTHENTICATED,
        Kind::Forbidden | Kind::Foreign => FORBIDDEN,
        Kind::NotFound => METHOD_NOT_FOUND,
        Kind::Invalid
        | Kind::MethodNotAllowed
        | Kind::Conflict
        | Kind::TooLarge
        | Kind::UnsupportedMedia
        | Kind::RateLimited => INVALID_REQUEST,
        Kind::Unavailable | Kind::Internal => INTERNAL_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_noise() {
        for (body, code) in [
            (&br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..], None),
            (br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None),
            (br#"{"jsonrpc":"2.0","id":"a\"b","method":"ping"}"#, None),
            (b"", Some(PARSE_ERROR)),
            (b"{bad", Some(PARSE_ERROR)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffing\"}", Some(PARSE_ERROR)),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}",
                Some(PARSE_ERROR),
            ),
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, Some(PARSE_ERROR)),
            (br#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Some(INVALID_REQUEST)),
            (b"7", Some(INVALID_REQUEST)),
            (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Some(INVALID_REQUEST)),
            (br#"{"id":1,"method":"ping"}"#, Some(INVALID_REQUEST)),
            (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Some(INVALID_REQUEST)),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Some(INVALID_REQUEST)),
            (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, Some(INVALID_REQUEST)),
        ] {
            let got = Envelope::parse(body).err().map(|malformed| malformed.code);
            assert_eq!(got, code, "{}", String::from_utf8_lossy(body));
        }
    }
}
