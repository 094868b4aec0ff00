//! The client's side of signing in at Google, GitHub, Apple or any `OpenID` Connect issuer: where a browser is sent,
//! and who comes back.
//!
//! The caller draws the secrets of a sign-in, stores them, counts each answer once and tells the time; here is no
//! store, no clock and no page. What the provider hands out is read once and dropped: no token leaves this crate.

mod apple;
mod cached;
mod discovery;
mod error;
mod flow;
mod github;
mod http;
mod oidc;
mod provider;

pub use discovery::{DISCOVERY_MS, KEYS_RENEWED_MS};
pub use error::{Part, UpstreamError};
pub use flow::{FlowSecrets, Profile, Upstream};
pub use http::{ANSWER_BYTES_MAX, TIME_MAX};
pub use oidc::SKEW_MS_MAX;
pub use provider::{APPLE_ISSUER, GITHUB_API, GITHUB_BASE, GOOGLE_ISSUER, Provider, Secret, SetupError};
