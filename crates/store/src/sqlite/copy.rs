//! Copies of a SQLite database: made while a server writes, and looked at before one is put in place.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{connect, directory};
use crate::{OpenError, Options, migrate};

/// Writes a consistent copy of the database of a data directory to `into`, which must not exist. Another
/// process may be using the database; its writer is not held up.
pub fn copy(directory: &Path, into: &Path) -> Result<(), OpenError> {
    let path = directory.join(crate::FILE_NAME);
    let failed = |cause| OpenError::Sqlite { path: path.clone(), cause };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(&path, flags).map_err(failed)?;
    conn.busy_timeout(connect::BUSY).map_err(failed)?;
    conn.execute("VACUUM INTO ?1", [into.to_string_lossy()]).map_err(failed)?;
    Ok(())
}

/// Checks that a file is a whole database whose tables these schemas know or can migrate.
pub fn inspect(file: &Path, options: &Options) -> Result<(), OpenError> {
    let failed = |cause| OpenError::Sqlite { path: file.to_owned(), cause };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(file, flags).map_err(failed)?;
    let sound: String = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if sound != "ok" {
        return Err(failed(rusqlite::Error::InvalidParameterName(sound)));
    }
    migrate::next(&options.all_schemas(), &connect::applied(&conn).map_err(failed)?).map(|_| ())
}

/// A data directory that no server holds, until it is dropped.
pub struct Hold(#[expect(dead_code, reason = "its lock is what it is for")] std::fs::File);

/// Holds a data directory, which is made when it is missing.
pub fn hold(directory: &Path) -> Result<Hold, OpenError> {
    directory::hold(directory).map(Hold)
}
