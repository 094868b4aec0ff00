//! MCP over Streamable HTTP and over stdio, for any product of the catalog.
//!
//! Stateless in both eras: nothing is kept between two requests, so a restart or another node never
//! breaks a client. Prompts, resources, tasks, logging and server-initiated requests are not offered.

pub(crate) mod adapter;
pub(crate) mod call;
pub(crate) mod endpoint;
pub(crate) mod message;
pub(crate) mod result;
pub(crate) mod stdio;
pub(crate) mod tools;

pub(crate) use endpoint::{Endpoint, serve};
pub(crate) use message::refusal;

/// The alias of the root product's own path.
pub(crate) const ROOT_PATH: &str = "/mcp";
