//! What the tests need beside the workspace: a PostgreSQL cluster, a Python, Node.js tools
//! and a browser.
//!
//! Each part either hands back the variables that tell the tests where it is, or the reason why it
//! cannot be had. Nothing is decided here about what that means; `test` does.

mod browser;
mod cluster;
mod debian;
mod node;
mod postgres;
mod python;

use std::{fs, path::Path};

use crate::{ground::Ground, run::Steps};

/// Variables for the tests, by name.
pub(crate) type Variables = Vec<(&'static str, String)>;

/// The outcome of setting up.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    pub(crate) variables: Variables,
    /// What cannot be had, and why.
    pub(crate) missing: Vec<(String, String)>,
}

impl Ready {
    fn take(&mut self, name: &str, part: Result<Variables, String>) {
        match part {
            Ok(variables) => self.variables.extend(variables),
            Err(reason) => self.missing.push((name.to_owned(), reason)),
        }
    }
}

/// Sets up all parts. `temporary` lives as long as the run; the cache outlives it.
pub(crate) fn set_up(ground: &Ground, steps: &mut Steps<'_>, temporary: &Path) -> Ready {
    let mut ready = Ready::default();
    let lock = match fs::File::create(ground.cache.join("lock")).and_then(|lock| lock.lock().map(|()| lock)) {
        Ok(lock) => Some(lock),
        Err(error) => {
            steps.say(&format!("cannot lock the cache ({error}); going on without"));
            None
        }
    };
    let binaries = postgres::binaries(ground, steps);
    let python = python::client(ground, steps);
    let node = node::tools(ground, steps);
    let chromium = browser::chromium(steps);
    drop(lock);
    ready.take("PostgreSQL", binaries.and_then(|binaries| cluster::start(&binaries, steps, temporary)));
    ready.take("Python client", python);
    ready.take("Node.js tools", node);
    ready.take("browser", chromium);
    ready
}

/// Whether a directory was filled from exactly these lists before.
fn is_filled(place: &Path, list: &str) -> bool {
    fs::read_to_string(place.join(STAMP)).is_ok_and(|stamp| stamp == list)
}

/// Empties a directory that is about to be filled.
fn empty(place: &Path) -> Result<(), String> {
    if place.exists() {
        fs::remove_dir_all(place).map_err(|error| format!("cannot empty {}: {error}", place.display()))?;
    }
    fs::create_dir_all(place).map_err(|error| format!("cannot create {}: {error}", place.display()))
}

/// Notes that a directory is complete, so that the next run leaves it alone.
fn mark_filled(place: &Path, list: &str) -> Result<(), String> {
    fs::write(place.join(STAMP), list)
        .map_err(|error| format!("cannot write in {}: {error}", place.display()))
}

const STAMP: &str = "filled-from";

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_as_filled_only_with_the_same_list() {
        let place = std::env::temp_dir().join(format!("arena-filled-{}", std::process::id()));
        empty(&place).unwrap();
        assert!(!is_filled(&place, "one==1"));
        mark_filled(&place, "one==1").unwrap();
        assert!(is_filled(&place, "one==1"));
        assert!(!is_filled(&place, "one==2"));
        empty(&place).unwrap();
        assert!(!is_filled(&place, "one==1"));
        fs::remove_dir_all(place).unwrap();
    }
}
