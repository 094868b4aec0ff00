//! The file that an export becomes. It appears under its name when it is whole; until then nothing does.

use std::{
    ffi::OsString,
    fs::{self, File, Permissions},
    io::{BufWriter, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use export::Writer;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::{exit::ExitCode, failure::Failure, output::escape::shell_word};

/// What the owner's umask leaves of this is what the file may be used for.
const FILE_MODE: u32 = 0o666;

/// How the rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object a line: the public record of a duel with its whole transcript
    Jsonl,
    /// Apache Parquet: a row a duel, its transcript a list
    Parquet,
}

impl Format {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

enum Rows {
    Jsonl(BufWriter<File>),
    Parquet(Box<Writer<File>>),
}

/// An export that is being written beside its place.
pub(super) struct Output {
    rows: Rows,
    part: NamedTempFile,
    path: PathBuf,
    replace: bool,
}

impl Output {
    /// Refuses a place that is taken, or cannot be written, before anything is asked of a server.
    pub(super) fn create(path: &Path, format: Format, replace: bool) -> Result<Self, Failure> {
        match fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => {
                return Err(Failure::usage(format!("{} is not a plain file", shown(path)))
                    .hint("pass the path of a new file as --output"));
            }
            Ok(_) if !replace => return Err(taken(path)),
            Ok(_) | Err(_) => {}
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut prefix = OsString::from(".");
        prefix.push(path.file_name().unwrap_or_default());
        prefix.push(".");
        let part = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".part")
            .permissions(Permissions::from_mode(FILE_MODE))
            .tempfile_in(directory)
            .map_err(|error| {
                Failure::usage(format!("{} cannot be written: {error}", shown(path)))
                    .hint("pass another --output, in a directory that exists and that you may write to")
            })?;
        let file = part.as_file().try_clone().map_err(|error| unwritable(path, &error))?;
        let rows = match format {
            Format::Jsonl => Rows::Jsonl(BufWriter::new(file)),
            Format::Parquet => {
                Rows::Parquet(Box::new(Writer::new(file).map_err(|error| unwritable(path, &error))?))
            }
        };
        Ok(Self { rows, part, path: path.to_owned(), replace })
    }

    pub(super) fn add(&mut self, record: Value) -> Result<(), Failure> {
        match &mut self.rows {
            Rows::Jsonl(out) => serde_json::to_writer(&mut *out, &record)
                .map_err(std::io::Error::from)
                .and_then(|()| out.write_all(b"\n"))
                .map_err(|error| unwritable(&self.path, &error)),
            Rows::Parquet(out) => {
                let record = serde_json::from_value(record).map_err(|_| {
                    Failure::new(ExitCode::Network, "the server sent a duel that is no public record")
                        .hint("check --server, and that both are of one version")
                })?;
                out.add(record).map_err(|error| unwritable(&self.path, &error))
            }
        }
    }

    /// Gives the file its name; answers its size.
    pub(super) fn finish(self) -> Result<u64, Failure> {
        let Self { rows, part, path, replace } = self;
        match rows {
            Rows::Jsonl(mut out) => out.flush().map_err(|error| unwritable(&path, &error))?,
            Rows::Parquet(out) => {
                out.finish().map_err(|error| unwritable(&path, &error))?;
            }
        }
        let synced = part.as_file().sync_all().and_then(|()| part.as_file().metadata());
        let bytes = synced.map_err(|error| unwritable(&path, &error))?.len();
        let named = if replace { part.persist(&path) } else { part.persist_noclobber(&path) };
        match named {
            Ok(_) => Ok(bytes),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Err(taken(&path)),
            Err(error) => Err(unwritable(&path, &error.error)),
        }
    }
}

/// A path as a terminal may show it.
pub(super) fn shown(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}

fn taken(path: &Path) -> Failure {
    Failure::usage(format!("{} exists", shown(path))).hint("pass another --output, or --force to replace it")
}

fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("{} cannot be written: {error}", shown(path)))
        .hint("check the free space; nothing was left behind")
}
