//! An endpoint as the encoder of search.

use semantic::{EmbedError, Embedder, Vector, embedder::Embedding};

use crate::Endpoint;

pub struct RemoteEmbedder {
    endpoint: Endpoint,
    id: String,
    dims: usize,
}

impl RemoteEmbedder {
    /// `dims` is what the endpoint's model has; an answer of another length is refused.
    pub fn new(endpoint: Endpoint, dims: usize) -> Self {
        let id = format!("remote/{}/{}/{dims}/i8/1", endpoint.host(), endpoint.model);
        Self { endpoint, id, dims }
    }
}

impl Embedder for RemoteEmbedder {
    fn model_id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed<'a>(&'a self, text: &'a str) -> Embedding<'a> {
        Box::pin(async move {
            let components = self.endpoint.embed(text, self.dims).await;
            components
                .map(|components| Vector::quantise(&components))
                .map_err(|error| EmbedError::Unavailable(error.to_string()))
        })
    }
}
