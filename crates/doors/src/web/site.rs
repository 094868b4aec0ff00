//! The pages and documents that are made once from the catalog and served from memory.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    routing::{MethodRouter, any},
};
use bytes::Bytes;
use http::{HeaderValue, Method, Response, header};
use kernel::{Fault, Kind};

use super::{
    docs, home,
    html::{self, Html},
    llms, openapi,
};
use crate::{
    answer::{self, Told},
    config::{Door, WiringError},
    house::House,
    publics::with_etag,
};

/// How long a cache may keep a document that only a new release changes.
const DOCUMENT_AGE_SECONDS: u32 = 300;

pub(crate) struct Page {
    pub(crate) path: &'static str,
    pub(crate) route: MethodRouter,
}

enum Content {
    Html(Html),
    /// A document for programs, or a style sheet.
    Plain {
        media_type: &'static str,
        text: Bytes,
    },
}

#[derive(Clone)]
struct Served {
    house: Arc<House>,
    path: &'static str,
    content: Arc<Content>,
}

pub(crate) fn pages(house: &Arc<House>) -> Result<Vec<Page>, WiringError> {
    let plain = |media_type, text: String| Content::Plain { media_type, text: text.into() };
    let contents = [
        ("/", Content::Html(home::page(house))),
        ("/docs", Content::Html(docs::page(house))),
        ("/assets/docs.css", plain("text/css; charset=utf-8", include_str!("../assets/docs.css").to_owned())),
        ("/llms.txt", plain("text/plain; charset=utf-8", llms::document(house))),
        ("/openapi.json", plain("application/json", openapi::document(house)?.to_string())),
    ];
    Ok(contents
        .into_iter()
        .map(|(path, content)| {
            let served = Served { house: Arc::clone(house), path, content: Arc::new(content) };
            Page { path, route: any(serve).with_state(served) }
        })
        .collect())
}

async fn serve(State(served): State<Served>, request: Request) -> Response<Body> {
    let told = Told { operation: Some(served.path), ..Told::by(Door::Page) };
    if *request.method() != Method::GET && *request.method() != Method::HEAD {
        let fault = Fault::of(Kind::MethodNotAllowed, "this page takes GET; use that method");
        let mut response = answer::plain_refusal(&fault, told);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let headers = request.headers();
    match &*served.content {
        Content::Plain { media_type, text } => {
            let mut response = with_etag(headers, text.clone(), media_type, DOCUMENT_AGE_SECONDS, told);
            response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            response
        }
        Content::Html(page) => {
            let note = served.house.clock_speed().map(|speed| html::clock_note(&speed)).unwrap_or_default();
            let text = [page.head.as_str(), &note, &page.rest].concat();
            let mut response =
                with_etag(headers, text.into(), "text/html; charset=utf-8", DOCUMENT_AGE_SECONDS, told);
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(html::POLICY));
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
            response
        }
    }
}
