//! The reader's choice of light or dark, in a cookie; made by a form, so that it needs no script.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use kernel::{Fault, Kind};
use look::shell::Theme;

use super::page::{self, Asking};
use crate::{answer::Told, body, config::Door, house::House};

const COOKIE: &str = "arena_theme";
const AGE_SECONDS: u32 = 365 * 24 * 3600;
/// The form has two short fields.
const FORM_BYTES_MAX: usize = 2_048;

/// What the reader chose.
pub(crate) fn of(headers: &HeaderMap) -> Option<Theme> {
    headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).find_map(|cookies| {
        cookies
            .split(';')
            .find_map(|cookie| Theme::parse(cookie.trim().strip_prefix(COOKIE)?.strip_prefix('=')?))
    })
}

/// Keeps the choice and sends the reader back.
pub(crate) async fn choose(State(house): State<Arc<House>>, request: Request) -> Response<Body> {
    let told = Told { operation: Some("/theme"), ..Told::by(Door::Page) };
    if *request.method() != Method::POST {
        let fault = Fault::of(Kind::MethodNotAllowed, "this path takes POST; use the button of a page");
        let mut response = page::error(&house, &Asking::of(&request), &fault, told);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    let (parts, content) = request.into_parts();
    let asking = Asking::of_parts(&parts);
    let refuse = |fault: &Fault| page::error(&house, &asking, fault, told);
    let form = match body::read(content, FORM_BYTES_MAX).await {
        Ok(form) => form,
        Err(fault) => return refuse(&fault),
    };
    let field = |name: &str| {
        url::form_urlencoded::parse(&form).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    let Some(theme) = field("to").as_deref().and_then(Theme::parse) else {
        return refuse(&Fault::invalid("the theme is neither light nor dark; choose one of them"));
    };
    let back = field("back").filter(|path| is_own_path(path)).unwrap_or_else(|| "/".to_owned());
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    let cookie =
        format!("{COOKIE}={}; Path=/; Max-Age={AGE_SECONDS}; SameSite=Lax; HttpOnly", theme.as_str());
    if let (Ok(location), Ok(cookie)) = (HeaderValue::from_str(&back), HeaderValue::from_str(&cookie)) {
        headers.insert(header::LOCATION, location);
        headers.insert(header::SET_COOKIE, cookie);
    }
    response.extensions_mut().insert(told);
    response
}

/// A path of this server: one slash, and nothing that a browser would take for a host.
pub(crate) fn is_own_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_gone_back_to() {
        for (path, ok) in [
            ("/", true),
            ("/duels/abc", true),
            ("//evil.example", false),
            ("/\\evil.example", false),
            ("https://evil.example", false),
            ("", false),
            ("/a\r\nSet-Cookie: x", false),
            ("/é", false),
        ] {
            assert_eq!(is_own_path(path), ok, "{path:?}");
        }
    }

    #[test]
    fn the_cookie_is_read_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("a=b; arena_theme=dark; c=d"));
        assert_eq!(of(&headers), Some(Theme::Dark));
        headers.insert(header::COOKIE, HeaderValue::from_static("arena_theme=<script>"));
        assert_eq!(of(&headers), None);
    }
}
