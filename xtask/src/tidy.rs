//! `cargo xtask tidy`: the rules of the house that Cargo, rustfmt and clippy cannot check.
//!
//! Each rule is a pure function from the tracked files (or Cargo's metadata) to violations, with a
//! test that shows it a file it must refuse.

mod ambient;
mod dialect;
mod docs;
mod graph;
mod layers;
mod leftovers;
mod licence;
mod naming;
mod reach;
mod shape;
mod source;
mod words;

use std::{fs, path::Path, process::Command};

use source::Source;

use crate::{Outcome, cargo::cargo, ground::Ground, run::answer};

/// A tracked text file.
#[derive(Debug)]
struct Tracked {
    /// Relative to the root, with forward slashes.
    path: String,
    text: String,
}

impl Tracked {
    fn is_rust(&self) -> bool {
        self.extension() == Some("rs")
    }

    fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension()?.to_str()
    }

    fn is_under(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path.starts_with(place))
    }
}

/// A broken rule: where, which, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    path: String,
    line: usize,
    rule: &'static str,
    advice: String,
}

impl Violation {
    fn new(path: &str, line: usize, rule: &'static str, advice: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, advice: advice.into() }
    }
}

/// A Rust file, read apart.
struct Rust<'a> {
    file: &'a Tracked,
    source: Source,
}

pub(crate) fn tidy() -> Result<Outcome, String> {
    let ground = Ground::find()?;
    let files = tracked(&ground.root)?;
    let rust: Vec<Rust<'_>> = files
        .iter()
        .filter(|file| file.is_rust())
        .map(|file| Rust { file, source: Source::read(&file.text) })
        .collect();
    let metadata = metadata(&ground.root)?;

    let mut violations = Vec::new();
    violations.extend(naming::check(&files));
    violations.extend(shape::check(&files));
    violations.extend(words::check(&files));
    violations.extend(docs::check(&files));
    violations.extend(reach::check_manifests(&files));
    violations.extend(reach::check_code(&rust));
    violations.extend(ambient::check(&rust));
    violations.extend(leftovers::check(&files, &rust));
    violations.extend(layers::check(&files));
    violations.extend(dialect::check_migrations(&files));
    let (entries, found) = dialect::check(&rust);
    violations.extend(found);
    let (counts, found) = graph::check(&metadata)?;
    violations.extend(found);

    violations.sort();
    for Violation { path, line, rule, advice } in &violations {
        println!("{path}:{line}: {rule}: {advice}");
    }
    println!("engine-specific SQL: {entries} entries of at most {}", dialect::ENTRIES_MAX);
    println!("crates built for the binary: {} of fewer than {}", counts.binary, graph::CRATES_LIMIT);
    println!("crates built for the workspace with its tests: {}", counts.workspace);
    println!("tidy: {} files, {} violations", files.len(), violations.len());
    Ok(if violations.is_empty() { Outcome::Good } else { Outcome::Bad })
}

/// Files that Git tracks or would add. Those that are not text are left out.
fn tracked(root: &Path) -> Result<Vec<Tracked>, String> {
    let listed = answer(Command::new("git").arg("-C").arg(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))
    .ok_or("git ls-files fails: tidy works on a clone")?;
    let mut files: Vec<Tracked> = listed
        .split('\0')
        .filter(|path| !path.is_empty())
        .filter_map(|path| {
            // A file that was deleted and not yet committed is listed and not there.
            let text = fs::read_to_string(root.join(path)).ok()?;
            Some(Tracked { path: path.to_owned(), text })
        })
        .collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files.dedup_by(|one, other| one.path == other.path);
    Ok(files)
}

/// Cargo's view of what is built on this machine's kind of target.
fn metadata(root: &Path) -> Result<serde_json::Value, String> {
    let version = answer(Command::new("rustc").arg("-vV")).ok_or("rustc does not tell its version")?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("rustc does not tell its target")?;
    let mut command = cargo();
    command.current_dir(root).args([
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ]);
    let told =
        answer(&mut command).ok_or("cargo metadata --locked fails: commit an up-to-date Cargo.lock")?;
    serde_json::from_str(&told).map_err(|error| format!("cannot read cargo metadata: {error}"))
}

#[cfg(test)]
fn sample(path: &str, text: &str) -> Tracked {
    Tracked { path: path.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
fn rust(file: &Tracked) -> Rust<'_> {
    Rust { file, source: Source::read(&file.text) }
}
