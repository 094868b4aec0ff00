//! `arena admin backup`: copies beside the running server, writes one file, and names it only when it is
//! whole.

use std::{fs, path::Path};

use kernel::{
    Moment,
    time::{Clock, SystemClock},
};
use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};

use super::{
    archive::{self, DATABASE},
    images::{self, AVATARS, ImagesDigest},
    manifest::{self, Done, FORMAT, Manifest},
    postgres::{self, Wanted},
    progress::Progress,
};
use crate::{config::layers::Loaded, denied, exit::ExitCode, failure::Failure, opening, output::print};

/// How the directory begins in which a backup is prepared; the number of its process follows.
const SPACE: &str = ".arena-backup-";
/// How often the database is copied for the sake of images that come and go.
const COPIES_MAX: u32 = 3;

/// Writes a backup of the data directory to `target`.
pub(crate) fn backup(
    loaded: &Loaded,
    target: &Path,
    force: bool,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    postgres::refuse(loaded, Wanted::Backup)?;
    let taken = || {
        Failure::new(ExitCode::Refused, format!("{} exists already", target.display()))
            .hint("choose another name, or pass --force to replace it")
    };
    if target.is_dir() {
        return Err(Failure::new(ExitCode::Refused, format!("{} is a directory", target.display()))
            .hint("name a file, for example arena-backup.tar in it"));
    }
    if let Ok(there) = target.symlink_metadata() {
        // A rename would put a file in the place of a device, a pipe or a link.
        if !there.is_file() {
            let words = format!("{} is no regular file, and is left as it is", target.display());
            return Err(Failure::new(ExitCode::Refused, words).hint("name a file of its own"));
        }
        if !force {
            return Err(taken());
        }
    }
    opening::finish_restore(&opening::place(loaded))?;
    let source = &loaded.data_dir;
    let database = source.join(DATABASE);
    match fs::metadata(&database) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(denied::failure("read", &database, &error));
        }
        Err(_) => {
            return Err(Failure::new(
                ExitCode::Refused,
                format!("there is no {DATABASE} in {}", source.display()),
            )
            .hint("pass the --data-dir of the server, or start it once"));
        }
    }
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    sweep(parent);
    let space = tempfile::Builder::new()
        .prefix(&format!("{SPACE}{}-", std::process::id()))
        .tempdir_in(parent)
        .map_err(|error| denied::failure("write in", parent, &error))?;
    let manifest = collect(loaded, space.path())?;

    let file = tempfile::NamedTempFile::new_in(space.path())
        .map_err(|error| denied::failure("write in", parent, &error))?;
    {
        let _telling = Progress::of_file("writing", file.path().to_owned(), manifest.database_bytes);
        archive::write(file.as_file(), &manifest, &space.path().join(DATABASE), &space.path().join(AVATARS))
            .map_err(|error| denied::failure("write", target, &error))?;
    }
    let named = if force { file.persist(target) } else { file.persist_noclobber(target) };
    named.map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => taken(),
        _ => denied::failure("write", target, &error.error),
    })?;
    archive::sync_directory(parent).map_err(|error| denied::failure("write in", parent, &error))?;
    Done { file: target.display().to_string(), manifest: Some(&manifest), restored: None }.tell(as_json)?;
    Ok(ExitCode::Ok)
}

/// Removes what a backup left that was killed: the number in its name is of a process that is gone.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(SPACE)?.split('-').next()?.parse().ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else { continue };
        if test_kill_process(pid) == Err(Errno::SRCH) {
            // Whose it was may be somebody else, and it only takes up room.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// How many of the images that a copied database names were not gathered; none where it is of a version whose
/// tables this program cannot read.
fn missing(copy: &Path, avatars: &Path) -> usize {
    let named = store::look(copy, |tx| duels::avatars::shown(tx)).unwrap_or_default();
    named.iter().filter(|name| !avatars.join(images::file_name(name)).exists()).count()
}

/// Copies database and avatars into `space`. Avatars are gathered before and after the database. One that was
/// made and replaced in between is at neither time there: the copy that names it is made again.
fn collect(loaded: &Loaded, space: &Path) -> Result<Manifest, Failure> {
    let (copy, avatars) = (space.join(DATABASE), space.join(AVATARS));
    let from = images::directory_of(loaded);
    let gather =
        || images::gather(&from, &avatars).map_err(|error| denied::failure("copy from", &from, &error));
    gather()?;
    for left in (0..COPIES_MAX).rev() {
        {
            let size = fs::metadata(loaded.data_dir.join(DATABASE)).map_or(0, |meta| meta.len());
            let _telling = Progress::of_file("copying the database", copy.clone(), size);
            store::copy(&loaded.data_dir, &copy).map_err(|error| opening::failure(&error))?;
        }
        gather()?;
        let missing = missing(&copy, &avatars);
        if missing == 0 {
            break;
        }
        if left == 0 {
            print::note(&format!("{missing} images that agents show are not in {}", from.display()));
            break;
        }
        fs::remove_file(&copy).map_err(|error| denied::failure("write in", space, &error))?;
    }
    let _telling = Progress::of_work("checking the copy");
    // An older or newer server may have tables that this program cannot count in.
    let counts = store::look(&copy, |tx| manifest::audited(tx)).ok().map(|(counts, _)| counts);
    let unreadable = |error: &std::io::Error| denied::failure("read", space, error);
    let (database_bytes, database_sha256) = archive::digest(&copy).map_err(|error| unreadable(&error))?;
    let (count, avatars_sha256) = ImagesDigest::of(&avatars).map_err(|error| unreadable(&error))?;
    Ok(Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: Moment::from_millis(SystemClock.real_ms()),
        schemas: store::schemas(&copy).map_err(|error| opening::failure(&error))?,
        counts,
        database_bytes,
        database_sha256,
        avatars: count,
        avatars_sha256,
    })
}
