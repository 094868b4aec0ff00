//! Starting Cargo from within Cargo.

use std::process::Command;

/// Variables that `cargo run` sets for this tool. Build scripts watch some of them (ring's does), so
/// passing them on would rebuild half the workspace each time.
const LEAKED_PREFIXES: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
const LEAKED: [&str; 3] = ["OUT_DIR", "CARGO_PRIMARY_PACKAGE", "LD_LIBRARY_PATH"];

/// A `cargo` command with the environment the user's own shell would give it.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let leaked = name.to_str().is_some_and(|name| {
            LEAKED.contains(&name) || LEAKED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        });
        if leaked {
            command.env_remove(&name);
        }
    }
    command
}
