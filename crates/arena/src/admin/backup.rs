//! `arena admin backup` and `restore`: one file with the database, the avatars and a manifest.
//!
//! A backup is made beside a running server. A restore needs the data directory to itself, checks the
//! whole file before it changes anything, and moves what was there aside instead of deleting it.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::{Component, Path, PathBuf},
};

use kernel::{
    Moment,
    id::hex,
    time::{Clock, SystemClock},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{config::layers::Loaded, exit::ExitCode, failure::Failure, opening, output::print};

const MANIFEST: &str = "manifest.json";
const DATABASE: &str = store::FILE_NAME;
const AVATARS: &str = "avatars";
/// The shape of the file; a restore takes no other.
const FORMAT: u32 = 1;
/// A manifest is short.
const MANIFEST_BYTES_MAX: u64 = 64 * 1024;
/// While this file is in a data directory, a restore has begun and not ended.
pub(crate) const MARK: &str = "restore-in-progress";

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Manifest {
    format: u32,
    /// Of the program that made it.
    version: String,
    created_at: Moment,
    database_bytes: u64,
    database_sha256: String,
    avatars: u64,
}

/// What was done, with `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Done<'a> {
    file: String,
    #[serde(flatten)]
    manifest: &'a Manifest,
    /// Where what was there before went.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<String>,
}

fn io_failure(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("cannot {what} {}: {error}", path.display()))
        .hint("check the path, the rights and the free space")
}

fn refused(message: String, hint: &str) -> Failure {
    Failure::new(ExitCode::Refused, message).hint(hint)
}

fn only_sqlite(loaded: &Loaded, instead: &str) -> Result<(), Failure> {
    if loaded.config.database.url.is_none() {
        return Ok(());
    }
    Err(refused("the data is in PostgreSQL, which has tools of its own for this".to_owned(), instead))
}

/// Writes a backup of the data directory to `target`.
pub(crate) fn backup(
    loaded: &Loaded,
    target: &Path,
    force: bool,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    only_sqlite(
        loaded,
        "use `pg_dump --format=custom --file=arena.dump DATABASE`, and copy the directory avatars.dir",
    )?;
    if target.exists() && !force {
        return Err(refused(
            format!("{} exists already", target.display()),
            "choose another name, or pass --force to replace it",
        ));
    }
    let source = &loaded.data_dir;
    if !source.join(DATABASE).is_file() {
        return Err(refused(
            format!("there is no {DATABASE} in {}", source.display()),
            "pass the --data-dir of the server, or start it once",
        ));
    }
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let space = tempfile::Builder::new()
        .prefix(".arena-backup-")
        .tempdir_in(parent)
        .map_err(|error| io_failure("write in", parent, &error))?;
    let copy = space.path().join(DATABASE);
    // The database first: an avatar that it names is there longer than it is named.
    store::copy(source, &copy).map_err(|error| opening::failure(&error))?;
    let images = images(&avatars_of(loaded)).map_err(|error| io_failure("read", source, &error))?;
    let (database_bytes, database_sha256) =
        digest(&copy).map_err(|error| io_failure("read", &copy, &error))?;
    let manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: Moment::from_millis(SystemClock.real_ms()),
        database_bytes,
        database_sha256,
        avatars: u64::try_from(images.len()).unwrap_or(u64::MAX),
    };
    let file =
        tempfile::NamedTempFile::new_in(parent).map_err(|error| io_failure("write in", parent, &error))?;
    write_archive(file.as_file(), &manifest, &copy, &images)
        .map_err(|error| io_failure("write", target, &error))?;
    file.persist(target).map_err(|error| io_failure("write", target, &error.error))?;
    // The name is durable with its directory.
    if let Ok(directory) = File::open(parent) {
        let _ = directory.sync_all();
    }
    tell(&Done { file: target.display().to_string(), manifest: &manifest, moved_to: None }, as_json)?;
    Ok(ExitCode::Ok)
}

fn avatars_of(loaded: &Loaded) -> PathBuf {
    loaded.config.avatars.dir.as_ref().map_or_else(|| loaded.data_dir.join(AVATARS), PathBuf::from)
}

/// The images of a directory, by name; none when there is no such directory.
fn images(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut images = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_image) {
            images.push(path);
        }
    }
    images.sort();
    Ok(images)
}

fn is_image(name: &str) -> bool {
    name.strip_suffix(".webp").is_some_and(duels::avatars::is_name)
}

fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = BufReader::new(File::open(path)?);
    let (mut hash, mut bytes, mut block) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            return Ok((bytes, hex(&hash.finalize())));
        }
        bytes += u64::try_from(read).unwrap_or(0);
        hash.update(&block[..read]);
    }
}

