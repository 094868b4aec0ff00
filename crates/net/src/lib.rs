//! Requests to addresses that strangers name, guarded: only https, only public addresses, the name
//! resolved once and pinned, no redirects, a limit on everything.
//!
//! What is fetched and why is the caller's. Endpoints that the operator names do not pass through here.

pub mod address;
mod fetch;

pub use fetch::{CONNECT_TIME, FetchError, Fetcher, Policy, Resolve, Resolving, TOTAL_TIME, URL_CHARS_MAX};
