//! The weights and the vocabulary as bytes: the two original files, and the flat file made of them.

mod archive;
mod directory;
mod flat;
mod origin;
mod pack;
mod protobuf;
#[cfg(test)]
pub(crate) mod sample;
mod shape;
mod trie;

pub use directory::DirectoryError;
pub use flat::FlatError;
pub use origin::{DIMS, MODEL_ID, ORIGINS, Origin, SENTENCEPIECE, WEIGHTS};
pub use pack::{PackError, pack};

pub(crate) use directory::read_directory;
pub(crate) use flat::{Branch, Convolution, Model, Vocabulary};
pub(crate) use shape::{BRANCH_WIDTH, BRANCHES, FEATURES, HIDDEN, PANEL, WIDTH};
