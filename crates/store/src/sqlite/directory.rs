//! The data directory: made with rights for its owner alone, and held by a lock file.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{Error, ErrorKind, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process,
};

use crate::OpenError;

const LOCK_FILE: &str = "arena.lock";
/// A pid and a line end fit; a larger file is not ours.
const PID_BYTES_MAX: u64 = 16;

/// Makes the directory if need be and holds it until the file is dropped.
pub(super) fn hold(directory: &Path) -> Result<File, OpenError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|cause| explain(directory, cause))?;
    let path = directory.join(LOCK_FILE);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|cause| explain(&path, cause))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let pid = holder(&file);
            return Err(OpenError::Held { directory: directory.to_owned(), pid });
        }
        Err(TryLockError::Error(cause)) => return Err(explain(&path, cause)),
    }
    // The pid is only for the message of the process that is refused.
    let written = file.set_len(0).and_then(|()| writeln!(file, "{}", process::id()));
    written.map_err(|cause| explain(&path, cause))?;
    file.rewind().map_err(|cause| explain(&path, cause))?;
    Ok(file)
}

fn holder(file: &File) -> Option<String> {
    let mut text = String::new();
    file.take(PID_BYTES_MAX).read_to_string(&mut text).ok()?;
    let pid = text.trim();
    (!pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit())).then(|| pid.to_owned())
}

/// Denied rights name whose the nearest existing part of the path is.
fn explain(path: &Path, cause: Error) -> OpenError {
    if cause.kind() != ErrorKind::PermissionDenied {
        return OpenError::Directory { path: path.to_owned(), cause };
    }
    let found = path.ancestors().find_map(|part| Some((part.to_owned(), part.metadata().ok()?.uid())));
    let (path, owner_uid) =
        found.map_or_else(|| (PathBuf::from(path), None), |(part, uid)| (part, Some(uid)));
    OpenError::Permission { path, owner_uid, our_uid: rustix::process::geteuid().as_raw() }
}

/// The same words for a database file that cannot be opened.
pub(super) fn check_writable(path: &Path) -> Result<(), OpenError> {
    let opened =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    opened.map(drop).map_err(|cause| explain(path, cause))
}
