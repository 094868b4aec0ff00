//! Passkeys (WebAuthn): what a browser is asked, and whether what its authenticator answers holds.
//!
//! Knows no store and no page: whoever calls keeps the state between the two halves of a ceremony, lets it count
//! once, and keeps the passkeys. No attestation is asked for, because nobody here trusts one maker more.

mod refused;
mod relying_party;

pub use refused::Refused;
pub use relying_party::{Asked, Claim, Made, RelyingParty};
