//! How a test says that it cannot run here, so that nobody takes its silence for a pass.

use std::{fs::OpenOptions, io::Write};

/// Notes that a test cannot run, once, before it returns. `reason` says what is missing and how to
/// get it.
///
/// The note goes to the file named by `ARENA_TEST_SKIPS`, which `cargo xtask test` sums up, or else to
/// the test's own output.
///
/// # Panics
/// With `ARENA_TEST_STRICT` set (as in CI), where nothing may be skipped.
#[expect(clippy::print_stderr, reason = "without `cargo xtask test` the test's output is all there is")]
pub fn skip(name: &str, reason: &str) {
    let line = line(name, reason);
    let noted = std::env::var_os("ARENA_TEST_SKIPS").is_some_and(|file| {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            // One write, so that lines of tests in other processes stay whole.
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .is_ok()
    });
    assert!(
        std::env::var_os("ARENA_TEST_STRICT").is_none(),
        "{name} cannot run and nothing may be skipped: {reason}"
    );
    if !noted {
        eprint!("SKIPPED {line}");
    }
}

fn line(name: &str, reason: &str) -> String {
    let plain = |text: &str| text.replace(|c: char| c.is_control(), " ");
    format!("{}\t{}\n", plain(name), plain(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_line_whatever_is_in_it() {
        assert_eq!(line("a\tb", "no\nNode.js"), "a b\tno Node.js\n");
    }
}
