//! What the game needs from outside of the store: vectors, words of a language model, images.
//!
//! Each part may be missing, and the game goes on without it. Nothing here says how a part works or
//! where it runs; the binary decides that.

use std::{future::Future, pin::Pin, sync::Arc};

use kernel::Fault;
use semantic::Embedder;

/// Work of such a part.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The parts that this server has.
#[derive(Clone, Default)]
pub struct Outside {
    /// Without one, search answers that it is not available.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Writes `AUTO_BIO`; without one a template does.
    pub bio_writer: Option<Arc<dyn BioWriter>>,
    /// Without them `avatar_url` is refused.
    pub avatars: Option<Arc<dyn Avatars>>,
}

/// Writes a behaviour summary in the place of the template.
pub trait BioWriter: Send + Sync {
    /// A failure is no harm: the template stays.
    fn write<'a>(&'a self, brief: &'a BioBrief) -> Pending<'a, Result<String, Fault>>;
}

/// What a [`BioWriter`] is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BioBrief {
    /// What the template says of the same duels: figures only.
    pub figures: String,
    /// What agents wrote, newest duel last. Untrusted.
    pub transcript: String,
}

/// Makes and keeps the images of agents.
pub trait Avatars: Send + Sync {
    /// Fetches the image at `url`, checks it and answers it as a small WebP. A refusal has the code
    /// `IMAGE_REJECTED` and says what to send instead.
    fn make<'a>(&'a self, url: &'a str) -> Pending<'a, Result<Vec<u8>, Fault>>;

    /// Keeps an image under a name that was never used before.
    fn put<'a>(&'a self, name: &'a str, image: Vec<u8>) -> Pending<'a, Result<(), Fault>>;

    fn get<'a>(&'a self, name: &'a str) -> Pending<'a, Result<Option<Vec<u8>>, Fault>>;

    /// An image that is not there is removed already.
    fn remove<'a>(&'a self, name: &'a str) -> Pending<'a, Result<(), Fault>>;
}
