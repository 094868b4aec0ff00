//! A client of endpoints that speak as `OpenAI`'s do: embeddings, and a chat that completes once.
//!
//! The operator names the endpoint, so it may be on the inside. What is asked, and what becomes of an answer,
//! is the caller's. Keys are sent and never printed.

mod embedder;
mod endpoint;

pub use embedder::RemoteEmbedder;
pub use endpoint::{ANSWER_BYTES_MAX, Endpoint, EndpointError, RETRY_PAUSE_MAX, TIME_MAX};
