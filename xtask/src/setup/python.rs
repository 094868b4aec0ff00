//! Virtual environments of Python, filled from pinned lists.
//!
//! They are made without pip of their own, because Debian's `python3` lacks what that needs; the
//! outer pip installs into them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use super::{Variables, debian, empty, is_filled, mark_filled, read};
use crate::{
    ground::Ground,
    run::{Steps, answer},
};

/// The oldest Python that the client runs on.
const PYTHON_MIN: (u32, u32) = (3, 10);

/// The Python that has the MCP client package.
pub(crate) fn client(ground: &Ground, steps: &mut Steps<'_>) -> Result<Variables, String> {
    let python = environment(ground, steps, "python", "requirements.txt")?;
    answer(Command::new(&python).args(["-c", "import mcp"])).ok_or("the mcp package does not import")?;
    Ok(vec![("ARENA_TEST_PYTHON", python.display().to_string())])
}

/// A virtual environment in the cache that holds what a list names; answers its interpreter.
pub(crate) fn environment(
    ground: &Ground,
    steps: &mut Steps<'_>,
    name: &str,
    list: &str,
) -> Result<PathBuf, String> {
    let place = ground.cache.join(name);
    let list = ground.tool_lists().join(list);
    let wanted = read(&list)?;
    let python = place.join("bin/python");
    if is_filled(&place, &wanted) && runs(&python) {
        return Ok(python);
    }
    steps.say(&format!("installing {} into {}", list.display(), place.display()));
    if answer(Command::new("python3").args(["-m", "pip", "--version"])).is_none() {
        debian::install(steps, &["python3", "python3-pip"])
            .map_err(|reason| format!("python3 with pip is not there; {reason}"))?;
    }
    let version = answer(
        Command::new("python3").args(["-c", "import sys; print(sys.version_info[0], sys.version_info[1])"]),
    )
    .and_then(|words| parse_version(&words))
    .ok_or("python3 does not tell its version")?;
    if version < PYTHON_MIN {
        return Err(format!("python3 is {}.{}; install 3.10 or newer", version.0, version.1));
    }
    empty(&place)?;
    steps.run(
        &format!("make {name} environment"),
        Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&place),
    )?;
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "--python"]).arg(&python);
    install.args(["install", "--no-input", "--disable-pip-version-check", "--no-deps", "-r"]).arg(&list);
    steps.run(&format!("install {name} packages"), &mut install)?;
    mark_filled(&place, &wanted)?;
    Ok(python)
}

fn runs(python: &Path) -> bool {
    answer(Command::new(python).arg("--version")).is_some()
}

fn parse_version(words: &str) -> Option<(u32, u32)> {
    let (major, minor) = words.split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(parse_version("3 11"), Some((3, 11)));
        assert!(parse_version("3 9").unwrap() < PYTHON_MIN);
        assert_eq!(parse_version("three"), None);
    }
}
