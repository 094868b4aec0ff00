//! Why a store could not be opened, in words for the operator: what is wrong and what to do.

use std::path::{Path, PathBuf};

use crate::sqlite::SQLITE_MIN;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "this build holds SQLite {found}, which can lose data in WAL mode; build Arena with SQLite {min} or newer",
        min = SQLITE_MIN
    )]
    OldSqlite { found: &'static str },

    #[error(
        "the data directory {directory} is held by another process{holder}; stop that process, or use its admin socket, or pass another --data-dir",
        directory = .directory.display(),
        holder = .pid.as_ref().map(|pid| format!(" (pid {pid})")).unwrap_or_default()
    )]
    Held { directory: PathBuf, pid: Option<String> },

    #[error(
        "cannot use {path}: permission denied; it belongs to uid {owner} and Arena runs as uid {ours}; run: {remedy}",
        path = .path.display(),
        owner = .owner_uid.map_or_else(|| "unknown".to_owned(), |uid| uid.to_string()),
        ours = .our_uid
    )]
    Permission { path: PathBuf, owner_uid: Option<u32>, our_uid: u32, remedy: String },

    #[error("cannot use {path}: {cause}; check the path and the disk", path = .path.display())]
    Directory { path: PathBuf, cause: std::io::Error },

    #[error(
        "cannot open the database {path}: {cause}; if the file is damaged, restore a backup",
        path = .path.display()
    )]
    Sqlite { path: PathBuf, cause: rusqlite::Error },

    #[error("{}", newer(.product, *.found, *.known, .written_by.as_deref(), .ours, .copy.as_deref()))]
    Newer {
        product: String,
        found: i64,
        known: i64,
        /// The version that wrote the data last, where it tells.
        written_by: Option<String>,
        ours: &'static str,
        /// The copy made before the tables were changed.
        copy: Option<PathBuf>,
    },

    #[error(
        "the file {path} {what}, so it is no database of Arena; move it away to begin with an empty one, or put a backup in its place: arena admin restore --force BACKUP",
        path = .path.display()
    )]
    NotArena { path: PathBuf, what: &'static str },

    #[error("the database {path} {what}; undo that, or use a backup made before it", path = .path.display())]
    Altered { path: PathBuf, what: String },

    #[error(
        "cannot copy the database to {path}: {cause}; nothing was changed: make room there, or see to its rights, and try again",
        path = .path.display()
    )]
    Copy { path: PathBuf, cause: String },

    #[error(
        "migration {number} of {product} failed and was rolled back: {cause}; the data is as it was before, run the previous version or report this"
    )]
    Migration { product: &'static str, number: i64, cause: String },

    #[error("the database URL cannot be used: {cause}; expected postgres://user:password@host/database")]
    Url { cause: String },

    #[error(
        "cannot reach PostgreSQL at {server}: {cause}; check that it runs, the URL's user and password, and sslmode"
    )]
    Connect { server: String, cause: String },

    #[error("PostgreSQL at {server} is version {found}; Arena needs 15 or newer: upgrade the server")]
    OldPostgres { server: String, found: String },

    #[error("PostgreSQL at {server} refused the set-up: {cause}; check the role's rights on the database")]
    Postgres { server: String, cause: String },

    #[error("cannot start a thread of the store: {cause}; check the limits on processes")]
    Thread { cause: std::io::Error },
}

/// The versions of the program first: schemas are numbers of ours.
fn newer(
    product: &str,
    found: i64,
    known: i64,
    written_by: Option<&str>,
    ours: &str,
    copy: Option<&Path>,
) -> String {
    // Builds between two releases share a version.
    let theirs = written_by.filter(|version| *version != ours);
    let (what, run) = match theirs {
        Some(version) => (
            format!("this data was written by Arena {version}; this is Arena {ours}"),
            format!("run Arena {version} or newer"),
        ),
        None => (
            format!("this data was written by a newer Arena than this {ours}"),
            "run the newer version".to_owned(),
        ),
    };
    let back = match copy {
        Some(copy) => format!(
            "go back to the copy that the upgrade made: arena admin restore --force {}",
            copy.display()
        ),
        None => "restore a backup made before the upgrade".to_owned(),
    };
    format!("{what} (schema {product} is at {found}, this build knows {known}); {run}, or {back}")
}
