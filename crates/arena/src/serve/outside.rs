//! What the game has outside of its store on this server: the encoder of texts.

use std::{path::PathBuf, sync::Arc};

use duels::outside::Outside;
use semantic::{Encoder, LocalEmbedder};

use crate::{
    config::model::{Semantic, Switch},
    failure::Failure,
};

/// Opens the parts that the configuration asks for. A model of a directory is read in the background;
/// the built-in one is there at once.
pub(crate) fn open(config: &Semantic) -> Result<Outside, Failure> {
    if config.load == Switch::Off {
        return Ok(Outside::default());
    }
    let started = match config.model_dir.as_ref().map(PathBuf::from) {
        None => LocalEmbedder::start(|| Encoder::from_bytes(semantic_model::MODEL)),
        Some(directory) => LocalEmbedder::start(move || Encoder::from_directory(&directory)),
    };
    let embedder = started.map_err(|error| {
        Failure::failed(format!("cannot start the threads of the encoder: {error}"))
            .hint("raise the limit of threads (ulimit -u), or set semantic.load to off")
    })?;
    Ok(Outside { embedder: Some(Arc::new(embedder)), ..Outside::default() })
}