fn write_archive(file: &File, manifest: &Manifest, database: &Path, images: &[PathBuf]) -> io::Result<()> {
    let mut archive = tar::Builder::new(io::BufWriter::new(file));
    let text = serde_json::to_vec_pretty(manifest)?;
    let mut header = tar::Header::new_gnu();
    header.set_size(u64::try_from(text.len()).unwrap_or(0));
    header.set_mode(0o600);
    archive.append_data(&mut header, MANIFEST, text.as_slice())?;
    archive.append_path_with_name(database, DATABASE)?;
    for image in images {
        let Some(name) = image.file_name() else { continue };
        match archive.append_path_with_name(image, Path::new(AVATARS).join(name)) {
            // Replaced since the list was read, and named by nobody any more.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => done?,
        }
    }
    archive.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Puts a backup in the place of the data directory's content.
pub(crate) fn restore(
    loaded: &Loaded,
    source: &Path,
    force: bool,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    only_sqlite(loaded, "use `pg_restore --clean --dbname=DATABASE arena.dump`")?;
    let directory = &loaded.data_dir;
    let _hold = store::hold(directory).map_err(|error| opening::failure(&error))?;
    let interrupted = directory.join(MARK).exists();
    if directory.join(DATABASE).exists() && !force && !interrupted {
        return Err(refused(
            format!("{} holds data already", directory.display()),
            "pass --force to move it aside, or another --data-dir",
        ));
    }
    let space = tempfile::Builder::new()
        .prefix(".restore-")
        .tempdir_in(directory)
        .map_err(|error| io_failure("write in", directory, &error))?;
    let manifest = unpack(source, space.path())?;
    let options = opening::options(opening::place(loaded), &loaded.config);
    store::inspect(&space.path().join(DATABASE), &options).map_err(|error| opening::failure(&error))?;
    let moved = swap(directory, space.path())
        .map_err(|error| io_failure("replace the data in", directory, &error))?;
    let moved_to = moved.map(|path| path.display().to_string());
    tell(&Done { file: source.display().to_string(), manifest: &manifest, moved_to }, as_json)?;
    Ok(ExitCode::Ok)
}

/// Unpacks and checks everything; nothing outside of `space` is touched.
fn unpack(source: &Path, space: &Path) -> Result<Manifest, Failure> {
    let file = File::open(source).map_err(|error| io_failure("read", source, &error))?;
    let broken = |why: &str| {
        refused(
            format!("{} is not a whole backup of Arena: {why}", source.display()),
            "pass a file that `arena admin backup` wrote, copied as it is",
        )
    };
    let damaged = |_| broken("it is damaged or cut off");
    let mut archive = tar::Archive::new(BufReader::new(file));
    let mut manifest: Option<Manifest> = None;
    let mut images = 0;
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let path = entry.path().map_err(damaged)?.into_owned();
        if entry.header().entry_type() != tar::EntryType::Regular {
            return Err(broken("it holds something that is not a file"));
        }
        let target = match (&manifest, parts(&path).as_deref()) {
            (None, Some([MANIFEST])) => {
                let mut text = String::new();
                entry.by_ref().take(MANIFEST_BYTES_MAX).read_to_string(&mut text).map_err(damaged)?;
                let read: Manifest =
                    serde_json::from_str(&text).map_err(|_| broken("its manifest cannot be read"))?;
                if read.format != FORMAT {
                    return Err(refused(
                        format!(
                            "the backup was written by Arena {} in a form that {} does not know",
                            read.version,
                            env!("CARGO_PKG_VERSION")
                        ),
                        "restore it with that version or a newer one",
                    ));
                }
                manifest = Some(read);
                continue;
            }
            (None, _) => return Err(broken("it does not begin with a manifest")),
            (Some(_), Some([DATABASE])) => space.join(DATABASE),
            (Some(_), Some([AVATARS, name])) if is_image(name) => {
                images += 1;
                let directory = space.join(AVATARS);
                fs::create_dir_all(&directory).map_err(|error| io_failure("write in", space, &error))?;
                directory.join(name)
            }
            (Some(_), _) => return Err(broken("it holds a file that no backup has")),
        };
        let mut out = File::create_new(&target).map_err(|error| io_failure("write", &target, &error))?;
        io::copy(&mut entry, &mut out).map_err(damaged)?;
        out.sync_all().map_err(|error| io_failure("write", &target, &error))?;
    }
    let manifest = manifest.ok_or_else(|| broken("it is empty"))?;
    let (bytes, sha256) = digest(&space.join(DATABASE)).map_err(|_| broken("its database is missing"))?;
    if (bytes, sha256.as_str()) != (manifest.database_bytes, manifest.database_sha256.as_str()) {
        return Err(broken("the checksum of its database differs"));
    }
    if images != manifest.avatars {
        return Err(broken("avatars are missing"));
    }
    Ok(manifest)
}

/// The parts of a relative path; `None` for one that leads anywhere else.
fn parts(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .map(|component| match component {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect()
}

/// Moves the old data aside and the new into its place. The mark says, after a crash in between, that the
/// directory is neither: then a server does not start, and a repeat of the restore goes on.
fn swap(directory: &Path, space: &Path) -> io::Result<Option<PathBuf>> {
    let mark = directory.join(MARK);
    File::create(&mark)?.sync_all()?;
    let aside = directory.join(format!("before-restore-{}", SystemClock.real_ms()));
    let mut moved = None;
    for name in [DATABASE, "arena.db-wal", "arena.db-shm", AVATARS] {
        let old = directory.join(name);
        if old.exists() {
            fs::create_dir_all(&aside)?;
            fs::rename(&old, aside.join(name))?;
            moved = Some(aside.clone());
        }
    }
    for name in [AVATARS, DATABASE] {
        let new = space.join(name);
        if new.exists() {
            fs::rename(new, directory.join(name))?;
        }
    }
    File::open(directory)?.sync_all()?;
    fs::remove_file(mark)?;
    File::open(directory)?.sync_all()?;
    Ok(moved)
}

fn tell(done: &Done<'_>, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return print::json(done);
    }
    let manifest = done.manifest;
    let mut text = format!(
        "{}\n  made      {} by Arena {}\n  database  {} bytes, SHA-256 {}\n  avatars   {}\n",
        done.file,
        manifest.created_at,
        manifest.version,
        manifest.database_bytes,
        manifest.database_sha256,
        manifest.avatars
    );
    if let Some(moved_to) = &done.moved_to {
        text.extend(["\nWhat was there before is in ", moved_to, ".\n"]);
    }
    print::data(&text);
    Ok(())
}
