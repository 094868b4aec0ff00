//! The id that ties an answer to its log lines.

use http::{HeaderMap, HeaderName, HeaderValue};
use kernel::id::Ids;

pub(crate) static HEADER: HeaderName = HeaderName::from_static("x-request-id");

const REQUEST_ID_CHARS_MAX: usize = 64;

/// The id of the current request, in the request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) HeaderValue);

impl RequestId {
    /// The caller's own id when it is harmless in a log line, else a new one.
    pub(crate) fn of(headers: &HeaderMap, ids: &dyn Ids) -> Self {
        let own = headers.get(&HEADER).filter(|value| is_sane(value.as_bytes()));
        Self(own.cloned().unwrap_or_else(|| {
            HeaderValue::from_str(&ids.slug()).unwrap_or(HeaderValue::from_static("unknown"))
        }))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or("unknown")
    }
}

fn is_sane(id: &[u8]) -> bool {
    (1..=REQUEST_ID_CHARS_MAX).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_ids_are_taken_over() {
        for (id, sane) in [
            ("abc-DEF_123", true),
            ("", false),
            ("a b", false),
            ("a\"b", false),
            (&"x".repeat(64), true),
            (&"x".repeat(65), false),
        ] {
            assert_eq!(is_sane(id.as_bytes()), sane, "{id}");
        }
    }
}
