//! Reads a request body within its limits: size while it streams, depth before any parser sees it.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use kernel::{Fault, Kind};

/// Reads the whole body, at most `max` bytes of it.
pub(crate) async fn read(mut body: axum::body::Body, max: usize) -> Result<Bytes, Fault> {
    let too_large =
        || Fault::of(Kind::TooLarge, format!("the body is larger than {max} bytes; send a smaller one"));
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Fault::invalid("the body broke off; send the request again").with_context(error)
        })?;
        let Ok(data) = frame.into_data() else { continue };
        let so_far = first.as_ref().map_or(0, Bytes::len) + rest.len();
        if data.len() > max.saturating_sub(so_far) {
            return Err(too_large());
        }
        // Nearly every body is one frame, which is then passed on without a copy.
        match &first {
            None => first = Some(data),
            Some(head) => {
                if rest.is_empty() {
                    rest.extend_from_slice(head);
                    first = Some(Bytes::new());
                }
                rest.extend_from_slice(&data);
            }
        }
    }
    Ok(if rest.is_empty() { first.unwrap_or_default() } else { rest.freeze() })
}

/// Whether brackets outside strings nest deeper than `max`. Says nothing about the grammar.
pub(crate) fn is_deeper_than(json: &[u8], max: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in json {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > max {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether the header says JSON in UTF-8.
pub(crate) fn is_json(headers: &http::HeaderMap) -> bool {
    let mut values = headers.get_all(http::header::CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next().and_then(|value| value.to_str().ok()), values.next()) else {
        return false;
    };
    let (essence, parameters) = value.split_once(';').unwrap_or((value, ""));
    essence.trim().eq_ignore_ascii_case("application/json")
        && parameters.split(';').all(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            !name.trim().eq_ignore_ascii_case("charset")
                || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_strings() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(!is_deeper_than(nested(32).as_bytes(), 32));
        assert!(is_deeper_than(nested(33).as_bytes(), 32));
        assert!(!is_deeper_than(br#"{"a":"[[[[[[","b":"\"[[[[","c":"\\"}"#, 1));
        assert!(is_deeper_than(br#"{"a":"\\",  "b":[{}]}"#, 2));
        assert!(!is_deeper_than(b"]]]]{}", 1), "stray closers do not hide anything");
        assert!(is_deeper_than("[".repeat(100_000).as_bytes(), 32));
    }

    #[test]
    fn media_types() {
        for (value, ok) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; charset=latin1", false),
            ("text/json", false),
            ("application/jsonp", false),
            ("", false),
        ] {
            let mut headers = http::HeaderMap::new();
            headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static(value));
            assert_eq!(is_json(&headers), ok, "{value}");
        }
        assert!(!is_json(&http::HeaderMap::new()));
    }
}
