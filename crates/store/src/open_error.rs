//! Why a store could not be opened, in words for the operator: what is wrong and what to do.

use std::path::PathBuf;

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

    #[error(
        "this data was written by a newer Arena (schema {product} is at {found}, this build knows {known}); upgrade Arena or restore a backup made before the upgrade"
    )]
    Newer { product: String, found: i64, known: i64 },

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
