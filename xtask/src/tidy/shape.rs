//! The shape of a file: an opening sentence, and a length one can read.

use super::{Tracked, Violation};

const LINES_MAX: usize = 800;
/// What the first line of a longer file says, followed by the reason.
const EXCUSE: &str = "long because";
/// Kinds of files that somebody writes by hand and has to read.
const READ_BY_PEOPLE: [&str; 7] = ["rs", "sh", "py", "js", "mjs", "ts", "sql"];

pub(super) fn check(files: &[Tracked]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        if file.is_rust() && !opens_with_sentence(&file.text) {
            let advice = "open the file with `//!` and one sentence on what it is and what is absent";
            violations.push(Violation::new(&file.path, 1, "opening", advice));
        }
        let written = file.extension().is_some_and(|kind| READ_BY_PEOPLE.contains(&kind));
        let lines = file.text.lines().count();
        let excused = file.text.lines().next().is_some_and(|first| first.to_lowercase().contains(EXCUSE));
        if written && lines > LINES_MAX && !excused {
            let advice =
                format!("{lines} lines, over {LINES_MAX}: split it, or say `{EXCUSE} …` in its first line");
            violations.push(Violation::new(&file.path, LINES_MAX + 1, "length", advice));
        }
    }
    violations
}

fn opens_with_sentence(text: &str) -> bool {
    text.lines()
        .find(|line| !line.trim().is_empty())
        .and_then(|first| first.strip_prefix("//!"))
        .is_some_and(|sentence| !sentence.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::{super::sample, *};

    #[test]
    fn a_file_without_an_opening_sentence_is_refused() {
        for text in ["use std::fs;\n", "// a comment\n", "//!\nuse std::fs;", ""] {
            assert_eq!(check(&[sample("a.rs", text)])[0].rule, "opening", "{text:?}");
        }
        assert_eq!(check(&[sample("a.rs", "//! What it is.\n"), sample("a.md", "# x\n")]), []);
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        let body = "x\n".repeat(LINES_MAX);
        assert_eq!(check(&[sample("a.rs", &format!("//! A list.\n{body}"))])[0].rule, "length");
        assert_eq!(check(&[sample("a.rs", &format!("//! A list, long because it is one.\n{body}"))]), []);
        assert_eq!(check(&[sample("Cargo.lock", &body.repeat(2))]), []);
    }
}
