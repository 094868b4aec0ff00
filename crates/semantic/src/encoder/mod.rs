//! The encoder: a text becomes tokens, tokens become one vector.

mod forward;
mod kernels;
mod normalize;
#[cfg(test)]
mod tests;
mod tokens;

pub use forward::{Encoder, TOKENS_MAX};
