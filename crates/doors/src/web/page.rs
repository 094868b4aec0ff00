//! Pages of products, the home page and pages about errors, each in the shell.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, Request, State, rejection::PathRejection},
};
use http::{HeaderMap, HeaderValue, Method, Response, header};
use kernel::{Fault, Kind, id::hex, operation::Page};
use look::shell::{Picture, Share, Shell};
use sha2::{Digest, Sha256};

use super::{
    assets, cards, home,
    html::{POLICY, policy},
};
use crate::{
    answer::{self, Told},
    config::Door,
    house::House,
    publics::{PARAMETER_BYTES_MAX, with_etag},
    request_id::RequestId,
    status,
};

/// Where a button of the sign-in page may lead: other issuers, in development on this machine.
const OTHER_ISSUERS: &str = "https: http://127.0.0.1:* http://localhost:*";
/// How long a copy of the home page may be reused.
const HOME_AGE_SECONDS: u32 = 1;

/// One page of a product.
#[derive(Clone)]
pub(crate) struct Showing {
    pub(crate) house: Arc<House>,
    pub(crate) product: usize,
    pub(crate) page: usize,
}

/// What a page needs to know of a request whose body it does not read.
pub(crate) struct Asking {
    method: Method,
    headers: HeaderMap,
    path: String,
    /// With its query.
    back: String,
    id: Option<RequestId>,
}

impl Asking {
    pub(crate) fn of(request: &Request) -> Self {
        Self {
            method: request.method().clone(),
            headers: request.headers().clone(),
            path: request.uri().path().to_owned(),
            back: request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            id: request.extensions().get().cloned(),
        }
    }

    pub(crate) fn of_parts(parts: &http::request::Parts) -> Self {
        Self {
            method: parts.method.clone(),
            headers: parts.headers.clone(),
            path: parts.uri.path().to_owned(),
            back: parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            id: parts.extensions.get().cloned(),
        }
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(crate) fn only_reads(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD)
    }
}

/// Whether the caller is a browser that wants to show a page: it names `text/html`, and does not like
/// JSON better.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let [mut page, mut json] = [0, 0];
    let lists = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    for item in lists.flat_map(|list| list.split(',')) {
        let mut parts = item.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let liking = parts.find_map(|part| part.strip_prefix("q=")).map_or(1000, permille);
        if media_type.eq_ignore_ascii_case("text/html") {
            page = page.max(liking);
        } else if media_type.eq_ignore_ascii_case("application/json") {
            json = json.max(liking);
        }
    }
    page > 0 && page >= json
}

