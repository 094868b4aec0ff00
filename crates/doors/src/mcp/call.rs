//! Reads the two requests that agents send all day, `tools/call` and `tools/list`, in one pass.
//!
//! Only what is right in every respect is taken here. Whatever is unusual or wrong goes to the SDK,
//! which then decides and words the refusal, so that the protocol's rules live in one place.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, InitializeRequestParams, PaginatedRequestParams,
    ProtocolVersion,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::message::Envelope;

pub(crate) static VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
static METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
static NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

/// A request that needs nothing from the SDK.
pub(crate) enum Plain<'a> {
    Call {
        name: Cow<'a, str>,
        /// Missing for a call without arguments.
        arguments: Option<&'a RawValue>,
        once_key: Option<String>,
        modern: bool,
    },
    List {
        modern: bool,
    },
}

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(rename = "_meta", borrow, default)]
    meta: Meta<'a>,
    #[serde(rename = "inputResponses", default)]
    input_responses: Option<IgnoredAny>,
    #[serde(rename = "requestState", default)]
    request_state: Option<IgnoredAny>,
    #[serde(default)]
    task: Option<IgnoredAny>,
}

#[derive(Deserialize, Default)]
struct ListParams<'a> {
    #[serde(default)]
    cursor: Option<IgnoredAny>,
    #[serde(rename = "_meta", borrow, default)]
    meta: Meta<'a>,
}

#[derive(Deserialize, Default)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow, default)]
    version: Option<Cow<'a, str>>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", borrow, default)]
    capabilities: Option<&'a RawValue>,
    #[serde(rename = "arena/idempotency_key", default)]
    once_key: Option<String>,
}

/// The request, when it is one of the two and right.
pub(crate) fn plain<'a>(envelope: &Envelope<'a>, headers: &HeaderMap) -> Option<Plain<'a>> {
    envelope.id?;
    match envelope.method.as_deref()? {
        "tools/call" => {
            let params: CallParams<'a> = serde_json::from_str(envelope.params?.get()).ok()?;
            if params.input_responses.is_some() || params.request_state.is_some() || params.task.is_some() {
                return None;
            }
            let modern = is_modern(headers, &params.meta, "tools/call", Some(&params.name))?;
            let CallParams { name, arguments, meta, .. } = params;
            Some(Plain::Call { name, arguments, once_key: meta.once_key, modern })
        }
        "tools/list" => {
            let params: ListParams<'a> = envelope
                .params
                .map_or(Some(ListParams::default()), |raw| serde_json::from_str(raw.get()).ok())?;
            if params.cursor.is_some() {
                return None;
            }
            Some(Plain::List { modern: is_modern(headers, &params.meta, "tools/list", None)? })
        }
        _ => None,
    }
}

/// Whether the request is of the revision without a handshake; `None` when its headers and `_meta`
/// do not agree with one of the revisions we speak.
fn is_modern(headers: &HeaderMap, meta: &Meta<'_>, method: &str, name: Option<&str>) -> Option<bool> {
    let header = match only(headers, &VERSION_HEADER) {
        Ok(value) => value,
        Err(Repeated) => return None,
    };
    let Some(version) = meta.version.as_deref() else {
        let known = |text: &str| {
            ProtocolVersion::KNOWN_VERSIONS
                .iter()
                .any(|known| known.has_initialize() && known.as_str() == text)
        };
        return header.is_none_or(known).then_some(false);
    };
    let capabilities = meta.capabilities?.get();
    let right = version == ProtocolVersion::V_2026_07_28.as_str()
        && header == Some(version)
        && only(headers, &METHOD_HEADER) == Ok(Some(method))
        && name.is_none_or(|name| only(headers, &NAME_HEADER) == Ok(Some(name)))
        && (capabilities == "{}" || serde_json::from_str::<ClientCapabilities>(capabilities).is_ok());
    right.then_some(true)
}

#[derive(Debug, PartialEq, Eq)]
struct Repeated;

/// The value of a header that may be sent once, as text.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Repeated> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    match (value.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text)),
        _ => Err(Repeated),
    }
}

/// Whether the message itself names a protocol version.
pub(crate) fn names_version(envelope: &Envelope<'_>) -> bool {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(rename = "_meta", borrow, default)]
        meta: Meta<'a>,
    }
    envelope
        .params
        .and_then(|raw| serde_json::from_str::<Params<'_>>(raw.get()).ok())
        .is_some_and(|params| params.meta.version.is_some())
}

/// Whether the params have the shape of their method. The SDK takes a known method with other params
/// for an unknown one, and says so.
pub(crate) fn params_fit(envelope: &Envelope<'_>) -> bool {
    let params = envelope.params.map_or("{}", RawValue::get);
    match envelope.method.as_deref() {
        Some("tools/call") => serde_json::from_str::<CallToolRequestParams>(params).is_ok(),
        // In the revision without a handshake it is an unknown method indeed.
        Some("initialize") => {
            names_version(envelope) || serde_json::from_str::<InitializeRequestParams>(params).is_ok()
        }
        Some("tools/list") => serde_json::from_str::<PaginatedRequestParams>(params).is_ok(),
        _ => true,
    }
}
