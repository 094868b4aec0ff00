//! `arena admin restore`: checks the whole file beside the data, brings its tables up to date, adds up its
//! ledger, and only then puts it in the place of what is there.

use std::{
    fs::{self, File},
    path::Path,
};

use kernel::{
    Moment,
    time::{Clock, SystemClock},
};
use store::{Place, Store};

use super::{
    archive::{self, DATABASE},
    images::{self, AVATARS},
    manifest::{self, Counts, Done, Outcome},
    postgres::{self, Wanted},
    progress::Progress,
    swap,
};
use crate::{config::layers::Loaded, denied, exit::ExitCode, failure::Failure, opening, output::print};

/// So many violations are printed; the first ones lead to the cause.
const SHOWN_MAX: usize = 10;

/// Puts a backup in the place of the data directory's content.
pub(crate) fn restore(
    loaded: &Loaded,
    source: &Path,
    force: bool,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    postgres::refuse(loaded, Wanted::Restore)?;
    let file = File::open(source).map_err(|error| denied::failure("read", source, &error))?;
    let directory = &loaded.data_dir;
    let _hold = store::hold(directory).map_err(|error| opening::failure(&error))?;
    let changing = |error: &std::io::Error| denied::failure("replace the data in", directory, error);
    if swap::finish(directory).map_err(|error| changing(&error))? {
        print::note("an earlier restore that was interrupted has been ended first");
    }
    if swap::is_occupied(directory) && !force {
        return Err(Failure::new(ExitCode::Refused, format!("{} holds data already", directory.display()))
            .hint("pass --force to move it aside, or another --data-dir"));
    }
    let stage = swap::stage(directory).map_err(|error| denied::failure("write in", directory, &error))?;
    let done = into_place(loaded, file, source, &stage);
    if done.is_err() && !directory.join(swap::MARK).exists() {
        // The next restore would remove it as well.
        let _ = swap::clear(&stage);
    }
    let (manifest, restored) = done?;
    let violations = restored.violations.clone();
    Done { file: source.display().to_string(), manifest: manifest.as_ref(), restored: Some(restored) }
        .tell(as_json)?;
    if violations.is_empty() {
        return Ok(ExitCode::Ok);
    }
    let shown: Vec<&str> = violations.iter().take(SHOWN_MAX).map(String::as_str).collect();
    Err(Failure::failed(format!(
        "restored, but its ledger does not add up, as it did not when the backup was made: {}",
        shown.join("; ")
    ))
    .hint("run `arena doctor`, and restore an older backup or report this"))
}

fn into_place(
    loaded: &Loaded,
    file: File,
    source: &Path,
    stage: &Path,
) -> Result<(Option<manifest::Manifest>, Outcome), Failure> {
    let directory = &loaded.data_dir;
    let size = file.metadata().map_or(0, |meta| meta.len());
    let manifest = {
        let _telling = Progress::of_file("unpacking", stage.join(DATABASE), size);
        archive::unpack(file, source, stage)?
    };
    let (counts, violations) = brought_up_to_date(loaded, source, stage)?;
    if let Some(said) = manifest.as_ref().and_then(|manifest| manifest.counts)
        && said != counts
    {
        return Err(archive::broken(source, "it holds other numbers than its manifest says"));
    }
    if let Some(elsewhere) = images::outside(loaded) {
        put_outside(&stage.join(AVATARS), &elsewhere)
            .map_err(|error| denied::failure("write in", &elsewhere, &error))?;
    }
    let was_occupied = swap::is_occupied(directory);
    let time = Moment::from_millis(SystemClock.real_ms()).to_string().replace(['-', ':'], "");
    let changing = |error: &std::io::Error| denied::failure("replace the data in", directory, error);
    let aside = swap::commit(directory, &time).map_err(|error| changing(&error))?;
    swap::finish(directory).map_err(|error| changing(&error))?;
    let moved_to = (was_occupied && aside.exists()).then(|| aside.display().to_string());
    Ok((manifest, Outcome { restored: counts, violations, moved_to }))
}

/// Migrates the prepared database and adds up its ledger.
fn brought_up_to_date(
    loaded: &Loaded,
    source: &Path,
    stage: &Path,
) -> Result<(Counts, Vec<String>), Failure> {
    let _telling = Progress::of_work("checking the database and its ledger");
    let mut options = opening::options(Place::Directory(stage.to_owned()), &loaded.config);
    // The backup itself is the copy.
    options.keeps_copies = false;
    store::inspect(&stage.join(DATABASE), &options).map_err(|error| unusable(source, &error))?;
    let store = Store::open(options).map_err(|error| unusable(source, &error))?;
    let audited = store.read_blocking(|tx| manifest::audited(tx));
    store.close();
    let audited = audited?;
    // Only the database and the avatars belong to what is restored.
    for entry in fs::read_dir(stage).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name != DATABASE && name != AVATARS {
            fs::remove_file(entry.path()).map_err(|error| denied::failure("write in", stage, &error))?;
        }
    }
    Ok(audited)
}

/// The words for a database that cannot be used: they name the backup, not where it was unpacked.
fn unusable(source: &Path, error: &store::OpenError) -> Failure {
    match error {
        store::OpenError::NotArena { what, .. } => archive::broken(source, &format!("its database {what}")),
        store::OpenError::Altered { what, .. } => archive::broken(source, &format!("its database {what}")),
        store::OpenError::Sqlite { .. } => archive::broken(source, "its database is damaged"),
        other => opening::failure(other),
    }
}

/// Adds images to a directory that others may share; nothing there is replaced or removed.
fn put_outside(from: &Path, into: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    images::make_directory(into)?;
    for image in images::list(from)? {
        let Some(name) = image.file_name() else { continue };
        let target = into.join(name);
        if !target.exists() {
            images::copy(&image, &target)?;
        }
    }
    archive::sync_directory(into)?;
    fs::remove_dir_all(from)
}
