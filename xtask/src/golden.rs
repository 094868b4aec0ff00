//! `cargo xtask golden`: the files that others depend on, written by the tests that compare them.
//!
//! The tests are named `golden…` in the `it` binary of the crate `arena`; they call
//! `testkit::golden::compare`, which writes instead of comparing when `ARENA_GOLDEN=write`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{Outcome, cargo::cargo, ground::Ground};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

pub(crate) fn golden(mode: Mode) -> Result<Outcome, String> {
    let ground = Ground::find()?;
    let seen = std::env::temp_dir().join(format!("arena-golden-{}", std::process::id()));
    fs::write(&seen, "").map_err(|error| format!("cannot write {}: {error}", seen.display()))?;
    let mut command = cargo();
    command.current_dir(&ground.root).args(["test", "-p", "arena", "--test", "it", "golden"]);
    command.env("ARENA_GOLDEN_SEEN", &seen);
    match mode {
        Mode::Write => command.env("ARENA_GOLDEN", "write"),
        Mode::Check => command.env_remove("ARENA_GOLDEN"),
    };
    let status = command.status().map_err(|error| format!("cargo does not start: {error}"))?;
    let compared = fs::read_to_string(&seen).map_err(|error| error.to_string())?;
    fs::remove_file(&seen).map_err(|error| error.to_string())?;
    let compared: Vec<String> = compared.lines().map(str::to_owned).collect();
    let files = compared.iter().collect::<BTreeSet<_>>().len();
    if !status.success() {
        return Ok(Outcome::Bad);
    }
    if files == 0 {
        return Err("no test compared a golden file".to_owned());
    }
    let stale = stale(&ground.root, &compared)?;
    for path in &stale {
        println!("no test compares {path}; delete it");
    }
    println!("{files} golden files {}", if mode == Mode::Write { "written" } else { "compared" });
    Ok(if stale.is_empty() { Outcome::Good } else { Outcome::Bad })
}

/// Files under `golden/` that are not among those compared (paths relative to it).
pub(crate) fn stale(root: &Path, compared: &[String]) -> Result<Vec<String>, String> {
    let golden = root.join("golden");
    let compared: BTreeSet<&str> = compared.iter().map(String::as_str).collect();
    let mut stale = Vec::new();
    let mut places: Vec<PathBuf> = if golden.is_dir() { vec![golden.clone()] } else { Vec::new() };
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(&place).map_err(|error| error.to_string())? {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() {
                places.push(path);
                continue;
            }
            let name = path.strip_prefix(&golden).map_err(|error| error.to_string())?.to_string_lossy();
            if !compared.contains(name.as_ref()) {
                stale.push(format!("golden/{name}"));
            }
        }
    }
    stale.sort();
    Ok(stale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_test_compares_is_stale() {
        let root = std::env::temp_dir().join(format!("arena-stale-{}", std::process::id()));
        fs::create_dir_all(root.join("golden/tools")).unwrap();
        fs::write(root.join("golden/openapi.json"), "{}").unwrap();
        fs::write(root.join("golden/tools/old.json"), "{}").unwrap();
        let stale = stale(&root, &["openapi.json".to_owned()]).unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(stale, ["golden/tools/old.json"]);
    }
}
