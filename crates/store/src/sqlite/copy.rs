//! Copies of a SQLite database: made while a server writes, and looked at before one is put in place.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::Arc,
};

use kernel::{
    Fault,
    time::{Clock, SystemClock},
    tx::{Sql, Tx},
};
use rusqlite::{Connection, OpenFlags};

use super::{
    connect, directory, fresh,
    session::{Access, Session},
    shape,
};
use crate::{OpenError, Options, clock::LocalClock, dialect, migrate};

static BEGIN: Sql = Sql { name: "store::begin_look", text: dialect::BEGIN_READ.sqlite };

/// Writes a consistent copy of the database of a data directory to `into`, which must not exist. Another
/// process may be using the database; its writer is not held up.
pub fn copy(directory: &Path, into: &Path) -> Result<(), OpenError> {
    let path = directory.join(crate::FILE_NAME);
    fresh::check(&path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(&path, flags).and_then(|conn| {
        conn.busy_timeout(connect::BUSY)?;
        Ok(conn)
    });
    let conn = opened.map_err(|cause| OpenError::Sqlite { path: path.clone(), cause })?;
    vacuum_into(&conn, into).map_err(|cause| OpenError::Copy { path: into.to_owned(), cause })
}

/// A whole, durable copy for the owner alone. The snapshot that it reads holds up no writer.
pub(super) fn vacuum_into(conn: &Connection, into: &Path) -> Result<(), String> {
    // SQLite takes an empty file as one that it may fill, and leaves its rights alone.
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(into);
    let file = made.map_err(|cause| cause.to_string())?;
    let Some(target) = into.to_str() else {
        return Err("its name is not UTF-8".to_owned());
    };
    conn.execute("VACUUM INTO ?1", [target]).map_err(|cause| cause.to_string())?;
    file.sync_all().map_err(|cause| cause.to_string())
}

/// How many steps of which schema a database has.
pub fn schemas(file: &Path) -> Result<BTreeMap<String, i64>, OpenError> {
    let failed = |cause| OpenError::Sqlite { path: file.to_owned(), cause };
    let applied = read_only(file).and_then(|conn| connect::applied(&conn)).map_err(failed)?;
    Ok(applied.into_iter().collect())
}

/// Checks that a file is a whole database of Arena whose tables these schemas know or can migrate.
pub fn inspect(file: &Path, options: &Options) -> Result<(), OpenError> {
    fresh::check(file)?;
    let failed = |cause| OpenError::Sqlite { path: file.to_owned(), cause };
    let conn = read_only(file).map_err(failed)?;
    let sound: String = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if sound != "ok" {
        return Err(OpenError::NotArena { path: file.to_owned(), what: "is damaged" });
    }
    fresh::check_tables(&conn, file)?;
    let applied = connect::applied(&conn).map_err(failed)?;
    if let Err(newer) = migrate::next(&options.all_schemas(), &applied) {
        return Err(connect::newer(newer, &conn, &applied, options.version, None));
    }
    match shape::difference(&conn, options, &applied).map_err(failed)? {
        None => Ok(()),
        Some(what) => Err(OpenError::Altered { path: file.to_owned(), what }),
    }
}

/// Reads from a database file that nobody writes to, as its tables are.
pub fn look<T>(file: &Path, query: impl FnOnce(&mut dyn Tx) -> Result<T, Fault>) -> Result<T, Fault> {
    let conn = read_only(file).map_err(Fault::internal)?;
    let (anchor, high_ms) = connect::anchor(&conn).map_err(Fault::internal)?;
    let clock = LocalClock::new(Arc::new(SystemClock) as Arc<dyn Clock>, anchor, high_ms);
    let mut session = Session::new(&conn, &clock, Access::ReadOnly);
    session.control(&BEGIN, &[])?;
    session.begin(Access::ReadOnly);
    let found = query(&mut session);
    session.take_failure().map_or(found, Err)
}

fn read_only(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(file, flags)
}

/// A data directory that no server holds, until it is dropped.
pub struct Hold(#[expect(dead_code, reason = "its lock is what it is for")] File);

/// Holds a data directory, which is made when it is missing.
pub fn hold(directory: &Path) -> Result<Hold, OpenError> {
    directory::hold(directory).map(Hold)
}
