//! The client side of the CLI: plain HTTP requests to some server, with limits and time-outs.

pub(crate) mod http;
