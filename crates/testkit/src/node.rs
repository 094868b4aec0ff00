//! Where the Node.js of the tests and its packages are. What is run with them is the test's.

use std::{env, path::PathBuf, process::Command};

use crate::skip::skip;

#[derive(Debug, Clone)]
pub struct Node {
    /// The directory of the program `node`.
    pub bin: PathBuf,
    pub modules: PathBuf,
}

impl Node {
    /// `None` notes the test as skipped.
    pub fn find(test: &str) -> Option<Self> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let found = variable("ARENA_TEST_NODE_BIN").zip(variable("ARENA_TEST_NODE_MODULES"));
        if found.is_none() {
            let reason =
                "no ARENA_TEST_NODE_BIN and ARENA_TEST_NODE_MODULES; run the tests by `cargo xtask test`";
            skip(test, reason);
        }
        found.map(|(bin, modules)| Self { bin, modules })
    }

    /// `node`, with nothing of the environment but `PATH`.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.bin.join("node"));
        command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
        command
    }
}
