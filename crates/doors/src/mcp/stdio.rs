//! The same tools over standard input and output, for clients that start a program.
//!
//! Lists tools without a server, a database or a key; what a call does is up to the callback.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use kernel::operation::{Json, Product};
use rmcp::ServiceExt;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    adapter::{Adapter, Backend},
    tools::Toolbox,
};
use crate::config::ServerName;

/// One `tools/call` as it came in.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// One of the product's operations.
    pub name: String,
    /// A JSON object as text.
    pub arguments: String,
    pub idempotency_key: Option<String>,
}

/// What the callback learnt.
#[derive(Debug, Clone)]
pub struct Forwarded {
    /// The structured content, as JSON text.
    pub json: Json,
    pub is_error: bool,
}

/// Runs a call somewhere else. It words its own failures as error bodies.
pub type Forward = Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Forwarded> + Send + Sync>;

#[derive(Debug, Error)]
pub enum StdioError {
    #[error("the client did not begin as MCP says: {0}; start this command from an MCP client")]
    Handshake(String),
    #[error("the session ended early: {0}")]
    Ended(String),
}

/// Serves the product's tools on standard input and output until the client closes its end.
pub async fn serve_stdio(product: &Product, server: &ServerName, forward: Forward) -> Result<(), StdioError> {
    let (input, output) = rmcp::transport::io::stdio();
    serve_stdio_over(product, server, forward, input, output).await
}

/// The same over any pair of streams.
pub async fn serve_stdio_over(
    product: &Product,
    server: &ServerName,
    forward: Forward,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), StdioError> {
    let toolbox = Arc::new(Toolbox::new(product, server));
    let adapter = Adapter { toolbox, backend: Backend::Forward(forward) };
    let running =
        adapter.serve((input, output)).await.map_err(|error| StdioError::Handshake(error.to_string()))?;
    running.waiting().await.map(|_| ()).map_err(|error| StdioError::Ended(error.to_string()))
}
