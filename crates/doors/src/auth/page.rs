//! Pages about a person: never kept by a cache, never in a frame of somebody else's.

use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, header, request::Parts};
use kernel::{Fault, operation::Page};
use look::{Markup, html};

use super::{Auth, browser::Browser};
use crate::{
    answer::Told,
    config::Door,
    status,
    web::page::{self, Asking},
};

pub(super) fn told(operation: &'static str) -> Told {
    Told { operation: Some(operation), ..Told::by(Door::Page) }
}

/// A page with a form or with what is a person's own.
pub(super) fn show(
    auth: &Auth,
    parts: &Parts,
    browser: &Browser,
    title: &str,
    main: &Markup,
    told: Told,
) -> Response<Body> {
    let page = Page {
        title: title.to_owned(),
        description: "Sign in and manage your account.".to_owned(),
        main: main.0.clone(),
    };
    let mut response = page::private(&auth.house, &Asking::of_parts(parts), &page, told);
    browser.keep(auth, &mut response);
    response
}

/// The same page once more, with what was wrong.
pub(super) fn again(mut response: Response<Body>, fault: &Fault) -> Response<Body> {
    *response.status_mut() = status::of(fault.kind);
    if let Some(seconds) = fault.retry_after_seconds {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(0)));
    }
    response
}

/// What was wrong, above a form.
pub(super) fn problem(fault: Option<&Fault>) -> Markup {
    html! {
        @if let Some(fault) = fault { p class="problem" role="alert" { (page::sentence(&fault.message)) } }
    }
}

/// The hidden field of every form.
pub(super) fn token(browser: &Browser) -> Markup {
    html! { input type="hidden" name="form" value=(browser.token()); }
}

pub(super) fn refused(auth: &Auth, parts: &Parts, fault: &Fault, told: Told) -> Response<Body> {
    page::error(&auth.house, &Asking::of_parts(parts), fault, told)
}

/// Sends the browser on; the method becomes GET.
pub(super) fn go(to: &str, told: Told) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    match HeaderValue::from_str(to) {
        Ok(to) => headers.insert(header::LOCATION, to),
        Err(_) => headers.insert(header::LOCATION, HeaderValue::from_static("/")),
    };
    response.extensions_mut().insert(told);
    response
}

/// Where a form leads afterwards: a path of this server, else the account.
pub(super) fn back(wanted: Option<&str>) -> String {
    wanted.filter(|path| crate::web::is_own_path(path)).unwrap_or("/account").to_owned()
}

/// `path?back=…`.
pub(super) fn with_back(path: &str, back: &str) -> String {
    let back: String = url::form_urlencoded::byte_serialize(back.as_bytes()).collect();
    format!("{path}?back={back}")
}
