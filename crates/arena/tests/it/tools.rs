//! Programs of others that tests start: where they are, and what to say when they are not there.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn missing(test: &str, name: &str) {
    testkit::skip::skip(test, &format!("no {name}; run the tests by `cargo xtask test`"));
}

/// A program of the Node.js packages, run in `place`; `None` notes the test as skipped.
pub(crate) fn node(test: &str, program: &str, place: &Path) -> Option<Command> {
    let (Some(bin), Some(modules)) = (variable("ARENA_TEST_NODE_BIN"), variable("ARENA_TEST_NODE_MODULES"))
    else {
        missing(test, "ARENA_TEST_NODE_BIN and ARENA_TEST_NODE_MODULES");
        return None;
    };
    let mut path = OsString::from(bin);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(modules.join(".bin").join(program));
    command.env_clear().env("PATH", path).env("HOME", place).env("NO_COLOR", "1").current_dir(place);
    Some(command)
}

/// A Chromium or what takes its place; `None` notes the test as skipped.
pub(crate) fn chromium(test: &str) -> Option<PathBuf> {
    let program = variable("ARENA_TEST_CHROMIUM");
    if program.is_none() {
        missing(test, "ARENA_TEST_CHROMIUM");
    }
    program
}

/// The script that opens pages in a browser, run in `place`; `None` notes the test as skipped.
pub(crate) fn browser(test: &str, place: &Path) -> Option<Command> {
    browser_script(test, place, "tests/browser/pages.cjs")
}

/// A script that drives a browser, run in `place`; `None` notes the test as skipped.
pub(crate) fn browser_script(test: &str, place: &Path, script: &str) -> Option<Command> {
    chromium(test)?;
    let (Some(bin), Some(modules)) = (variable("ARENA_TEST_NODE_BIN"), variable("ARENA_TEST_NODE_MODULES"))
    else {
        missing(test, "ARENA_TEST_NODE_BIN and ARENA_TEST_NODE_MODULES");
        return None;
    };
    let mut command = Command::new(bin.join("node"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", place)
        .env("TMPDIR", place)
        .env("NODE_PATH", modules)
        .current_dir(place)
        .arg(repository(script));
    Some(command)
}

/// The Python that has the MCP client; `None` notes the test as skipped.
pub(crate) fn python(test: &str) -> Option<Command> {
    let Some(python) = variable("ARENA_TEST_PYTHON") else {
        missing(test, "ARENA_TEST_PYTHON");
        return None;
    };
    let mut command = Command::new(python);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    Some(command)
}

/// A file of this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).canonicalize().unwrap()
}
