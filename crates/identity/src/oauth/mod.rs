//! The state of our own authorization server (OAuth 2.1): clients, requests, grants, codes and tokens.
//!
//! A person allows a client something: that is a grant. A code proves the grant once; the tokens that come of
//! it are one family, which dies as a whole when a code or a refresh token is presented a second time.

pub mod clients;
pub mod grants;
pub mod requests;
pub mod tokens;

/// The prefix of access tokens.
pub const ACCESS_PREFIX: &str = "arena_at_";
/// The prefix of refresh tokens.
pub const REFRESH_PREFIX: &str = "arena_rt_";
/// The prefix of one-time codes.
pub const CODE_PREFIX: &str = "arena_ac_";
