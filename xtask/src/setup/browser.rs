//! A browser for the tests of pages: the machine's own, else Debian's. Nothing is downloaded besides.

use super::{Variables, debian};
use crate::{ground::on_path, run::Steps};

/// Names under which distributions and their makers install it.
const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub(crate) fn chromium(steps: &mut Steps<'_>) -> Result<Variables, String> {
    if let Some(program) = installed() {
        return Ok(program);
    }
    debian::install(steps, &["chromium"]).map_err(|reason| format!("no browser is there; {reason}"))?;
    installed().ok_or_else(|| "the package chromium brought no program of a known name".to_owned())
}

fn installed() -> Option<Variables> {
    let found = PROGRAMS.iter().find_map(|name| on_path(name).first().map(|place| place.join(name)))?;
    Some(vec![("ARENA_TEST_CHROMIUM", found.display().to_string())])
}
