//! Connections to SQLite: their settings, the version they need, and migration.

use std::{collections::HashMap, path::Path, time::Duration};

use kernel::time::Anchor;
use rusqlite::{Connection, OpenFlags};

use super::{fresh, kept};
use crate::{OpenError, Options, clock, dialect, migrate};

/// Older ones can corrupt a database when a log is reset while another connection checkpoints.
pub(crate) const SQLITE_MIN: &str = "3.51.3";
const SQLITE_MIN_NUMBER: i32 = 3_051_003;

/// How long a connection waits for another's file lock; only recovery and checkpoints hold one.
pub(super) const BUSY: Duration = Duration::from_secs(5);
/// The log is cut to this when it is reset.
const JOURNAL_BYTES_MAX: i64 = 64 << 20;
/// A commit folds the log into the file when it has grown to this: 16 MiB of 4 KiB pages.
const CHECKPOINT_PAGES: i64 = 4096;
/// Negative: in KiB.
const WRITER_CACHE: i64 = -16 * 1024;
const READER_CACHE: i64 = -4 * 1024;

pub(super) fn check_version(number: i32, found: &'static str) -> Result<(), OpenError> {
    if number < SQLITE_MIN_NUMBER { Err(OpenError::OldSqlite { found }) } else { Ok(()) }
}

pub(super) fn writer(path: Option<&Path>) -> Result<Connection, OpenError> {
    let Some(path) = path else {
        let opened = Connection::open_in_memory().and_then(|conn| set_up(conn, WRITER_CACHE));
        return opened.map_err(|cause| OpenError::Sqlite { path: ":memory:".into(), cause });
    };
    fresh::make_or_check(path)?;
    let opened = || {
        let conn = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        conn.busy_timeout(BUSY)?;
        conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update_and_check(None, "journal_size_limit", JOURNAL_BYTES_MAX, |row| {
            row.get::<_, i64>(0)
        })?;
        conn.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |row| {
            row.get::<_, i64>(0)
        })?;
        set_up(conn, WRITER_CACHE)
    };
    opened().map_err(|cause| OpenError::Sqlite { path: path.to_owned(), cause })
}

pub(super) fn reader(path: &Path) -> Result<Connection, OpenError> {
    let opened = || {
        // A reader of a log needs to write its shared-memory index, so the file is opened for writing.
        let conn = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        conn.busy_timeout(BUSY)?;
        conn.pragma_update(None, "query_only", true)?;
        set_up(conn, READER_CACHE)
    };
    opened().map_err(|cause| OpenError::Sqlite { path: path.to_owned(), cause })
}

fn set_up(conn: Connection, cache: i64) -> rusqlite::Result<Connection> {
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "cache_size", cache)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(conn)
}

/// Applies the steps that are due, each in a transaction of its own, and notes the version that did.
pub(super) fn migrate(
    conn: &mut Connection,
    options: &Options,
    real_ms: i64,
    path: &Path,
) -> Result<(), OpenError> {
    let schemas = options.all_schemas();
    let failed = |cause| OpenError::Sqlite { path: path.to_owned(), cause };
    conn.execute_batch(migrate::TABLE)
        .and_then(|()| conn.execute_batch(migrate::GUARD_TABLE))
        .map_err(failed)?;
    let directory = path.parent().filter(|at| at.is_dir());
    let mut before = true;
    loop {
        let applied = applied(conn).map_err(failed)?;
        let next = migrate::next(&schemas, &applied)
            .map_err(|ahead| newer(ahead, conn, &applied, options.version, directory))?;
        let Some(step) = next else {
            if migrate::tells_version(&applied) {
                let note = dialect::parameters_for_sqlite(migrate::NOTE);
                conn.execute(&note, (options.version, real_ms)).map_err(failed)?;
            }
            return Ok(());
        };
        if let (true, false, Some(directory), true) =
            (before, applied.is_empty(), directory, options.keeps_copies)
        {
            kept::keep(conn, directory, options.version, real_ms)?;
        }
        before = false;
        apply(conn, &step, real_ms).map_err(|cause| OpenError::Migration {
            product: step.product,
            number: step.number,
            cause: cause.to_string(),
        })?;
    }
}

fn apply(conn: &mut Connection, step: &migrate::Step, real_ms: i64) -> rusqlite::Result<()> {
    let tx = conn.transaction()?;
    tx.execute_batch(step.ddl)?;
    let record = dialect::parameters_for_sqlite(migrate::RECORD);
    tx.execute(&record, (step.product, step.number, real_ms))?;
    tx.commit()
}

/// The refusal of a schema that is ahead, with the version that wrote it and the way back.
pub(super) fn newer(
    ahead: migrate::Newer,
    conn: &Connection,
    applied: &HashMap<String, i64>,
    ours: &'static str,
    directory: Option<&Path>,
) -> OpenError {
    let written_by = migrate::tells_version(applied)
        .then(|| conn.query_row(migrate::NOTED, [], |row| row.get(0)).ok())
        .flatten();
    let copy = directory.and_then(|at| kept::kept(at).pop());
    let migrate::Newer { product, found, known } = ahead;
    OpenError::Newer { product, found, known, written_by, ours, copy }
}

pub(super) fn applied(conn: &Connection) -> rusqlite::Result<HashMap<String, i64>> {
    let mut statement = conn.prepare(migrate::APPLIED)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// The stored anchor and high-water mark.
pub(super) fn anchor(conn: &Connection) -> rusqlite::Result<(Anchor, i64)> {
    conn.query_row(clock::loading().text, [], |row| {
        let anchor = Anchor { real0_ms: row.get(0)?, arena0_ms: row.get(1)?, speed_milli: row.get(2)? };
        Ok((anchor, row.get(3)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_with_the_log_reset_fault_are_refused() {
        assert!(check_version(3_051_003, "3.51.3").is_ok());
        assert!(check_version(rusqlite::version_number(), rusqlite::version()).is_ok());
        for (number, found) in [(3_051_002, "3.51.2"), (3_040_001, "3.40.1")] {
            let error = check_version(number, found).unwrap_err().to_string();
            assert!(error.contains(found) && error.contains(SQLITE_MIN), "{error}");
        }
    }

    #[test]
    fn connections_have_the_settings_that_durability_rests_on() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("arena.db");
        let conn = writer(Some(&path)).unwrap();
        conn.execute_batch("CREATE TABLE t (a INTEGER) STRICT").unwrap();
        let number = |conn: &Connection, name: &str| -> i64 {
            conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).unwrap()
        };
        let mode: String = conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        for (name, value) in
            [("synchronous", 2), ("foreign_keys", 1), ("journal_size_limit", 64 << 20), ("mmap_size", 0)]
        {
            assert_eq!(number(&conn, name), value, "{name}");
        }
        let reader = reader(&path).unwrap();
        assert_eq!((number(&reader, "query_only"), number(&reader, "mmap_size")), (1, 0));
        assert!(reader.execute_batch("INSERT INTO t VALUES (1)").is_err());
    }
}
