//! Why the answer of an authenticator does not count.

use kernel::{Fault, Kind};
use webauthn_rs::prelude::WebauthnError;

#[derive(Debug)]
pub enum Refused {
    /// The signature holds, but its counter did not grow: there may be a copy of the passkey.
    Copied,
    /// Anything else, with the words for whoever tries.
    Answer(Fault),
}

impl Refused {
    pub(crate) fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::Answer(
            Fault::invalid("the answer of the passkey cannot be read; reload the page and try again")
                .with_context(error),
        )
    }

    pub(crate) fn stranger() -> Self {
        Self::Answer(Fault::of(
            Kind::Unauthenticated,
            "the passkey says that it is somebody else's; choose another one",
        ))
    }

    pub(crate) fn of(error: &WebauthnError) -> Self {
        let words = match error {
            WebauthnError::CredentialPossibleCompromise => return Self::Copied,
            WebauthnError::UserNotVerified => {
                "the passkey did not check that it is you; use one with a PIN, a fingerprint or a face"
            }
            WebauthnError::InvalidRPOrigin | WebauthnError::InvalidRPIDHash => {
                "the passkey was used on a page of another address; use the page of this server"
            }
            _ => "the answer of the passkey does not hold; reload the page and try again",
        };
        Self::Answer(Fault::of(Kind::Unauthenticated, words).with_context(error))
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Copied => Self::of(
                Kind::Unauthenticated,
                "this passkey may have been copied: its counter did not grow; sign in another way and remove it",
            ),
            Refused::Answer(fault) => fault,
        }
    }
}
