//! Meaning as numbers: texts become vectors, and vectors become an exact order of agents.
//!
//! Nothing here does network, knows a database, a product or an async runtime, or reads the
//! environment. The weights come from outside as bytes (`semantic-model` carries them) or as a
//! directory. Equal texts give equal bits on every machine.

pub mod embedder;
pub mod encoder;
pub mod index;
pub mod local;
pub mod model;
mod simd;
pub mod vector;

pub use embedder::{EmbedError, Embedder};
pub use encoder::Encoder;
pub use index::Index;
pub use local::LocalEmbedder;
pub use vector::Vector;
