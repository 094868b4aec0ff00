//! How this program opens a store: which place, whose tables, and what a refusal means.

use std::time::Duration;

use store::{OpenError, Options, Place, Store};

use crate::{
    admin::backup::swap,
    config::{layers::Loaded, model::Config},
    denied,
    exit::ExitCode,
    failure::{Failure, split},
    output::print,
};

/// The directory of avatars within a data directory, and within a backup.
pub(crate) const AVATARS: &str = "avatars";
/// How long closing may take; what is queued has been answered by then or never will be.
const CLOSE_TIME: Duration = Duration::from_secs(30);

pub(crate) fn place(loaded: &Loaded) -> Place {
    match &loaded.config.database.url {
        Some(url) => Place::Postgres(url.clone()),
        None => Place::Directory(loaded.data_dir.clone()),
    }
}

/// The tables of every part that this program has.
pub(crate) fn options(place: Place, config: &Config) -> Options {
    let mut options = Options::new(place);
    options.schemas = vec![store::SCHEMA, identity::SCHEMA, duels::SCHEMA];
    options.writers = config.database.connections;
    options
}

/// Ends a restore that was interrupted: from its mark on, the restored data is what counts.
pub(crate) fn finish_restore(place: &Place) -> Result<(), Failure> {
    let Place::Directory(directory) = place else { return Ok(()) };
    if !directory.join(swap::MARK).exists() {
        return Ok(());
    }
    let _hold = store::hold(directory).map_err(|error| failure(&error))?;
    let ended = swap::finish(directory)
        .map_err(|error| denied::failure("end the interrupted restore in", directory, &error))?;
    if ended {
        print::note(&format!("a restore into {} that was interrupted has been ended", directory.display()));
    }
    Ok(())
}

/// Opens on a thread that may wait.
pub(crate) async fn open(place: Place, config: &Config) -> Result<Store, Failure> {
    finish_restore(&place)?;
    let options = options(place, config);
    let opened = tokio::task::spawn_blocking(move || Store::open(options)).await;
    opened
        .map_err(|error| Failure::failed(format!("the store could not be opened: {error}")))?
        .map_err(|error| failure(&error))
}

/// Finishes what is queued and writes the log back.
pub(crate) async fn close(store: Store) {
    let closing = tokio::task::spawn_blocking(move || store.close());
    if tokio::time::timeout(CLOSE_TIME, closing).await.is_err() {
        tracing::warn!(seconds = CLOSE_TIME.as_secs(), "the store was still closing at the end");
    }
}

/// An opening error as words and an exit code.
pub(crate) fn failure(error: &OpenError) -> Failure {
    let exit = match error {
        OpenError::Url { .. } => ExitCode::Usage,
        OpenError::Connect { .. } => ExitCode::Network,
        OpenError::OldSqlite { .. }
        | OpenError::Held { .. }
        | OpenError::Permission { .. }
        | OpenError::Directory { .. }
        | OpenError::Sqlite { .. }
        | OpenError::NotArena { .. }
        | OpenError::Altered { .. }
        | OpenError::Copy { .. }
        | OpenError::Newer { .. }
        | OpenError::Migration { .. }
        | OpenError::OldPostgres { .. }
        | OpenError::Postgres { .. }
        | OpenError::Thread { .. } => ExitCode::Failed,
    };
    split(exit, &error.to_string())
}
