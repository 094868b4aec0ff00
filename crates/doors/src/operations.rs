//! REST: each operation at its own method and path, JSON in and JSON out.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use kernel::{Fault, Kind};

use crate::{
    answer::{self, Told},
    body,
    config::Door,
    credential::Credential,
    dispatch::{Incoming, Refused, dispatch},
    house::House,
    request_id::RequestId,
};

static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The operations of one path, by method.
#[derive(Clone)]
pub(crate) struct Resource {
    pub(crate) house: Arc<House>,
    pub(crate) product: usize,
    /// Method and index in the catalog.
    pub(crate) methods: Arc<Vec<(&'static str, usize)>>,
}

pub(crate) async fn serve(State(resource): State<Resource>, request: Request) -> Response<Body> {
    let Resource { house, product, methods } = &resource;
    let mounted = &house.products[*product].product;
    let told = Told { product: Some(mounted.name), ..Told::by(Door::Rest) };
    let Some((_, entry)) = methods.iter().find(|(method, _)| *method == request.method().as_str()) else {
        let allow = methods.iter().map(|(method, _)| *method).collect::<Vec<_>>().join(", ");
        let fault = Fault::of(Kind::MethodNotAllowed, format!("this path takes {allow}; use that method"));
        let mut response = answer::refused(mounted, &Refused::new(fault, house.now()), told);
        if let Ok(allow) = HeaderValue::from_str(&allow) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        return response;
    };
    let told = Told { operation: Some(house.entry(*product, *entry).spec.id), ..told };
    match called(house, *product, *entry, request).await {
        Ok(response) => response,
        Err(refused) => {
            let mut response = answer::refused(mounted, &refused, told);
            // Budgets and cooldowns count Arena seconds, and so says the body; HTTP waits in real ones.
            if refused.fault.kind != Kind::Unavailable
                && let Some(seconds) = refused.fault.retry_after_seconds
            {
                let real = HeaderValue::from(house.real_seconds(seconds));
                response.headers_mut().insert(header::RETRY_AFTER, real);
            }
            response
        }
    }
}

async fn called(
    house: &Arc<House>,
    product: usize,
    entry: usize,
    request: Request,
) -> Result<Response<Body>, Refused> {
    let refuse = |fault: Fault| Refused::new(fault, house.now());
    if !house.callers.origin_is_ours(request.headers()) {
        return Err(refuse(Fault::of(Kind::Foreign, FOREIGN_ORIGIN)));
    }
    let (parts, content) = request.into_parts();
    let credential = Credential::of(&parts.uri, &parts.headers);
    // A caller without a usable credential learns only that, whatever else is wrong.
    if let Some(refused) = crate::dispatch::refused_unread(house, &credential) {
        return Err(refused);
    }
    let input = read_input(house, &parts, content).await;
    let incoming = Incoming {
        product,
        entry,
        credential,
        request_id: parts.extensions.get::<RequestId>().map_or("", RequestId::as_str).to_owned(),
        once_key: once_key(&parts.headers),
        input,
    };
    let answer = dispatch(house, incoming).await?;
    let told = Told {
        product: Some(house.products[product].product.name),
        operation: Some(house.entry(product, entry).spec.id),
        ..Told::by(Door::Rest)
    };
    let mut response = answer::json(StatusCode::OK, answer.json, told);
    if answer.replayed {
        response.headers_mut().insert(&REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// The idempotency key as sent. What is not one key becomes a text that the seam refuses by its rule.
fn once_key(headers: &http::HeaderMap) -> Option<String> {
    let mut keys = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let first = keys.next()?;
    Some(if keys.next().is_some() {
        String::new()
    } else {
        String::from_utf8_lossy(first.as_bytes()).into_owned()
    })
}

pub(crate) const FOREIGN_ORIGIN: &str =
    "pages of this origin may not call this server; ask its operator to add the origin";

async fn read_input(house: &House, parts: &http::request::Parts, content: Body) -> Result<Bytes, Fault> {
    if parts.uri.query().is_some_and(|query| !query.is_empty()) {
        return Err(Fault::invalid("this path takes no query; send the fields as a JSON object in the body"));
    }
    let input = body::read(content, house.limits.body_bytes_max).await?;
    if input.is_empty() {
        return Ok(Bytes::from_static(b"{}"));
    }
    if !body::is_json(&parts.headers) {
        return Err(Fault::of(
            Kind::UnsupportedMedia,
            "the body is not declared as JSON; send `Content-Type: application/json`",
        ));
    }
    Ok(input)
}