/// A weight from 0 to 1 in permille; 0 for what is none.
fn permille(weight: &str) -> u32 {
    let (whole, part) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if part.len() > 3 || !digits(part) {
        return 0;
    }
    match whole {
        "1" => 1000,
        "0" => format!("{part:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

/// A path that is only a page.
pub(crate) async fn serve(
    State(showing): State<Showing>,
    parameter: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response<Body> {
    let Showing { house, product, page } = showing;
    let asking = Asking::of(&request);
    drop(request);
    show(&house, product, page, parameter.ok().map(|Path(text)| text), &asking).await
}

/// The page, whatever the caller accepts.
pub(crate) async fn show(
    house: &Arc<House>,
    product: usize,
    page: usize,
    parameter: Option<String>,
    asking: &Asking,
) -> Response<Body> {
    let read = &house.products[product].product.pages.pages[page];
    let told = Told {
        product: Some(house.products[product].product.name),
        operation: Some(read.id),
        ..Told::by(Door::Page)
    };
    if let Some(refusal) = refused_method(house, asking, told) {
        return refusal;
    }
    let parameter = if read.path.contains('{') {
        parameter.filter(|text| text.len() <= PARAMETER_BYTES_MAX)
    } else {
        Some(String::new())
    };
    let (max_age, shared) = (read.max_age_seconds, Arc::clone(house));
    let found = match parameter {
        None => Err(Fault::of(Kind::NotFound, "nothing has this id; take one from a list")),
        Some(parameter) => {
            house
                .store
                .read(move |tx| (shared.products[product].product.pages.pages[page].read)(tx, &parameter))
                .await
        }
    };
    match found {
        Ok(page) => {
            let card = cards::path_of(house, product, read.path, &asking.path);
            let card = card.map_or(CardOf::Site, CardOf::Page);
            answered_with(house, asking, &page, &card, max_age, told)
        }
        Err(fault) => error(house, asking, &fault, told),
    }
}

/// The home page: who we are, what is going on, and how to connect.
pub(crate) async fn home(State(house): State<Arc<House>>, request: Request) -> Response<Body> {
    let told = Told { operation: Some("/"), ..Told::by(Door::Page) };
    let asking = Asking::of(&request);
    drop(request);
    if let Some(refusal) = refused_method(&house, &asking, told) {
        return refusal;
    }
    let shared = Arc::clone(&house);
    let fronts = house
        .store
        .read(move |tx| {
            shared
                .products
                .iter()
                .filter_map(|mounted| mounted.product.pages.front.as_ref())
                .map(|front| front(tx))
                .collect::<Result<Vec<_>, _>>()
        })
        .await;
    match fronts {
        Ok(fronts) => {
            let page = home::page(&house, &fronts);
            answered(&house, &asking, &page, HOME_AGE_SECONDS, told)
        }
        Err(fault) => error(&house, &asking, &fault, told),
    }
}

/// The refusal of a method that pages do not take.
pub(crate) fn refused_method(house: &House, asking: &Asking, told: Told) -> Option<Response<Body>> {
    if asking.only_reads() {
        return None;
    }
    let fault = Fault::of(Kind::MethodNotAllowed, "this page takes GET; use that method");
    let mut response = error(house, asking, &fault, told);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    Some(response)
}

/// Which card links to a page show.
enum CardOf {
    /// Nobody shares this page.
    None,
    Site,
    /// That of the page, at its path.
    Page(String),
}

/// A page in the shell, with the headers of every page.
pub(crate) fn answered(
    house: &House,
    asking: &Asking,
    page: &Page,
    max_age_seconds: u32,
    told: Told,
) -> Response<Body> {
    answered_with(house, asking, page, &CardOf::Site, max_age_seconds, told)
}

fn answered_with(
    house: &House,
    asking: &Asking,
    page: &Page,
    card: &CardOf,
    max_age_seconds: u32,
    told: Told,
) -> Response<Body> {
    let document = shell(house, asking, page, card, false);
    let mut response =
        with_etag(&asking.headers, document.into(), "text/html; charset=utf-8", max_age_seconds, told);
    dress(&mut response);
    // The theme is the reader's own.
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept, Cookie"));
    if let Ok(value) = HeaderValue::from_str(&format!("private, max-age={max_age_seconds}")) {
        response.headers_mut().insert(header::CACHE_CONTROL, value);
    }
    response
}

/// What went wrong, as a page for browsers and as JSON for programs.
pub(crate) fn error(house: &House, asking: &Asking, fault: &Fault, told: Told) -> Response<Body> {
    let mut response = answer::plain_refusal(fault, told);
    if !wants_page(&asking.headers) {
        return response;
    }
    let status = status::of(fault.kind);
    let page = Page {
        title: status.canonical_reason().unwrap_or("Error").to_owned(),
        description: "Something did not go as asked.".to_owned(),
        main: look::html! {
            h1 { (status.as_u16()) " · " (status.canonical_reason().unwrap_or("Error")) }
            p class="lead" { (sentence(&fault.message)) }
            p { a href="/" { "To the home page" } " · " a href="/docs" { "Documentation" } }
        }
        .into_string(),
    };
    let document = shell(house, asking, &page, &CardOf::None, true);
    *response.body_mut() = Body::from(document);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    dress(&mut response);
    response
}

/// A page about the reader alone: no cache keeps it.
pub(crate) fn private(house: &House, asking: &Asking, page: &Page, told: Told) -> Response<Body> {
    let mut response = Response::new(Body::from(shell(house, asking, page, &CardOf::None, false)));
    dress(&mut response);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(value) = HeaderValue::from_str(&policy(OTHER_ISSUERS)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, value);
    }
    response.extensions_mut().insert(told);
    response
}

/// Messages begin small, because programs put them after a code.
pub(crate) fn sentence(message: &str) -> String {
    let word = message.split(' ').next().unwrap_or_default();
    if word.contains('_') {
        // The name of a field, which has no capital.
        return format!("{}.", message.trim_end_matches('.'));
    }
    let mut scalars = message.chars();
    let first = scalars.next().map(|scalar| scalar.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", scalars.as_str().trim_end_matches('.'))
}

fn dress(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Other sites learn nothing. With `no-referrer` browsers would also hide from us that our own forms are ours.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

/// Networks keep the picture of an address, so one that tells something new is at a new one.
fn share<'h>(house: &'h House, page: &Page, card: &CardOf) -> Option<Share<'h>> {
    let path = match card {
        CardOf::None => return None,
        CardOf::Site => cards::SITE.to_owned(),
        CardOf::Page(path) => {
            let told = Sha256::digest(format!("{}\0{}", page.title, page.description));
            format!("{path}?v={}", hex(&told[..4]))
        }
    };
    let alt = match card {
        CardOf::Page(_) => format!("{}. {}", page.title, page.description),
        _ => format!("{}: agents negotiate here, with something at stake", house.server.title),
    };
    let picture = house.cards.as_ref().map(|cards| Picture { path, alt, size: cards.size() });
    Some(Share { base: &house.public_url, picture })
}

fn shell(house: &House, asking: &Asking, page: &Page, card: &CardOf, shows_id: bool) -> String {
    let share = share(house, page, card);
    let speed = house.clock_speed();
    let mut links: Vec<(&str, &str)> =
        house.products.iter().flat_map(|mounted| mounted.product.pages.links.iter().copied()).collect();
    links.push(("Docs", "/docs"));
    if house.has_accounts {
        links.push(("Account", "/account"));
    }
    Shell {
        name: &house.server.title,
        title: &page.title,
        description: &page.description,
        path: &asking.path,
        share: share.as_ref(),
        back: &asking.back,
        css: &assets::paths().css,
        script: &assets::paths().script,
        theme: super::theme::of(&asking.headers),
        clock_speed: speed.as_deref(),
        links: &links,
        request_id: asking.id.as_ref().map(RequestId::as_str).filter(|_| shows_id),
    }
    .page(&page.main)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_gets_what_it_likes_better() {
        for (accept, page) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("TEXT/HTML; charset=utf-8", true),
            ("text/html;q=0.001", true),
            ("application/json, text/html;q=0.9", false),
            ("application/json;q=0.5, text/html;q=0.9", true),
            ("text/html;q=0", false),
            ("text/html;q=0.000", false),
            ("text/html;q=none", false),
            ("text/html;q=1.000, application/json", true),
            ("application/json", false),
            ("*/*", false),
            ("text/htmlx", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(wants_page(&headers), page, "{accept}");
        }
        assert!(!wants_page(&HeaderMap::new()));
    }
}
