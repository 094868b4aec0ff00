//! The database file before SQLite opens it: a new one gets its name only when it is a database, so that an
//! empty file of that name, or a foreign one, is always somebody's mistake and never a new store.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rusqlite::{Connection, OpenFlags};

use super::{connect::BUSY, directory};
use crate::{OpenError, migrate};

/// How every SQLite file begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Makes the file when there is none, and refuses one that is not ours.
pub(super) fn make_or_check(path: &Path) -> Result<(), OpenError> {
    if path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        make(path)?;
    }
    check(path)?;
    // Looked at before the first setting, which would change a foreign file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|conn| {
        conn.busy_timeout(BUSY)?;
        Ok(conn)
    });
    check_tables(&opened.map_err(|cause| OpenError::Sqlite { path: path.to_owned(), cause })?, path)
}

/// Refuses a file that is no database of Arena, in words. Changes nothing.
pub(super) fn check(path: &Path) -> Result<(), OpenError> {
    directory::check_writable(path)?;
    let io = |cause| OpenError::Directory { path: path.to_owned(), cause };
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(16).read_to_end(&mut head)).map_err(io)?;
    let not_ours = |what| Err(OpenError::NotArena { path: path.to_owned(), what });
    if head.is_empty() {
        return not_ours("is empty");
    }
    if head != MAGIC {
        return not_ours("is not a SQLite database");
    }
    Ok(())
}

/// Refuses a database that has tables and none that tells of migrations.
pub(super) fn check_tables(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    let tables = || {
        let mut statement = conn.prepare("PRAGMA main.table_list")?;
        let names = statement.query_map([], |row| row.get::<_, String>(1))?;
        names.collect::<rusqlite::Result<Vec<String>>>()
    };
    let names = tables().map_err(|cause| OpenError::Sqlite { path: path.to_owned(), cause })?;
    let mut foreign = names.iter().filter(|name| !name.starts_with("sqlite_")).peekable();
    if foreign.peek().is_some() && !foreign.any(|name| name == "migration") {
        return Err(OpenError::NotArena { path: path.to_owned(), what: "is a database of another program" });
    }
    Ok(())
}

fn make(path: &Path) -> Result<(), OpenError> {
    let directory = path.parent().unwrap_or(path);
    let draft = path.with_extension("new");
    let io = |cause| directory::explain(directory, &draft, cause);
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(io)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(&draft, flags)
        .and_then(|conn| conn.execute_batch(migrate::TABLE))
        .map_err(|cause| OpenError::Sqlite { path: draft.clone(), cause })?;
    fs::rename(&draft, path).map_err(io)?;
    File::open(directory).and_then(|at| at.sync_all()).map_err(io)
}
