//! What the game has outside of its store on this server: the encoder of texts, and the avatars.

use std::{path::PathBuf, sync::Arc};

use duels::outside::{Avatars, Outside};
use net::Fetcher;
use semantic::{Embedder, Encoder, LocalEmbedder};

use super::avatars::{Gallery, OWN_PROGRAM};
use crate::{
    config::model::{Semantic, Switch},
    failure::Failure,
};

/// Opens the parts that the configuration asks for. `avatars` is where images are kept, if anywhere.
pub(crate) fn open(
    config: &Semantic,
    avatars: Option<PathBuf>,
) -> Result<(Outside, Option<Arc<Gallery>>), Failure> {
    let gallery = avatars.map(gallery).transpose()?;
    let outside = Outside {
        embedder: embedder(config)?.map(|embedder| Arc::new(embedder) as Arc<dyn Embedder>),
        avatars: gallery.clone().map(|gallery| gallery as Arc<dyn Avatars>),
        ..Outside::default()
    };
    Ok((outside, gallery))
}

fn gallery(directory: PathBuf) -> Result<Arc<Gallery>, Failure> {
    let shown = directory.display().to_string();
    Gallery::open(directory, Fetcher::new(), PathBuf::from(OWN_PROGRAM)).map_err(|error| {
        Failure::failed(format!("the directory of avatars, {shown}, cannot be made: {error}"))
            .hint("check who owns the directory above it (ls -ld), or set avatars.dir")
    })
}

/// A model of a directory is read in the background; the built-in one is there at once.
fn embedder(config: &Semantic) -> Result<Option<LocalEmbedder>, Failure> {
    if config.load == Switch::Off {
        return Ok(None);
    }
    let started = match config.model_dir.as_ref().map(PathBuf::from) {
        None => LocalEmbedder::start(|| Encoder::from_bytes(semantic_model::MODEL)),
        Some(directory) => LocalEmbedder::start(move || Encoder::from_directory(&directory)),
    };
    let started = started.map_err(|error| {
        Failure::failed(format!("cannot start the threads of the encoder: {error}"))
            .hint("raise the limit of threads (ulimit -u), or set semantic.load to off")
    });
    started.map(Some)
}
