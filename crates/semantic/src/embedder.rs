//! What the rest of Arena knows of encoders: a name, a size, and texts that become vectors. Which
//! encoder it is, and where it runs, is absent.

use std::pin::Pin;

use crate::Vector;

/// A vector, later.
pub type Embedding<'a> = Pin<Box<dyn Future<Output = Result<Vector, EmbedError>> + Send + 'a>>;

pub trait Embedder: Send + Sync {
    /// Names the model, its weights and the quantisation. Vectors of different ids are never compared.
    fn model_id(&self) -> &str;

    /// Components of every vector.
    fn dims(&self) -> usize;

    fn embed<'a>(&'a self, text: &'a str) -> Embedding<'a>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    #[error("the encoder is still loading; try again in a few seconds")]
    Loading,
    /// The words are for the operator only.
    #[error("the encoder is unavailable: {0}")]
    Unavailable(String),
}
