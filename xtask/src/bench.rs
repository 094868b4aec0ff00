//! `cargo xtask bench`: builds the measurements and what they measure in release mode and runs them.
//!
//! What is measured, and how it is written down, belongs to the package `bench`.

use crate::{Outcome, cargo::cargo, ground::Ground};

pub(crate) fn bench(names: &[&str]) -> Result<Outcome, String> {
    let ground = Ground::find()?;
    // The program under test and the bare servers must stand beside the one that measures them.
    let build = ["build", "--release", "-p", "arena", "-p", "bench"];
    let run = ["run", "--release", "-p", "bench", "--bin", "bench", "--"];
    for (words, more) in [(build.as_slice(), [].as_slice()), (run.as_slice(), names)] {
        let mut command = cargo();
        command.current_dir(&ground.root).args(words).args(more);
        let status = command.status().map_err(|error| format!("cargo does not start: {error}"))?;
        if !status.success() {
            return Ok(Outcome::Bad);
        }
    }
    Ok(Outcome::Good)
}
