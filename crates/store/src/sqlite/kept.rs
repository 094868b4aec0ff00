//! Copies of a database that is about to be migrated: made beside it, named by version and time, and only
//! the last few kept. What else somebody keeps in that directory is left alone.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use kernel::Moment;
use rusqlite::Connection;

use super::copy::vacuum_into;
use crate::OpenError;

/// In the data directory.
const DIRECTORY: &str = "backups";
const PREFIX: &str = "arena.db.before-";
/// A copy that is not whole yet.
const DRAFT: &str = "draft-of-a-copy";
/// How many are kept.
const KEPT: usize = 3;

/// Copies the database of `conn` before `version` changes its tables.
pub(super) fn keep(
    conn: &Connection,
    data_directory: &Path,
    version: &str,
    real_ms: i64,
) -> Result<(), OpenError> {
    let directory = data_directory.join(DIRECTORY);
    let time = Moment::from_millis(real_ms).to_string().replace(['-', ':'], "");
    let copy = directory.join(format!("{PREFIX}{version}-{time}"));
    let failed = |cause: String| OpenError::Copy { path: copy.clone(), cause };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(|cause| failed(cause.to_string()))?;
    let draft = directory.join(DRAFT);
    if draft.exists() {
        fs::remove_file(&draft).map_err(|cause| failed(cause.to_string()))?;
    }
    let drawn = vacuum_into(conn, &draft)
        .and_then(|()| fs::rename(&draft, &copy).map_err(|cause| cause.to_string()))
        .and_then(|()| fs::File::open(&directory).and_then(|at| at.sync_all()).map_err(|c| c.to_string()));
    if let Err(cause) = drawn {
        // What is left of it only takes up room.
        let _ = fs::remove_file(&draft);
        return Err(failed(cause));
    }
    tracing::info!(copy = %copy.display(), "copied the database before its tables change");
    for surplus in kept(data_directory).iter().rev().skip(KEPT) {
        if let Err(error) = fs::remove_file(surplus) {
            tracing::warn!(%error, copy = %surplus.display(), "an old copy was not removed");
        }
    }
    Ok(())
}

/// The copies of a data directory, the last one last.
pub(super) fn kept(data_directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(data_directory.join(DIRECTORY)).into_iter().flatten().flatten();
    let mut found: Vec<(String, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (_, time) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
            Some((time.to_owned(), entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_three_stay_and_other_files_are_nobodys_business() {
        let home = tempfile::tempdir().unwrap();
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (a INTEGER) STRICT").unwrap();
        let directory = home.path().join(DIRECTORY);
        fs::create_dir(&directory).unwrap();
        for name in ["monday.tar", "arena.db", DRAFT] {
            fs::write(directory.join(name), "mine").unwrap();
        }
        // A later version sorts before an earlier one by name, and is still the later copy.
        for (version, ms) in [("0.9.0", 1_000), ("0.9.0", 2_000), ("0.10.0", 3_000), ("0.10.0", 90_000_000)] {
            keep(&conn, home.path(), version, ms).unwrap();
        }
        let names: Vec<String> = kept(home.path())
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(
            names,
            [
                "arena.db.before-0.9.0-19700101T000002.000Z",
                "arena.db.before-0.10.0-19700101T000003.000Z",
                "arena.db.before-0.10.0-19700102T010000.000Z"
            ]
        );
        assert!(directory.join("monday.tar").exists() && directory.join("arena.db").exists());
        assert!(!directory.join(DRAFT).exists(), "a draft that was left is made anew");
    }
}
