//! Where things are: the checkout, Cargo's target directory, and the cache inside it.

use std::path::{Path, PathBuf};

/// The places that every command works in.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    /// The root of the checkout.
    pub(crate) root: PathBuf,
    /// What the tests' tools are installed into. It survives reruns; deleting it is always safe.
    pub(crate) cache: PathBuf,
}

impl Ground {
    pub(crate) fn find() -> Result<Self, String> {
        let here = std::env::current_dir().map_err(|error| format!("no current directory: {error}"))?;
        let root = here
            .ancestors()
            .find(|place| place.join("xtask/Cargo.toml").is_file())
            .ok_or("not inside the checkout: run it from a directory of the repository")?;
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .filter(|value| !value.is_empty())
            .map_or_else(|| root.join("target"), |value| here.join(value));
        let cache = target.join("xtask-cache");
        std::fs::create_dir_all(&cache)
            .map_err(|error| format!("cannot create {}: {error}", cache.display()))?;
        Ok(Self { root: root.to_path_buf(), cache })
    }

    /// The committed package lists of the tests' tools.
    pub(crate) fn tool_lists(&self) -> PathBuf {
        self.root.join("tests/tools")
    }
}

/// Whether the caller said that nothing may be skipped.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

/// Whether the process may install Debian packages. Asked of the kernel's view of this process.
pub(crate) fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t0\t")))
}

/// The directories of `PATH` that hold a program of this name.
pub(crate) fn on_path(program: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|place| is_file(&place.join(program))).collect()
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file())
}
