//! Reads that need no credential: JSON over GET, cacheable, for any page to use.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, Request, State, rejection::PathRejection},
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use kernel::{
    Fault, Kind,
    id::hex,
    operation::{Asked, Public},
};
use sha2::{Digest, Sha256};

use crate::{
    answer::{self, Told},
    config::Door,
    dispatch::Refused,
    house::House,
    web::page,
};

/// The longest path parameter that is looked up, in bytes.
pub(crate) const PARAMETER_BYTES_MAX: usize = 256;

/// One public read.
#[derive(Clone)]
pub(crate) struct Reading {
    pub(crate) house: Arc<House>,
    pub(crate) product: usize,
    pub(crate) public: usize,
}

pub(crate) async fn serve(
    State(reading): State<Reading>,
    parameter: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response<Body> {
    let Reading { house, product, public } = &reading;
    let mounted = &house.products[*product].product;
    let public_read = &mounted.publics[*public];
    if page::wants_page(request.headers())
        && let Some(page) = mounted.pages.pages.iter().position(|page| page.path == public_read.path)
    {
        let asking = page::Asking::of(&request);
        drop(request);
        return page::show(house, *product, page, parameter.ok().map(|Path(text)| text), &asking).await;
    }
    let told =
        Told { product: Some(mounted.name), operation: Some(public_read.id), ..Told::by(Door::Public) };
    let mut response = if *request.method() == Method::GET || *request.method() == Method::HEAD {
        let parameter = if public_read.path.contains('{') {
            parameter.ok().map(|Path(text)| text).filter(|text| text.len() <= PARAMETER_BYTES_MAX)
        } else {
            Some(String::new())
        };
        let asked = asked(public_read, parameter, request.uri().query());
        match read(&reading, asked).await {
            Ok(json) => cached(request.headers(), json, public_read.max_age_seconds, told),
            Err(refused) => answer::refused(mounted, &refused, told),
        }
    } else {
        let fault = Fault::of(Kind::MethodNotAllowed, "this path takes GET; use that method");
        let mut response = answer::refused(mounted, &Refused::new(fault, house.now()), told);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        response
    };
    if mounted.pages.pages.iter().any(|page| page.path == public_read.path) {
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept, Cookie"));
    }
    // Nothing here depends on who asks, so any page may read it.
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// What the address asks for. A part of the query that the read does not know may be a slip of the pen, and
/// an answer to another question is worse than none.
fn asked(public: &Public, parameter: Option<String>, query: Option<&str>) -> Result<Asked, Fault> {
    let Some(parameter) = parameter else {
        return Err(Fault::of(Kind::NotFound, "nothing has this id; take one from a list"));
    };
    let mut asked = Asked { parameter, query: Vec::new() };
    let known = || public.query.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if public.query.is_empty() {
            break;
        }
        match public.query.iter().find(|part| part.name == name) {
            Some(part) if asked.query(part.name).is_none() => {
                asked.query.push((part.name, value.into_owned()));
            }
            _ => {
                let message = format!("the query may hold {}, each once; correct the address", known());
                return Err(Fault::of(Kind::Invalid, message));
            }
        }
    }
    Ok(asked)
}

async fn read(reading: &Reading, asked: Result<Asked, Fault>) -> Result<String, Refused> {
    let house = &reading.house;
    let asked = asked.map_err(|fault| Refused::new(fault, house.now()))?;
    let (shared, product, public) = (Arc::clone(house), reading.product, reading.public);
    let read =
        house.store.read(move |tx| (shared.products[product].product.publics[public].read)(tx, &asked)).await;
    read.map_err(|fault| Refused::new(fault, house.now()))
}

fn cached(headers: &HeaderMap, json: String, max_age_seconds: u32, told: Told) -> Response<Body> {
    with_etag(headers, json.into(), "application/json", max_age_seconds, told)
}

/// An answer that caches may keep, or `304` when the caller has it already.
pub(crate) fn with_etag(
    headers: &HeaderMap,
    content: bytes::Bytes,
    media_type: &'static str,
    max_age_seconds: u32,
    told: Told,
) -> Response<Body> {
    let tag = Tag::new(&hex(&Sha256::digest(&content)[..12]));
    tagged(&tag, headers, content, media_type, max_age_seconds, told)
}

/// The name of one state of a content, as `ETag` says it.
pub(crate) struct Tag(String);

impl Tag {
    /// `mark` is hex.
    pub(crate) fn new(mark: &str) -> Self {
        Self(format!("\"{mark}\""))
    }

    pub(crate) fn mark(&self) -> &str {
        self.0.trim_matches('"')
    }

    /// Whether the caller has this state already.
    pub(crate) fn is_known(&self, headers: &HeaderMap) -> bool {
        headers.get_all(header::IF_NONE_MATCH).iter().any(|value| {
            value.to_str().is_ok_and(|list| {
                list.split(',')
                    .map(str::trim)
                    .any(|item| item == "*" || item.trim_start_matches("W/") == self.0)
            })
        })
    }
}

/// The same for content whose state has a name; it is not looked at when the caller has it.
pub(crate) fn tagged(
    tag: &Tag,
    headers: &HeaderMap,
    content: bytes::Bytes,
    media_type: &'static str,
    max_age_seconds: u32,
    told: Told,
) -> Response<Body> {
    let fresh = tag.is_known(headers);
    let mut response = Response::new(if fresh { Body::empty() } else { Body::from(content) });
    if fresh {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&tag.0) {
        headers.insert(header::ETAG, value);
    }
    if let Ok(value) = HeaderValue::from_str(&format!("public, max-age={max_age_seconds}")) {
        headers.insert(header::CACHE_CONTROL, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response.extensions_mut().insert(told);
    response
}
