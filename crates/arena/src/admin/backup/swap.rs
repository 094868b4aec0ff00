//! The change from the old data to the restored: a kill at any point leaves one or the other.
//!
//! Everything is made ready in a directory beside the data. From the moment the mark exists, the restored
//! data counts: whoever opens the data directory next makes the renames that are left. Before it, nothing
//! has happened. What was there is moved aside, never deleted.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::{
    archive::{DATABASE, sync_directory},
    images::{AVATARS, make_directory},
};

/// While this file is in a data directory, the restored data counts. It names where the old data goes.
pub(crate) const MARK: &str = "restore-in-progress";
/// Where the restored data is until then.
const STAGE: &str = "restore-staging";
const ASIDE_PREFIX: &str = "before-restore-";
/// The database and what SQLite keeps beside it.
const DATABASE_FILES: [&str; 4] = [DATABASE, "arena.db-wal", "arena.db-shm", "arena.db-journal"];

/// An empty directory to prepare in; what an interrupted restore left there is removed.
pub(super) fn stage(directory: &Path) -> io::Result<PathBuf> {
    let stage = directory.join(STAGE);
    clear(&stage)?;
    make_directory(&stage)?;
    Ok(stage)
}

/// Removes what was prepared.
pub(super) fn clear(stage: &Path) -> io::Result<()> {
    match fs::remove_dir_all(stage) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether there is data that a restore would move aside.
pub(super) fn is_occupied(directory: &Path) -> bool {
    let avatars = fs::read_dir(directory.join(AVATARS)).is_ok_and(|mut entries| entries.next().is_some());
    avatars || DATABASE_FILES.iter().any(|name| directory.join(name).symlink_metadata().is_ok())
}

/// Makes what is prepared count. `time` becomes part of the name under which the old data is kept.
pub(super) fn commit(directory: &Path, time: &str) -> io::Result<PathBuf> {
    let stage = directory.join(STAGE);
    let avatars = stage.join(AVATARS);
    if avatars.is_dir() {
        sync_directory(&avatars)?;
    }
    sync_directory(&stage)?;
    let aside = format!("{ASIDE_PREFIX}{time}");
    let draft = stage.join(MARK);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(aside.as_bytes())?;
    file.sync_all()?;
    fs::rename(draft, directory.join(MARK))?;
    sync_directory(directory)?;
    Ok(directory.join(aside))
}

/// Makes the renames that are left; tells whether there was a restore to end. The caller holds the
/// directory.
pub(crate) fn finish(directory: &Path) -> io::Result<bool> {
    if !directory.join(MARK).exists() {
        return Ok(false);
    }
    while advance(directory)? {}
    Ok(true)
}

/// Makes one rename; tells whether more may be left.
fn advance(directory: &Path) -> io::Result<bool> {
    let aside = fs::read_to_string(directory.join(MARK))?;
    if !aside.starts_with(ASIDE_PREFIX) || aside.contains('/') {
        return Err(io::Error::other(format!("{MARK} was not written by a restore")));
    }
    let (aside, stage) = (directory.join(aside), directory.join(STAGE));
    for (part, files) in [(AVATARS, &[AVATARS][..]), (DATABASE, &DATABASE_FILES)] {
        // What is still prepared has not been put in place.
        if stage.join(part).symlink_metadata().is_err() {
            continue;
        }
        for name in files {
            let old = directory.join(name);
            if old.symlink_metadata().is_ok() {
                make_directory(&aside)?;
                rename(&old, &aside.join(name))?;
                return Ok(true);
            }
        }
        rename(&stage.join(part), &directory.join(part))?;
        return Ok(true);
    }
    clear(&stage)?;
    fs::remove_file(directory.join(MARK))?;
    sync_directory(directory)?;
    Ok(false)
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    for path in [from, to] {
        if let Some(parent) = path.parent() {
            File::open(parent)?.sync_all()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than there are.
    const STEPS_MAX: usize = 20;

    fn put(path: &Path, content: &str) {
        make_directory(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn prepared(directory: &Path) {
        for name in DATABASE_FILES.into_iter().chain(["avatars/a", "avatars/b"]) {
            put(&directory.join(name), "old");
        }
        let stage = stage(directory).unwrap();
        for name in [DATABASE, "avatars/a", "avatars/c"] {
            put(&stage.join(name), "new");
        }
    }

    #[test]
    fn whatever_step_a_crash_comes_after_the_next_opener_ends_it() {
        for crash_after in 0..STEPS_MAX {
            let home = tempfile::tempdir().unwrap();
            let directory = home.path();
            prepared(directory);
            let aside = commit(directory, "now").unwrap();
            let mut more = true;
            for _ in 0..crash_after {
                more = more && advance(directory).unwrap();
            }
            assert_eq!(finish(directory).unwrap(), more || crash_after == 0);
            let read = |path: PathBuf| fs::read_to_string(path).unwrap();
            for name in [DATABASE, "avatars/a", "avatars/c"] {
                assert_eq!(read(directory.join(name)), "new", "{crash_after} {name}");
            }
            for name in DATABASE_FILES.into_iter().chain(["avatars/a", "avatars/b"]) {
                assert_eq!(read(aside.join(name)), "old", "{crash_after} {name}");
            }
            let mut names: Vec<_> =
                fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, [DATABASE, AVATARS, "before-restore-now"]);
        }
    }

    #[test]
    fn before_the_mark_nothing_has_happened() {
        let home = tempfile::tempdir().unwrap();
        prepared(home.path());
        assert!(!finish(home.path()).unwrap());
        assert_eq!(fs::read_to_string(home.path().join(DATABASE)).unwrap(), "old");
        assert!(
            fs::read_dir(stage(home.path()).unwrap()).unwrap().next().is_none(),
            "the next one begins anew"
        );
    }

    #[test]
    fn a_bare_database_leaves_the_avatars_alone() {
        let home = tempfile::tempdir().unwrap();
        prepared(home.path());
        fs::remove_dir_all(home.path().join(STAGE).join(AVATARS)).unwrap();
        commit(home.path(), "now").unwrap();
        finish(home.path()).unwrap();
        assert_eq!(fs::read_to_string(home.path().join(DATABASE)).unwrap(), "new");
        assert_eq!(fs::read_to_string(home.path().join("avatars/b")).unwrap(), "old");
    }

    #[test]
    fn a_mark_that_leads_elsewhere_is_refused() {
        let home = tempfile::tempdir().unwrap();
        for text in ["", "/etc", "before-restore-/../../x"] {
            fs::write(home.path().join(MARK), text).unwrap();
            assert!(finish(home.path()).is_err(), "{text:?}");
        }
    }
}
