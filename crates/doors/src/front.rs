//! What stands in front of every route: request id, host check, time limit, one log line.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
};
use futures_util::FutureExt;
use http::{HeaderName, HeaderValue, Response};
use kernel::{Fault, Kind};
use tracing::Instrument;

use crate::{
    answer::{self, Told},
    config::{Door, RequestSeen},
    dispatch::Refused,
    house::House,
    mcp,
    request_id::{self, RequestId},
    web,
};

static CLOCK_HEADER: HeaderName = HeaderName::from_static("x-arena-clock");

pub(crate) async fn front(
    State(house): State<Arc<House>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let started = Instant::now();
    let id = RequestId::of(request.headers(), house.ids.as_ref());
    request.extensions_mut().insert(id.clone());
    let (method, uri) = (request.method().clone(), request.uri().clone());
    // The path is printed quoted and without its query, which may hold what a log must not.
    let span = tracing::info_span!("request", id = id.as_str(), %method, path = ?uri.path());
    let mut response = answered(&house, request, next).instrument(span.clone()).await;
    let headers = response.headers_mut();
    headers.insert(&request_id::HEADER, id.0);
    if let Some(speed) = house.clock_speed()
        && let Ok(speed) = HeaderValue::from_str(&speed)
    {
        headers.insert(&CLOCK_HEADER, speed);
    }
    let told = response.extensions_mut().remove::<Told>().unwrap_or(Told::by(Door::Nowhere));
    let (status, elapsed) = (response.status().as_u16(), started.elapsed());
    span.in_scope(|| {
        tracing::info!(
            door = told.door.name(),
            product = told.product,
            operation = told.operation,
            status,
            code = told.code,
            ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            "answered"
        );
    });
    if let Some(on_request) = &house.on_request {
        let Told { door, product, operation, code } = told;
        on_request(&RequestSeen { door, product, operation, status, code, elapsed });
    }
    response
}

async fn answered(house: &Arc<House>, request: Request, next: Next) -> Response<Body> {
    let path = Path::of(house, request.uri().path());
    if !path.is_open && !house.callers.host_is_ours(request.uri(), request.headers()) {
        return path.refuse(
            house,
            Fault::of(Kind::Foreign, "this server does not answer under that Host; use its public address"),
        );
    }
    // A browser that asked for a page gets one about what went wrong, too.
    let asking = (path.product.is_none() && web::page::wants_page(request.headers()))
        .then(|| web::page::Asking::of(&request));
    let refuse = |fault: Fault| match &asking {
        Some(asking) => web::page::error(house, asking, &fault, Told::by(Door::Nowhere)),
        None => path.refuse(house, fault),
    };
    let running = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(house.limits.request_time, running).await {
        Ok(Ok(response)) => response,
        Ok(Err(_panic)) => refuse(
            Fault::of(
                Kind::Internal,
                "something went wrong on our side and the outcome is unknown; look at the state before repeating",
            )
            .with_context("a handler panicked"),
        ),
        Err(_elapsed) => refuse(
            Fault::of(
                Kind::Unavailable,
                format!(
                    "the request took longer than {} seconds; a change may have been made, so read the state before you repeat it",
                    house.limits.request_time.as_secs()
                ),
            ),
        ),
    }
}

/// In which envelope a refusal of this path is written.
struct Path {
    product: Option<usize>,
    is_mcp: bool,
    /// Answers probes that know no host name.
    is_open: bool,
}

impl Path {
    fn of(house: &House, path: &str) -> Self {
        let path = path.strip_suffix('/').unwrap_or(path);
        let at_mcp = house.products.iter().position(|m| m.product.mcp_path == path);
        let at_mcp = at_mcp.or_else(|| (path == mcp::ROOT_PATH).then_some(house.root));
        let under = |prefix: &str| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        Self {
            product: at_mcp.or_else(|| house.products.iter().position(|m| under(m.product.rest_prefix))),
            is_mcp: at_mcp.is_some(),
            is_open: matches!(path, "/healthz" | "/readyz"),
        }
    }

    fn refuse(&self, house: &House, fault: Fault) -> Response<Body> {
        let product = self.product.map(|index| &house.products[index].product);
        let door = if self.is_mcp { Door::Mcp } else { Door::Nowhere };
        let told = Told { product: product.map(|p| p.name), ..Told::by(door) };
        match product {
            Some(product) if self.is_mcp => mcp::refusal(product, &fault, told),
            Some(product) => answer::refused(product, &Refused::new(fault, house.now()), told),
            None => answer::plain_refusal(&fault, told),
        }
    }
}

/// The answer for a path that no route takes.
pub(crate) async fn nowhere(State(house): State<Arc<House>>, request: Request) -> Response<Body> {
    let fault =
        Fault::of(Kind::NotFound, "nothing is at this path; /llms.txt and /openapi.json list what is");
    let path = Path::of(&house, request.uri().path());
    // Clients look under /.well-known for what only programs read.
    if path.product.is_none() && !request.uri().path().starts_with("/.well-known/") {
        return web::page::error(&house, &web::page::Asking::of(&request), &fault, Told::by(Door::Nowhere));
    }
    path.refuse(&house, fault)
}
