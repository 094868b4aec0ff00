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
        Kind::Unauthenticated => "UNAUTHENTICATED",
        Kind::Forbidden => "FORBIDDEN",
        Kind::Foreign => "ORIGIN_NOT_ALLOWED",
        Kind::NotFound => "NOT_FOUND",
        Kind::MethodNotAllowed => "METHOD_NOT_ALLOWED",
        Kind::Conflict => "CONFLICT",
        Kind::TooLarge => "PAYLOAD_TOO_LARGE",
        Kind::UnsupportedMedia => "UNSUPPORTED_MEDIA_TYPE",
        Kind::RateLimited => "RATE_LIMITED",
        Kind::Unavailable => "UNAVAILABLE",
        Kind::Internal => "INTERNAL",
    }
}
