//! Forms as browsers and clients send them: small, no field twice, and from our own pages where a person acts.

use std::collections::BTreeMap;

use axum::{body::Body, extract::Request};
use http::{HeaderMap, Method, header, request::Parts};
use kernel::{Fault, Kind};

use super::{Auth, browser::Browser};
use crate::body;

/// The longest form: a password, an address and some words.
pub(super) const FORM_BYTES_MAX: usize = 16 * 1024;

/// Fields by name.
#[derive(Debug, Default)]
pub(super) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Reads `a=1&b=2`; a field that comes twice makes the whole ambiguous.
    fn parse(text: &[u8]) -> Result<Self, Fault> {
        let mut fields = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(text) {
            if fields.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err(Fault::invalid("a field was sent twice; send each once"));
            }
        }
        Ok(Self(fields))
    }

    /// Those of a request's address.
    pub(super) fn of_query(parts: &Parts) -> Result<Self, Fault> {
        Self::parse(parts.uri.query().unwrap_or_default().as_bytes())
    }

    /// A field that is there and not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }
}

/// Reads the body of a POST as a form.
pub(super) async fn read(content: Body, headers: &HeaderMap) -> Result<Fields, Fault> {
    let declared =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = declared.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(Fault::of(
            Kind::UnsupportedMedia,
            "the body is not a form; send Content-Type: application/x-www-form-urlencoded",
        ));
    }
    Fields::parse(&body::read(content, FORM_BYTES_MAX).await?)
}

/// Refuses what is neither GET nor HEAD, where nothing is changed.
pub(super) fn reads(parts: &Parts) -> Result<(), Fault> {
    match parts.method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Fault::of(Kind::MethodNotAllowed, "this path takes GET; use that method")),
    }
}

/// The fields of a form that a person sent from a page of ours: the browser says so, and the form carries
/// what only pages made for this browser do.
pub(super) async fn own(auth: &Auth, request: Request) -> Result<(Parts, Browser, Fields), (Parts, Fault)> {
    let (parts, content) = request.into_parts();
    if parts.method != Method::POST {
        return Err((
            parts,
            Fault::of(Kind::MethodNotAllowed, "this path takes POST; use the button of its page"),
        ));
    }
    let foreign = !auth.house.callers.origin_is_ours(&parts.headers) || is_cross_site(&parts.headers);
    if foreign {
        let fault = Fault::of(
            Kind::Foreign,
            "the form came from a page of another site; use the page of this server",
        );
        return Err((parts, fault));
    }
    let fields = match read(content, &parts.headers).await {
        Ok(fields) => fields,
        Err(fault) => return Err((parts, fault)),
    };
    let browser = match Browser::of(auth, &parts.headers).await {
        Ok(browser) => browser,
        Err(fault) => return Err((parts, fault)),
    };
    match browser.owns(fields.get("form")) {
        Ok(()) => Ok((parts, browser, fields)),
        Err(fault) => Err((parts, fault)),
    }
}

/// What browsers say of where a request was begun.
fn is_cross_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|value| !matches!(value.as_bytes(), b"same-origin" | b"none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_once() {
        let fields = Fields::parse(b"a=1+2&b=%C3%A9&empty=").unwrap();
        assert_eq!((fields.get("a"), fields.get("b"), fields.get("empty")), (Some("1 2"), Some("é"), None));
        assert!(Fields::parse(b"a=1&a=2").is_err());
        assert!(Fields::parse(b"").unwrap().get("a").is_none());
    }
}
