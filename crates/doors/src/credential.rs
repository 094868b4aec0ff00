//! Finds the credential of a request: one scheme, in a header, never in the URL.

use http::{HeaderMap, HeaderName, Uri, header};

static KEY_HEADER: HeaderName = HeaderName::from_static("x-arena-key");

/// The longest credential that is looked at.
const CREDENTIAL_CHARS_MAX: usize = 4096;

/// Query parameters in which clients are known to put tokens.
const TOKEN_PARAMETERS: [&str; 8] =
    ["access_token", "api_key", "apikey", "auth", "bearer", "key", "token", "x-arena-key"];

/// What a request presents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    Absent,
    Token(String),
    /// It cannot be used; the text says why and what to do.
    Unusable(&'static str),
}

impl Credential {
    pub(crate) fn of(uri: &Uri, headers: &HeaderMap) -> Self {
        if uri.query().is_some_and(names_a_token) {
            return Self::Unusable(
                "a credential in the URL ends up in logs; send it as `Authorization: Bearer …` instead",
            );
        }
        let mut bearer = headers.get_all(header::AUTHORIZATION).iter();
        let mut key = headers.get_all(&KEY_HEADER).iter();
        let token = match (bearer.next(), key.next()) {
            (None, None) => return Self::Absent,
            (Some(_), Some(_)) => {
                return Self::Unusable(
                    "two credentials were sent; send either `Authorization` or `x-arena-key`",
                );
            }
            (Some(value), None) => value.to_str().ok().and_then(bearer_token),
            (None, Some(value)) => value.to_str().ok().map(str::trim),
        };
        if bearer.next().is_some() || key.next().is_some() {
            return Self::Unusable("the credential header was sent twice; send it once");
        }
        match token {
            Some(token) if is_token(token) => Self::Token(token.to_owned()),
            _ => Self::Unusable("the credential is malformed; send `Authorization: Bearer arena_sk_…`"),
        }
    }
}

fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn is_token(text: &str) -> bool {
    (1..=CREDENTIAL_CHARS_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

fn names_a_token(query: &str) -> bool {
    query.split('&').any(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        value.starts_with("arena_sk_")
            || value.starts_with("arena_at_")
            || TOKEN_PARAMETERS.iter().any(|known| known.eq_ignore_ascii_case(name))
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn one_scheme_in_one_header() {
        for (uri, headers, wanted) in [
            ("/", vec![], Some(Credential::Absent)),
            ("/", vec![("authorization", "Bearer abc")], Some(Credential::Token("abc".into()))),
            ("/", vec![("authorization", "bearer  abc ")], Some(Credential::Token("abc".into()))),
            ("/", vec![("x-arena-key", "abc")], Some(Credential::Token("abc".into()))),
            ("/?page=2", vec![("x-arena-key", "abc")], Some(Credential::Token("abc".into()))),
            ("/", vec![("authorization", "Basic abc")], None),
            ("/", vec![("authorization", "Bearer")], None),
            ("/", vec![("authorization", "Bearer ")], None),
            ("/", vec![("authorization", "Bearer a b")], None),
            ("/", vec![("x-arena-key", "")], None),
            ("/", vec![("authorization", "Bearer a"), ("x-arena-key", "a")], None),
            ("/", vec![("authorization", "Bearer a"), ("authorization", "Bearer a")], None),
            ("/", vec![("x-arena-key", "a"), ("x-arena-key", "a")], None),
            ("/?access_token=x", vec![], None),
            ("/?Token=x", vec![("authorization", "Bearer a")], None),
            ("/?q=arena_sk_x", vec![], None),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(name, HeaderValue::from_static(value));
            }
            let got = Credential::of(&uri.parse().unwrap(), &map);
            match wanted {
                Some(wanted) => assert_eq!(got, wanted),
                None => assert!(matches!(got, Credential::Unusable(_)), "{uri} {map:?} gave {got:?}"),
            }
        }
    }
}
