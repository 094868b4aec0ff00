//! The doors: a catalog of operations becomes MCP, REST, OpenAPI, `llms.txt`, a documentation page
//! and health checks.
//!
//! Knows no product, no SQL and no rule of a game; a product is a value that the wiring passes in, and so are
//! other issuers of accounts. `auth` has sign-in and the authorization server; metrics are not here, and what a
//! product's page says is the product's.

mod address;
mod answer;
pub mod auth;
mod body;
mod clock;
mod config;
mod credential;
mod dispatch;
mod front;
mod house;
mod mcp;
mod operations;
mod origin;
mod publics;
mod request_id;
mod router;
mod schemas;
mod serve;
mod status;
mod streams;
mod web;

pub use config::{
    Authenticate, CardPress, Door, DoorsConfig, HttpLimits, OnRequest, RequestSeen, ServerName, WiringError,
};
pub use mcp::stdio::{Forward, Forwarded, StdioError, ToolCall, serve_stdio, serve_stdio_over};
pub use router::router;
pub use serve::serve;
pub use status::own_codes;
pub use streams::{ACCOUNT_STREAMS_MAX, LOOK as STREAM_LOOK, STREAMS_MAX};
pub use web::cards::{CARDS_DRAWN_AT_ONCE_MAX, CARDS_KEPT_BYTES_MAX, CARDS_WAITING_MAX};
pub use web::connect::{Form, Snippet, snippets};
pub use web::live::{ADDRESS_LISTENERS_MAX, KEEP_ALIVE, LISTENERS_MAX};
