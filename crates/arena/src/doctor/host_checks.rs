//! The checks of the machine: the data directory, its disk, and the listener of a server that runs.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::check::Check;
use crate::{config::layers::Loaded, remote::http::Http};

/// Below this a write-heavy day may fill the disk.
const FREE_BYTES_MIN: u64 = 256 * 1024 * 1024;

pub(crate) fn config(loaded: &Loaded) -> Check {
    let set = loaded.values.iter().filter(|value| value.origin.is_chosen()).count();
    Check::holds("config", format!("valid; {set} values are not defaults"))
}

pub(crate) fn data_dir(loaded: &Loaded) -> Check {
    const NAME: &str = "data directory";
    let path = loaded.data_dir.display();
    match std::fs::metadata(&loaded.data_dir) {
        Ok(meta) if !meta.is_dir() => {
            Check::fails(NAME, format!("{path} is not a directory"), "pass another --data-dir")
        }
        Ok(meta) => {
            let mode = meta.permissions().mode() & 0o777;
            let uid = rustix::process::geteuid().as_raw();
            if mode & 0o077 != 0 {
                return Check::fails(
                    NAME,
                    format!("{path} has mode {mode:03o}, so others can enter it"),
                    format!("run: chmod 700 {path}"),
                );
            }
            if meta.uid() != uid && uid != 0 {
                return Check::fails(
                    NAME,
                    format!("{path} belongs to uid {} and this is uid {uid}", meta.uid()),
                    format!("run: sudo chown -R {uid} {path}"),
                );
            }
            Check::holds(NAME, format!("{path}, mode {mode:03o}"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::skipped(NAME, format!("{path} does not exist yet; `arena serve` creates it"))
        }
        Err(error) => Check::fails(
            NAME,
            format!("{path}: {error}"),
            "check the path and who owns it (ls -ld), or pass another --data-dir",
        ),
    }
}

pub(crate) fn free_space(loaded: &Loaded) -> Check {
    const NAME: &str = "disk";
    // Before the first start the directory above tells.
    let existing = loaded.data_dir.ancestors().find(|path| path.exists());
    let Some(space) = existing.and_then(|path| rustix::fs::statvfs(path).ok()) else {
        return Check::skipped(NAME, "the free space cannot be read here");
    };
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let mebibytes = free / (1024 * 1024);
    if free < FREE_BYTES_MIN {
        return Check::fails(
            NAME,
            format!("{mebibytes} MiB free"),
            "make room: writes stop when the disk is full",
        );
    }
    Check::holds(NAME, format!("{mebibytes} MiB free"))
}

/// Asks the listener of the server that answered the checks of the store.
pub(crate) async fn listener(running: Option<&str>) -> Check {
    const NAME: &str = "server";
    let Some(base) = running else {
        return Check::skipped(NAME, "no server runs on this data directory");
    };
    let url = url::Url::parse(base).ok().and_then(|base| base.join("/readyz").ok());
    let answer = match (Http::new(), url) {
        (Ok(http), Some(url)) => http.get(&url).await.map(|answer| answer.status),
        (Err(failure), _) => Err(failure),
        (_, None) => return Check::fails(NAME, format!("{base} is not an address"), "report this"),
    };
    match answer {
        Ok(200) => Check::holds(NAME, format!("{base} is ready")),
        Ok(status) => {
            Check::fails(NAME, format!("{base}/readyz answers {status}"), "look at the server's log")
        }
        Err(failure) => Check::fails(NAME, failure.message, "look at the server's log, and at firewalls"),
    }
}
