//! The documents and pages that are made once from the catalog and served from memory, and the home page.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    routing::{MethodRouter, any},
};
use bytes::Bytes;
use http::{HeaderValue, Response, header};
use kernel::operation::Page as Shown;

use super::{assets, docs, feeds, live, llms, openapi, page, theme};
use crate::{
    answer::Told,
    config::{Door, WiringError},
    house::House,
    publics::with_etag,
};

/// How long a cache may keep a document that only a new release changes.
const DOCUMENT_AGE_SECONDS: u32 = 300;
/// How long a cache may keep what has its content in its name.
const ASSET_AGE_SECONDS: u32 = 365 * 24 * 3600;

pub(crate) struct Page {
    pub(crate) path: &'static str,
    pub(crate) route: MethodRouter,
}

enum Content {
    Page(Shown),
    /// A document for programs, a style sheet, a picture.
    Plain {
        media_type: &'static str,
        age_seconds: u32,
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
    let document = |media_type, text: String| Content::Plain {
        media_type,
        age_seconds: DOCUMENT_AGE_SECONDS,
        text: text.into(),
    };
    let asset = |media_type, text: &'static str| Content::Plain {
        media_type,
        age_seconds: ASSET_AGE_SECONDS,
        text: Bytes::from_static(text.as_bytes()),
    };
    let icon = || document("image/svg+xml", look::ICON.to_owned());
    let contents = [
        ("/docs", Content::Page(docs::page(house))),
        (assets::paths().css.as_str(), asset("text/css; charset=utf-8", look::CSS)),
        (assets::paths().script.as_str(), asset("text/javascript; charset=utf-8", look::SCRIPT)),
        (assets::paths().passkeys.as_str(), asset("text/javascript; charset=utf-8", look::PASSKEYS_SCRIPT)),
        ("/assets/icon.svg", icon()),
        ("/favicon.ico", icon()),
        ("/robots.txt", document("text/plain; charset=utf-8", "User-agent: *\nAllow: /\n".to_owned())),
        ("/llms.txt", document("text/plain; charset=utf-8", llms::document(house))),
        ("/openapi.json", document("application/json", openapi::document(house)?.to_string())),
    ];
    let mut pages: Vec<Page> = contents
        .into_iter()
        .map(|(path, content)| {
            let served = Served { house: Arc::clone(house), path, content: Arc::new(content) };
            Page { path, route: any(serve).with_state(served) }
        })
        .collect();
    let state = || Arc::clone(house);
    let feed = |path| any(feeds::serve).with_state(feeds::Feed { house: state(), path });
    pages.extend([
        Page { path: "/", route: any(page::home).with_state(state()) },
        Page { path: "/live", route: any(live::serve).with_state(state()) },
        Page { path: feeds::ATOM, route: feed(feeds::ATOM) },
        Page { path: feeds::JSON, route: feed(feeds::JSON) },
        Page { path: "/theme", route: any(theme::choose).with_state(state()) },
    ]);
    Ok(pages)
}

async fn serve(State(served): State<Served>, request: Request) -> Response<Body> {
    let told = Told { operation: Some(served.path), ..Told::by(Door::Page) };
    let asking = page::Asking::of(&request);
    if let Some(refusal) = page::refused_method(&served.house, &asking, told) {
        return refusal;
    }
    match &*served.content {
        Content::Plain { media_type, age_seconds, text } => {
            let mut response = with_etag(request.headers(), text.clone(), media_type, *age_seconds, told);
            response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            response
        }
        Content::Page(shown) => page::answered(&served.house, &asking, shown, DOCUMENT_AGE_SECONDS, told),
    }
}
