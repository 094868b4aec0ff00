//! The one place that turns a kind of fault into an HTTP status.

use http::StatusCode;
use kernel::Kind;

pub(crate) const fn of(kind: Kind) -> StatusCode {
    match kind {
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::Unauthenticated => StatusCode::UNAUTHORIZED,
        Kind::Forbidden | Kind::Foreign => StatusCode::FORBIDDEN,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::UnsupportedMedia => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Kind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The code of a fault that no product names: an unknown path, a wrong host.
pub(crate) const fn code(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "INVALID_REQUEST",
        Kind::Unauthenticated => "UNAUTHORIZED",
        Kind::Forbidden => "FORBIDDEN",
        Kind::Foreign => "ORIGIN_NOT_ALLOWED",
        Kind::NotFound => "ROUTE_NOT_FOUND",
        Kind::MethodNotAllowed => "METHOD_NOT_ALLOWED",
        Kind::Conflict => "CONFLICT",
        Kind::TooLarge => "PAYLOAD_TOO_LARGE",
        Kind::UnsupportedMedia => "UNSUPPORTED_MEDIA_TYPE",
        Kind::RateLimited => "RATE_LIMITED",
        Kind::Unavailable => "UNAVAILABLE",
        Kind::Internal => "INTERNAL",
    }
}

/// Every code of [`code`] with its status and meaning, for documentation.
pub fn own_codes() -> Vec<(&'static str, u16, &'static str)> {
    Kind::ALL.into_iter().map(|kind| (code(kind), of(kind).as_u16(), meaning(kind))).collect()
}

const fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "The request breaks a rule; the message says which.",
        Kind::Unauthenticated => "No credential was sent, or it does not hold.",
        Kind::Forbidden => "Who asks may not do this; the message says why.",
        Kind::Foreign => "The request comes from a foreign origin or names a foreign host.",
        Kind::NotFound => "Nothing has this address.",
        Kind::MethodNotAllowed => "The address exists for the methods that the Allow header lists.",
        Kind::Conflict => "The state forbids it now.",
        Kind::TooLarge => "The request is over its limit.",
        Kind::UnsupportedMedia => "The body is not of a media type that is read here.",
        Kind::RateLimited => "Too many attempts; see Retry-After.",
        Kind::Unavailable => "The server cannot do it now; see Retry-After.",
        Kind::Internal => "A mistake of the server's; its operator finds it in the log by the request id.",
    }
}
