//! Why a sign-in failed, in words for the person before the browser. No secret, code or token is in it.

use std::fmt;

use crate::http::{ANSWER_BYTES_MAX, TIME_MAX};

/// What of the provider was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The document that says where everything else is.
    Discovery,
    /// The keys that its signatures are checked with.
    Keys,
    /// The exchange of a code.
    Token,
    /// Who a token belongs to.
    Person,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discovery => "description",
            Self::Keys => "list of keys",
            Self::Token => "exchange of codes",
            Self::Person => "account data",
        })
    }
}

/// Why nobody is signed in. Those that name the operator stay until the settings change here or there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    #[error("the sign-in was cancelled there; try again or choose another way")]
    Refused,
    #[error("the other service wants a verified e-mail address first; verify it there and try again")]
    UnverifiedEmail,
    #[error("the other service has trouble; try again in a few minutes or choose another way")]
    Busy,
    #[error("the other service's {0} could not be reached; try again in a minute or choose another way")]
    Unreachable(Part),
    #[error(
        "the other service's {0} took longer than {seconds} seconds; try again in a minute or choose another way",
        seconds = TIME_MAX.as_secs()
    )]
    TooSlow(Part),
    #[error(
        "the other service's {0} answered with the status {1}; try again in a few minutes or choose another way"
    )]
    Status(Part, u16),
    #[error("the other service's {0} leads elsewhere; tell the operator to check the issuer's address")]
    Redirect(Part),
    #[error(
        "the other service's {0} has more than {ANSWER_BYTES_MAX} bytes; choose another way and tell the operator"
    )]
    TooLarge(Part),
    #[error("the other service's {0} cannot be understood; choose another way and tell the operator")]
    Nonsense(Part),
    #[error("the other service's {0} has no safe address; choose another way and tell the operator")]
    Insecure(Part),
    #[error(
        "the other service describes itself as another issuer; tell the operator to set the issuer exactly as it does"
    )]
    ForeignDiscovery,
    #[error(
        "the answer came from another issuer than the one asked; begin again and do not follow links of others"
    )]
    ForeignAnswer,
    #[error("this sign-in took too long or was ended before; begin again")]
    CodeSpent,
    #[error("this sign-in cannot be continued; begin again")]
    BadSecrets,
    #[error(
        "this server is not known to the other service; tell the operator to check its client id and secret"
    )]
    InvalidClient,
    #[error(
        "this server's callback address is not known to the other service; tell the operator to register it there"
    )]
    UnknownCallback,
    #[error("the other service refused the request; choose another way and tell the operator")]
    RequestRefused,
    #[error(
        "the proof of the other service names another issuer; begin again, and tell the operator if it stays"
    )]
    WrongIssuer,
    #[error(
        "the proof of the other service is for somebody else's server; begin again, and tell the operator if it stays"
    )]
    WrongAudience,
    #[error(
        "the proof of the other service was asked for by somebody else; begin again, and tell the operator if it stays"
    )]
    WrongParty,
    #[error("the proof of the other service has expired; begin again")]
    Expired,
    #[error(
        "the proof of the other service is from the future; tell the operator to set this server's clock"
    )]
    ClockSkew,
    #[error("the proof of the other service belongs to another sign-in; begin again in this browser")]
    WrongNonce,
    #[error(
        "the proof of the other service is not signed in a way that is trusted; choose another way and tell the operator"
    )]
    ForbiddenAlgorithm,
    #[error("the proof of the other service is signed with an unknown key; try again in a minute")]
    UnknownKey,
    #[error(
        "the proof of the other service has a wrong signature; begin again, and tell the operator if it stays"
    )]
    BadSignature,
}

impl UpstreamError {
    /// What a provider means by the `error` of an answer, whether a browser brings it or the exchange of a code has
    /// it. The codes are those of RFC 6749, `OpenID` Connect and GitHub.
    pub fn of_code(code: &str) -> Self {
        match code {
            // The second is Apple's.
            "access_denied" | "user_cancelled_authorize" => Self::Refused,
            "unverified_user_email" => Self::UnverifiedEmail,
            "server_error" | "temporarily_unavailable" | "slow_down" => Self::Busy,
            "invalid_grant" | "bad_verification_code" => Self::CodeSpent,
            "invalid_client"
            | "unauthorized_client"
            | "incorrect_client_credentials"
            | "application_suspended" => Self::InvalidClient,
            "redirect_uri_mismatch" | "invalid_redirect_uri" => Self::UnknownCallback,
            _ => Self::RequestRefused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_who_can_do_something() {
        for (code, error) in [
            ("access_denied", UpstreamError::Refused),
            ("bad_verification_code", UpstreamError::CodeSpent),
            ("invalid_grant", UpstreamError::CodeSpent),
            ("incorrect_client_credentials", UpstreamError::InvalidClient),
            ("redirect_uri_mismatch", UpstreamError::UnknownCallback),
            ("temporarily_unavailable", UpstreamError::Busy),
            ("", UpstreamError::RequestRefused),
        ] {
            assert_eq!(UpstreamError::of_code(code), error, "{code}");
        }
    }
}
