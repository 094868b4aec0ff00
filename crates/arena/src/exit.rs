//! The exit codes of the whole program, chosen in one place.
//!
//! Nothing here prints or ends the process; `main` does, with the code a command answered.

use kernel::Kind;

/// How the process ends. Code 3 is kept free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    Ok,
    Failed,
    Usage,
    Auth,
    Membership,
    Refused,
    Network,
}

impl ExitCode {
    /// Every code, for the table of `arena help exit-codes`.
    pub(crate) const ALL: [Self; 7] =
        [Self::Ok, Self::Failed, Self::Usage, Self::Auth, Self::Membership, Self::Refused, Self::Network];

    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Auth => 4,
            Self::Membership => 5,
            Self::Refused => 6,
            Self::Network => 7,
        }
    }

    /// The word that JSON errors carry.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Auth => "auth",
            Self::Membership => "membership",
            Self::Refused => "refused",
            Self::Network => "network",
        }
    }

    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done; an empty list is also done",
            Self::Failed => "a check failed, the server could not start, or a bug in arena",
            Self::Usage => "the command line or configuration is wrong; nothing was sent",
            Self::Auth => "no key, or one that does not hold",
            Self::Membership => "the operation needs a membership",
            Self::Refused => "refused, as a repeat would be; a spent rate limit too",
            Self::Network => "no answer, or the server failed (5xx); try again later",
        }
    }

    /// The code for a refusal that this process raised itself.
    pub(crate) const fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Unauthenticated => Self::Auth,
            Kind::Invalid
            | Kind::Forbidden
            | Kind::Foreign
            | Kind::NotFound
            | Kind::MethodNotAllowed
            | Kind::Conflict
            | Kind::TooLarge
            | Kind::UnsupportedMedia
            | Kind::RateLimited => Self::Refused,
            Kind::Unavailable => Self::Network,
            Kind::Internal => Self::Failed,
        }
    }

    /// The code for an answer of a server.
    pub(crate) const fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Ok,
            401 => Self::Auth,
            402 => Self::Membership,
            500..=599 => Self::Network,
            _ => Self::Refused,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_documented_one() {
        assert_eq!(ExitCode::ALL.map(ExitCode::number), [0, 1, 2, 4, 5, 6, 7]);
    }

    #[test]
    fn statuses_and_kinds_have_their_codes() {
        for (status, code) in [(200, 0), (204, 0), (302, 6), (400, 6), (401, 4), (402, 5), (403, 6), (429, 6)]
        {
            assert_eq!(ExitCode::of_status(status).number(), code, "{status}");
        }
        for status in [500, 502, 503, 504] {
            assert_eq!(ExitCode::of_status(status), ExitCode::Network, "{status}");
        }
        assert_eq!(ExitCode::of_kind(Kind::Unauthenticated), ExitCode::Auth);
        assert_eq!(ExitCode::of_kind(Kind::RateLimited), ExitCode::Refused);
        assert_eq!(ExitCode::of_kind(Kind::Internal), ExitCode::Failed);
    }
}
