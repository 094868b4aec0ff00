//! `cargo xtask bench`: builds the measurements in release mode and runs them.
//!
//! What is measured, and how it is written down, belongs to the package `bench`.

use crate::{Outcome, cargo::cargo, ground::Ground};

pub(crate) fn bench(names: &[&str]) -> Result<Outcome, String> {
    let ground = Ground::find()?;
    let mut command = cargo();
    command.current_dir(&ground.root).args(["run", "--release", "-p", "bench", "--"]).args(names);
    let status = command.status().map_err(|error| format!("cargo does not start: {error}"))?;
    Ok(if status.success() { Outcome::Good } else { Outcome::Bad })
}
