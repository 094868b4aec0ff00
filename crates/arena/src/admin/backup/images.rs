//! The avatars of a backup: which files they are, and one digest over all of them.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use kernel::id::hex;
use sha2::{Digest, Sha256};

use crate::config::layers::Loaded;
pub(super) use crate::opening::AVATARS;

/// An image is far smaller; a longer file in the directory is none.
pub(super) const IMAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Where this installation keeps its avatars.
pub(super) fn directory_of(loaded: &Loaded) -> PathBuf {
    outside(loaded).unwrap_or_else(|| loaded.data_dir.join(AVATARS))
}

/// The directory that the configuration names, if it names one.
pub(super) fn outside(loaded: &Loaded) -> Option<PathBuf> {
    loaded.config.avatars.dir.as_ref().map(PathBuf::from)
}

pub(super) fn is_image(name: &str) -> bool {
    name.strip_suffix(".webp").is_some_and(duels::avatars::is_name)
}

/// The file of an image.
pub(super) fn file_name(name: &str) -> String {
    format!("{name}.webp")
}

/// The images of a directory, sorted by name; none when there is no such directory.
pub(super) fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut images = Vec::new();
    for entry in entries {
        let entry = entry?;
        let named = entry.file_name().to_str().is_some_and(is_image);
        if named && entry.file_type()?.is_file() {
            images.push(entry.path());
        }
    }
    images.sort();
    Ok(images)
}

/// Makes the images of `from` appear in `into` as well, as links where that is possible: what is removed
/// from `from` later stays there.
pub(super) fn gather(from: &Path, into: &Path) -> io::Result<()> {
    make_directory(into)?;
    for image in list(from)? {
        let Some(name) = image.file_name() else { continue };
        let target = into.join(name);
        if target.exists() {
            continue;
        }
        let gathered = fs::hard_link(&image, &target).or_else(|_| copy(&image, &target));
        match gathered {
            // Replaced since the list was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => done?,
        }
    }
    Ok(())
}

/// Copies a file under a name of its own first, so that a reader never sees half of it.
pub(super) fn copy(from: &Path, target: &Path) -> io::Result<()> {
    let draft = target.with_extension("draft");
    let copied = fs::File::open(from).and_then(|mut source| {
        let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        io::copy(&mut source, &mut out)?;
        out.sync_all()?;
        fs::rename(&draft, target)
    });
    if copied.is_err() {
        // What is left of it only takes up room.
        let _ = fs::remove_file(&draft);
    }
    copied
}

pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A digest over names and contents.
#[derive(Default)]
pub(super) struct ImagesDigest {
    hash: Sha256,
    pub(super) count: u64,
}

impl ImagesDigest {
    pub(super) fn add(&mut self, name: &str, content: &[u8]) {
        self.count += 1;
        self.hash.update(name);
        self.hash.update(u64::try_from(content.len()).unwrap_or(u64::MAX).to_be_bytes());
        self.hash.update(content);
    }

    pub(super) fn finish(self) -> (u64, String) {
        (self.count, hex(&self.hash.finalize()))
    }

    /// The digest of a directory's images.
    pub(super) fn of(directory: &Path) -> io::Result<(u64, String)> {
        let mut digest = Self::default();
        for image in list(directory)? {
            let content = fs::read(&image)?;
            digest.add(image.file_name().and_then(|name| name.to_str()).unwrap_or_default(), &content);
        }
        Ok(digest.finish())
    }
}
