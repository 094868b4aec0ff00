//! Golden files: bytes that others depend on, committed under `golden/` and compared by tests.
//!
//! `cargo xtask golden` runs the same tests with `ARENA_GOLDEN=write`, and they write instead.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Component, Path},
};

/// Lines shown on each side of a difference.
const SHOWN_LINES: usize = 8;

/// Compares text with the file of this name under `golden/`, or writes it there.
///
/// # Panics
/// If they differ, the file is missing, or `name` is not a plain relative path.
pub fn compare(name: &str, actual: &str) {
    assert!(
        Path::new(name).components().all(|part| matches!(part, Component::Normal(_))),
        "{name:?} is not a plain path below golden/"
    );
    note_seen(name);
    compare_file(&format!("golden/{name}"), actual);
}

/// Compares text with a document that is generated whole, by its path in the repository, or writes it.
///
/// # Panics
/// If they differ or the file is missing.
pub fn compare_document(path: &str, actual: &str) {
    compare_file(path, actual);
}

fn compare_file(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let write = std::env::var_os("ARENA_GOLDEN").is_some_and(|mode| mode == "write");
    let expected = fs::read_to_string(&path).ok();
    if expected.as_deref() == Some(actual) {
        return;
    }
    if write {
        let written =
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, actual));
        assert!(written.is_ok(), "cannot write {name}: {written:?}");
        return;
    }
    let difference =
        expected.map_or_else(|| "the file is missing".to_owned(), |expected| difference(&expected, actual));
    panic!("{name} differs: {difference}\nif the change is meant, run `cargo xtask golden` and review it");
}

/// Tells `cargo xtask` which files have a test, so that it can name those that have none.
fn note_seen(name: &str) {
    if let Some(file) = std::env::var_os("ARENA_GOLDEN_SEEN") {
        let noted = OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            .and_then(|mut file| file.write_all(format!("{name}\n").as_bytes()));
        assert!(noted.is_ok(), "cannot note golden/{name} as compared: {noted:?}");
    }
}

/// The first lines that differ.
fn difference(expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<&str>, Vec<&str>) =
        (expected.split('\n').collect(), actual.split('\n').collect());
    let at = expected.iter().zip(&actual).take_while(|(one, other)| one == other).count();
    let shown = |lines: &[&str], mark: char| {
        let shown: Vec<String> =
            lines.iter().skip(at).take(SHOWN_LINES).map(|line| format!("\n  {mark} {line}")).collect();
        shown.concat()
    };
    format!("from line {}{}{}", at + 1, shown(&expected, '-'), shown(&actual, '+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown() {
        assert_eq!(difference("a\nb\nc", "a\nx\nc"), "from line 2\n  - b\n  - c\n  + x\n  + c");
        assert_eq!(difference("a", "a\n"), "from line 2\n  + ");
    }

    #[test]
    #[should_panic(expected = "the file is missing")]
    fn a_missing_file_is_a_failure() {
        assert!(std::env::var_os("ARENA_GOLDEN").is_none(), "unset ARENA_GOLDEN to run all tests");
        let path = format!("no-such-file-{}.txt", std::process::id());
        compare(&path, "");
    }

    #[test]
    #[should_panic(expected = "not a plain path")]
    fn a_path_that_leaves_the_directory_is_refused() {
        compare("../Cargo.toml", "");
    }
}
