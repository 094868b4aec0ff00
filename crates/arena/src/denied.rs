//! Words for a file that cannot be read or written: whose it is, who asks, and the command that helps.

use std::{
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::Path,
};

use crate::{exit::ExitCode, failure::Failure};

/// A failure to do `what` with the file or directory at `path`.
pub(crate) fn failure(what: &str, path: &Path, error: &io::Error) -> Failure {
    failure_with(ExitCode::Failed, what, path, error)
}

/// The same with another exit code.
pub(crate) fn failure_with(exit: ExitCode, what: &str, path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    match error.kind() {
        ErrorKind::PermissionDenied => permission(exit, what, path),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Failure::new(exit, format!("cannot {what} {name}: there is no room left"))
                .hint("nothing was changed; make room on that disk, or choose a place on another one")
        }
        ErrorKind::NotFound => {
            Failure::new(exit, format!("cannot {what} {name}: there is no such file or directory"))
                .hint("check the path")
        }
        _ => Failure::new(exit, format!("cannot {what} {name}: {error}"))
            .hint("check the path, the rights and the disk"),
    }
}

fn permission(exit: ExitCode, what: &str, path: &Path) -> Failure {
    let ours = rustix::process::geteuid().as_raw();
    // What can be looked at is what denies: of a path in a closed directory, that directory.
    let found = path.ancestors().find_map(|part| Some((part, part.metadata().ok()?.uid())));
    let name = path.display();
    let Some((part, owner)) = found else {
        return Failure::new(exit, format!("cannot {what} {name}: permission denied to uid {ours}"))
            .hint("check the rights of the directories above it");
    };
    let shown = part.display();
    let whose = if part == path { "it".to_owned() } else { shown.to_string() };
    let words = format!(
        "cannot {what} {name}: permission denied; {whose} belongs to uid {owner} and Arena runs as uid {ours}"
    );
    let hint = if owner == ours {
        format!("run: chmod u+rwX {shown}")
    } else {
        format!("run: sudo chown {ours} {shown}, or run this as uid {owner}, or choose another path")
    };
    Failure::new(exit, words).hint(hint)
}
