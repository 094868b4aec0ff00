//! One MCP path over HTTP: checks what the SDK words badly or not at all, answers the plain requests
//! itself and gives the rest to the SDK, so that every refusal has a JSON-RPC body.

use std::{collections::HashMap, sync::Arc};

use axum::{
    body::Body,
    extract::{Request, State},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::Full;
use kernel::{Fault, Kind, operation::Product};
use rmcp::{
    model::ProtocolVersion,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::{json, value::RawValue};

use super::{
    adapter::{Adapter, Backend, Slot},
    call::{self, Plain, VERSION_HEADER},
    message::{self, Envelope},
    result::{self, Beside},
    tools::Toolbox,
};
use crate::{
    address::as_called,
    answer::{self, Told},
    auth::metadata,
    body,
    config::Door,
    credential::Credential,
    dispatch::{self, Incoming, Refused},
    house::House,
    operations::FOREIGN_ORIGIN,
    request_id::RequestId,
};

/// The methods that are told apart in logs and metrics.
const METHODS: [&str; 6] =
    ["initialize", "notifications/initialized", "ping", "server/discover", "tools/call", "tools/list"];

pub(crate) struct Endpoint {
    house: Arc<House>,
    product: usize,
    sdk: StreamableHttpService<Adapter, NeverSessionManager>,
    by_name: HashMap<&'static str, usize>,
    toolbox: Arc<Toolbox>,
    list_modern: String,
    list_legacy: String,
}

impl Endpoint {
    pub(crate) fn new(house: &Arc<House>, product: usize) -> Self {
        let mounted = &house.products[product].product;
        let toolbox = Arc::new(Toolbox::new(mounted, &house.server));
        let backend = Backend::Local { house: Arc::clone(house), product };
        let adapter = Adapter { toolbox: Arc::clone(&toolbox), backend };
        // Host, Origin and size are checked before the SDK is reached.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(house.limits.body_bytes_max);
        let text = |modern| serde_json::to_string(&toolbox.list(modern)).unwrap_or_else(|_| "{}".to_owned());
        Self {
            list_modern: text(true),
            list_legacy: text(false),
            by_name: mounted.operations.iter().enumerate().map(|(i, entry)| (entry.spec.id, i)).collect(),
            sdk: StreamableHttpService::new(
                move || Ok(adapter.clone()),
                Arc::new(NeverSessionManager::default()),
                config,
            ),
            house: Arc::clone(house),
            product,
            toolbox,
        }
    }

    fn product(&self) -> &Product {
        &self.house.products[self.product].product
    }

    fn told(&self) -> Told {
        Told { product: Some(self.product().name), ..Told::by(Door::Mcp) }
    }

    /// Where the metadata of the address is that the client used.
    fn metadata(&self, called: &http::request::Parts) -> String {
        let base = as_called(&self.house.public_url, &called.uri, &called.headers);
        let path = called.uri.path();
        metadata::address(&base, path.strip_suffix('/').unwrap_or(path))
    }

    fn refuse(&self, fault: &Fault) -> Response<Body> {
        message::refusal(self.product(), fault, self.told())
    }

    /// A refusal that a client must see as an HTTP status with a challenge.
    fn refuse_at_gate(
        &self,
        id: Option<&str>,
        refused: Refused,
        metadata: String,
        told: Told,
    ) -> Response<Body> {
        let refused = refused.pointing(&self.house, self.product, metadata);
        let mut response = message::refusal_of(self.product(), id, &refused.fault, told);
        answer::add_refusal_headers(&mut response, &refused);
        response
    }
}

pub(crate) async fn serve(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response<Body> {
    if *request.method() != Method::POST {
        let fault = Fault::of(Kind::MethodNotAllowed, "this path takes POST with one JSON-RPC message");
        let mut response = endpoint.refuse(&fault);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    let (parts, content) = request.into_parts();
    if let Err(fault) = check_headers(&endpoint, &parts.headers) {
        return endpoint.refuse(&fault);
    }
    match body::read(content, endpoint.house.limits.body_bytes_max).await {
        Ok(body) => message(&endpoint, parts, body).await,
        Err(fault) => endpoint.refuse(&fault),
    }
}

fn check_headers(endpoint: &Endpoint, headers: &HeaderMap) -> Result<(), Fault> {
    if !endpoint.house.callers.origin_is_ours(headers) {
        return Err(Fault::of(Kind::Foreign, FOREIGN_ORIGIN));
    }
    if !body::is_json(headers) {
        return Err(Fault::of(
            Kind::UnsupportedMedia,
            "the body is not declared as JSON; send `Content-Type: application/json`",
        ));
    }
    Ok(())
}

async fn message(endpoint: &Endpoint, parts: http::request::Parts, body: Bytes) -> Response<Body> {
    let house = &endpoint.house;
    let max = house.limits.json_depth_max * ENVELOPE_DEPTH_FACTOR;
    if body::is_deeper_than(&body, max) {
        return endpoint
            .refuse(&Fault::invalid(format!("the message nests deeper than {max} levels; flatten it")));
    }
    let envelope = match Envelope::parse(&body) {
        Ok(envelope) => envelope,
        Err(malformed) => {
            let status = StatusCode::BAD_REQUEST;
            return message::error(status, None, malformed.code, malformed.message, None, endpoint.told());
        }
    };
    let credential = Credential::of(&parts.uri, &parts.headers);
    match call::plain(&envelope, &parts.headers) {
        Some(Plain::Call { name, arguments, once_key, modern }) => {
            if let (Some(id), Some(&entry)) = (envelope.id_text(), endpoint.by_name.get(&*name)) {
                let request_id = parts.extensions.get::<RequestId>().map_or("", RequestId::as_str);
                let incoming = Incoming {
                    product: endpoint.product,
                    entry,
                    credential,
                    request_id: request_id.to_owned(),
                    once_key,
                    input: Ok(arguments.map_or(Bytes::from_static(b"{}"), |raw| slice(&body, raw))),
                };
                return run_tool(endpoint, id, modern, (request_id, &parts), incoming).await;
            }
        }
        Some(Plain::List { modern }) if credential == Credential::Absent => {
            if let Some(id) = envelope.id_text() {
                let list = if modern { &endpoint.list_modern } else { &endpoint.list_legacy };
                let text = ["{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":", list, "}"].concat();
                return answer::json(
                    StatusCode::OK,
                    text,
                    Told { operation: Some("tools/list"), ..endpoint.told() },
                );
            }
        }
        Some(Plain::List { .. }) | None => {}
    }
    through_sdk(endpoint, &envelope, &credential, parts, &body).await
}

/// The limit is that of a tool's input. A message around it may be deeper, so that a model which
/// nests too deep reads about it in a tool error and not in a refused request.
const ENVELOPE_DEPTH_FACTOR: usize = 2;

fn slice(body: &Bytes, raw: &RawValue) -> Bytes {
    body.slice_ref(raw.get().as_bytes())
}

async fn run_tool(
    endpoint: &Endpoint,
    id: &str,
    modern: bool,
    (request_id, called): (&str, &http::request::Parts),
    incoming: Incoming,
) -> Response<Body> {
    let (house, product) = (&endpoint.house, endpoint.product());
    let told = Told { operation: Some(product.operations[incoming.entry].spec.id), ..endpoint.told() };
    let mut beside = Beside {
        server_info: &endpoint.toolbox.server_info_json,
        request_id,
        clock_speed: house.clock_speed(),
        replayed: false,
    };
    match dispatch::dispatch(house, incoming).await {
        Ok(answer) => {
            beside.replayed = answer.replayed;
            let text = result::response(id, modern, &answer.json, false, &beside);
            answer::json(StatusCode::OK, text, told)
        }
        Err(refused) if refused.gate.is_some() => {
            endpoint.refuse_at_gate(Some(id), refused, endpoint.metadata(called), told)
        }
        Err(refused) => {
            let code = product.code(&refused.fault);
            answer::log(&refused.fault, code);
            let structured = product.body(&refused.fault, refused.at).to_string();
            let text = result::response(id, modern, &structured, true, &beside);
            answer::json(StatusCode::OK, text, Told { code: Some(code), ..told })
        }
    }
}

async fn through_sdk(
    endpoint: &Endpoint,
    envelope: &Envelope<'_>,
    credential: &Credential,
    mut parts: http::request::Parts,
    body: &Bytes,
) -> Response<Body> {
    let house = &endpoint.house;
    let id = envelope.id_text();
    let method = envelope.method.as_deref();
    let operation = METHODS.into_iter().find(|known| Some(*known) == method);
    let told = Told { operation, ..endpoint.told() };
    let checked = if method == Some("tools/call") {
        dispatch::refused_unread(house, credential).map_or(Ok(()), Err)
    } else {
        Ok(())
    };
    let checked = match checked {
        Ok(()) => dispatch::check_credential(house, endpoint.product, credential).await,
        refused => refused,
    };
    if let Err(refused) = checked {
        return endpoint.refuse_at_gate(id, refused, endpoint.metadata(&parts), told);
    }
    if !call::params_fit(envelope) {
        return bad_params(id, told);
    }
    if let Some(response) = refuse_version(id, &parts.headers, envelope, told) {
        return response;
    }
    let slot = Slot::default();
    let metadata = endpoint.metadata(&parts);
    parts.extensions.insert(slot.clone());
    // We always answer JSON; the SDK insists on both.
    parts.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let request = http::Request::from_parts(parts, Full::new(body.clone()));
    let response = endpoint.sdk.handle(request).await;
    if let Some(refused) = slot.take() {
        return endpoint.refuse_at_gate(id, refused, metadata, told);
    }
    worded(id, method, response, told)
}

/// A version header that names no revision of ours, in a message that does not name one itself.
fn refuse_version(
    id: Option<&str>,
    headers: &HeaderMap,
    envelope: &Envelope<'_>,
    told: Told,
) -> Option<Response<Body>> {
    let value = headers.get(&VERSION_HEADER)?;
    let known =
        ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str().as_bytes() == value.as_bytes());
    if known || call::names_version(envelope) {
        return None;
    }
    let supported: Vec<_> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let data = json!({"supported": supported, "requested": String::from_utf8_lossy(value.as_bytes())});
    let text = "this server does not speak that protocol version; use one of data.supported";
    Some(message::error(StatusCode::BAD_REQUEST, id, message::UNSUPPORTED_VERSION, text, Some(&data), told))
}

/// The SDK's answer, with a JSON-RPC body where it has plain text.
fn worded<B>(id: Option<&str>, method: Option<&str>, response: Response<B>, told: Told) -> Response<Body>
where
    B: axum::body::HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let is_json =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    let status = response.status();
    if status.is_success() || is_json {
        let mut response = response.map(Body::new);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response.extensions_mut().insert(told);
        return response;
    }
    if status.is_server_error() {
        let text = "something went wrong on our side; try again";
        return message::error(status, id, message::INTERNAL_ERROR, text, None, told);
    }
    if method.is_some() {
        return bad_params(id, told);
    }
    let text = "the message is neither a request nor a notification; send one with a method";
    message::error(StatusCode::BAD_REQUEST, id, message::INVALID_REQUEST, text, None, told)
}

fn bad_params(id: Option<&str>, told: Told) -> Response<Body> {
    let text = "the params do not fit this method; see the schema of the Model Context Protocol";
    message::error(StatusCode::BAD_REQUEST, id, message::INVALID_PARAMS, text, None, told)
}
