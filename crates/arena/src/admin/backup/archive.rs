//! The file itself: a tar of the manifest, the database and the avatars, in this order. What is read from
//! one is trusted in nothing: names, kinds, sizes and sums are checked before anything is used.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufReader, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Component, Path},
};

use kernel::id::hex;
use sha2::{Digest, Sha256};

use super::{
    images::{self, AVATARS, IMAGE_BYTES_MAX, ImagesDigest},
    manifest::{FORMAT, Head, Manifest},
};
use crate::{denied, exit::ExitCode, failure::Failure};

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const DATABASE: &str = store::FILE_NAME;
/// A manifest is short.
const MANIFEST_BYTES_MAX: u64 = 64 * 1024;
const BLOCK_BYTES: usize = 1 << 16;
/// How a bare database file begins.
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Writes a backup and makes it durable.
pub(super) fn write(file: &File, manifest: &Manifest, database: &Path, avatars: &Path) -> io::Result<()> {
    let mut archive = tar::Builder::new(io::BufWriter::new(file));
    // A hole in the database would otherwise become an entry of another kind.
    archive.sparse(false);
    let text = serde_json::to_vec_pretty(manifest)?;
    let mut header = tar::Header::new_gnu();
    header.set_size(u64::try_from(text.len()).unwrap_or(0));
    header.set_mode(0o600);
    archive.append_data(&mut header, MANIFEST, text.as_slice())?;
    archive.append_path_with_name(database, DATABASE)?;
    for image in images::list(avatars)? {
        let Some(name) = image.file_name() else { continue };
        archive.append_path_with_name(&image, Path::new(AVATARS).join(name))?;
    }
    archive.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// The size and the SHA-256 of a file.
pub(super) fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = BufReader::new(File::open(path)?);
    let (mut hash, mut bytes, mut block) = (Sha256::new(), 0, vec![0; BLOCK_BYTES]);
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            return Ok((bytes, hex(&hash.finalize())));
        }
        bytes += u64::try_from(read).unwrap_or(0);
        hash.update(&block[..read]);
    }
}

/// What the file at `source` is not, in words.
pub(super) fn broken(source: &Path, why: &str) -> Failure {
    Failure::new(ExitCode::Refused, format!("{} is not a whole backup of Arena: {why}", source.display()))
        .hint("nothing was changed; pass a file that `arena admin backup` wrote, copied as it is")
}

/// Unpacks a backup into `space` and checks it; `None` for a bare database file, which has no manifest.
/// Nothing outside of `space` is touched.
pub(super) fn unpack(file: File, source: &Path, space: &Path) -> Result<Option<Manifest>, Failure> {
    let damaged = |_| broken(source, "it is damaged or cut off");
    let mut reader = BufReader::new(file);
    let mut head = Vec::new();
    reader
        .by_ref()
        .take(16)
        .read_to_end(&mut head)
        .map_err(|error| denied::failure("read", source, &error))?;
    let bare = head == SQLITE_MAGIC;
    let mut reader = io::Cursor::new(head).chain(reader);
    if bare {
        write_out(&mut reader, &space.join(DATABASE), source)?;
        return Ok(None);
    }
    let mut archive = tar::Archive::new(reader);
    let mut manifest: Option<Manifest> = None;
    let mut avatars = ImagesDigest::default();
    let mut last = String::new();
    images::make_directory(&space.join(AVATARS))
        .map_err(|error| denied::failure("write in", space, &error))?;
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let path = entry.path().map_err(damaged)?.into_owned();
        if entry.header().entry_type() != tar::EntryType::Regular {
            return Err(broken(source, "it holds something that is not a file"));
        }
        match (&manifest, parts(&path).as_deref()) {
            (None, Some([MANIFEST])) => manifest = Some(read_manifest(&mut entry, source)?),
            (None, _) => return Err(broken(source, "it does not begin with a manifest")),
            (Some(_), Some([DATABASE])) => {
                if space.join(DATABASE).exists() {
                    return Err(broken(source, "it holds a file twice"));
                }
                write_out(&mut entry, &space.join(DATABASE), source)?;
            }
            (Some(_), Some([AVATARS, name])) if images::is_image(name) && entry.size() <= IMAGE_BYTES_MAX => {
                if *name <= last.as_str() {
                    return Err(broken(source, "its avatars are not in order"));
                }
                let mut content = Vec::new();
                entry.read_to_end(&mut content).map_err(damaged)?;
                avatars.add(name, &content);
                write_out(&mut content.as_slice(), &space.join(AVATARS).join(name), source)?;
                (*name).clone_into(&mut last);
            }
            (Some(_), _) => return Err(broken(source, "it holds a file that no backup has")),
        }
    }
    let manifest = manifest.ok_or_else(|| broken(source, "it is empty"))?;
    let (bytes, sha256) =
        digest(&space.join(DATABASE)).map_err(|_| broken(source, "its database is missing"))?;
    if (bytes, &sha256) != (manifest.database_bytes, &manifest.database_sha256) {
        return Err(broken(source, "the checksum of its database differs"));
    }
    let (count, sha256) = avatars.finish();
    if (count, &sha256) != (manifest.avatars, &manifest.avatars_sha256) {
        return Err(broken(source, "avatars are missing or damaged"));
    }
    Ok(Some(manifest))
}

fn read_manifest(entry: &mut impl Read, source: &Path) -> Result<Manifest, Failure> {
    let mut text = String::new();
    let read = entry.take(MANIFEST_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|_| broken(source, "it is damaged or cut off"))?;
    let unreadable = |_| broken(source, "its manifest cannot be read");
    let head: Head = serde_json::from_str(&text).map_err(unreadable)?;
    if head.format != FORMAT {
        let words = format!(
            "the backup was written by Arena {} in a form that {} does not know",
            head.version,
            env!("CARGO_PKG_VERSION")
        );
        return Err(Failure::new(ExitCode::Refused, words)
            .hint("nothing was changed; restore it with that version or a newer one"));
    }
    serde_json::from_str(&text).map_err(unreadable)
}

/// Writes a file for the owner alone. What cannot be read is the backup's fault, what cannot be written is
/// the disk's.
fn write_out(from: &mut impl Read, target: &Path, source: &Path) -> Result<(), Failure> {
    let failed = |error: &io::Error| denied::failure("write", target, error);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target);
    let mut out = made.map_err(|error| failed(&error))?;
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = from.read(&mut block).map_err(|_| broken(source, "it is damaged or cut off"))?;
        if read == 0 {
            return out.sync_all().map_err(|error| failed(&error));
        }
        out.write_all(&block[..read]).map_err(|error| failed(&error))?;
    }
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

/// Makes the names in a directory durable.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
