//! The data directory: made with rights for its owner alone, and held by a lock file.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{Error, ErrorKind, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::Path,
    process,
};

use crate::OpenError;

const LOCK_FILE: &str = "arena.lock";
/// A pid and a line end fit; a larger file is not ours.
const PID_BYTES_MAX: u64 = 16;

/// Makes the directory if need be and holds it until the file is dropped.
pub(super) fn hold(directory: &Path) -> Result<File, OpenError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|cause| explain(directory, directory, cause))?;
    let path = directory.join(LOCK_FILE);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|cause| explain(directory, &path, cause))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let pid = holder(&file);
            return Err(OpenError::Held { directory: directory.to_owned(), pid });
        }
        Err(TryLockError::Error(cause)) => return Err(explain(directory, &path, cause)),
    }
    // The pid is only for the message of the process that is refused.
    let written = file.set_len(0).and_then(|()| writeln!(file, "{}", process::id()));
    written.map_err(|cause| explain(directory, &path, cause))?;
    file.rewind().map_err(|cause| explain(directory, &path, cause))?;
    Ok(file)
}

fn holder(file: &File) -> Option<String> {
    let mut text = String::new();
    file.take(PID_BYTES_MAX).read_to_string(&mut text).ok()?;
    let pid = text.trim();
    (!pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit())).then(|| pid.to_owned())
}

/// Denied rights name whose the nearest existing part of the path is, and a remedy that changes
/// nothing but the data directory.
pub(super) fn explain(directory: &Path, path: &Path, cause: Error) -> OpenError {
    if cause.kind() != ErrorKind::PermissionDenied {
        return OpenError::Directory { path: path.to_owned(), cause };
    }
    let found = path.ancestors().find_map(|part| Some((part.to_owned(), part.metadata().ok()?.uid())));
    let our_uid = rustix::process::geteuid().as_raw();
    let shown = directory.display();
    let remedy = match &found {
        Some((part, _)) if part.starts_with(directory) => format!("sudo chown -R {our_uid} {shown}"),
        _ => format!("sudo install -d -m 700 -o {our_uid} {shown}"),
    };
    let (path, owner_uid) =
        found.map_or_else(|| (path.to_owned(), None), |(part, owner)| (part, Some(owner)));
    OpenError::Permission { path, owner_uid, our_uid, remedy }
}

/// The same words for the database file.
pub(super) fn check_writable(path: &Path) -> Result<(), OpenError> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let directory = path.parent().unwrap_or(path);
    opened.map(drop).map_err(|cause| explain(directory, path, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denied_rights_name_the_path_its_owner_and_a_remedy_for_the_directory_alone() {
        let parent = tempfile::tempdir().unwrap();
        let owner = parent.path().metadata().unwrap().uid();
        let ours = rustix::process::geteuid().as_raw();
        let directory = parent.path().join("data");
        let words =
            |path: &Path| explain(&directory, path, Error::from(ErrorKind::PermissionDenied)).to_string();
        let missing = words(&directory);
        let (shown, above) = (directory.display(), parent.path().display());
        assert!(missing.contains(&format!("cannot use {above}: ")), "{missing}");
        assert!(missing.contains(&format!("uid {owner} and Arena runs as uid {ours}")), "{missing}");
        assert!(missing.ends_with(&format!("sudo install -d -m 700 -o {ours} {shown}")), "{missing}");

        std::fs::create_dir(&directory).unwrap();
        let file = directory.join("arena.db");
        std::fs::write(&file, "").unwrap();
        for path in [&directory, &file] {
            let words = words(path);
            assert!(words.contains(&format!("cannot use {}: ", path.display())), "{words}");
            assert!(words.ends_with(&format!("sudo chown -R {ours} {shown}")), "{words}");
        }
    }
}
