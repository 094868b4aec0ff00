//! Work that was put off, and switches that hide a test.

use super::{Rust, Tracked, Violation, source::has_word};

const RULE: &str = "leftover";
const NOTES: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];
const CODE: [&str; 4] = ["todo!", "unimplemented!", "dbg!", "#[ignore"];
/// Kinds of files, beside Rust, whose notes count.
const TEXTS: [&str; 6] = ["md", "toml", "sh", "py", "js", "yml"];

pub(super) fn check(files: &[Tracked], rust: &[Rust<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut note = |path: &str, line: usize, text: &str| {
        if let Some(word) = NOTES.iter().find(|word| has_word(text, word)) {
            let advice = format!("`{word}`: do it now, or file an issue and say what is so today");
            violations.push(Violation::new(path, line, RULE, advice));
        }
    };
    for Rust { file, source } in rust {
        for (line, comment) in source.comments() {
            note(&file.path, line, comment);
        }
    }
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| TEXTS.contains(&kind))) {
        for (index, line) in file.text.lines().enumerate() {
            note(&file.path, index + 1, line);
        }
    }
    for Rust { file, source } in rust {
        for (line, code) in source.code() {
            if let Some(word) = CODE.iter().find(|word| has_word(code, word)) {
                let advice = format!("`{word}`: finish it or take it out");
                violations.push(Violation::new(&file.path, line, RULE, advice));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::{
        super::{rust, sample},
        *,
    };

    #[test]
    fn notes_and_stubs_are_refused() {
        let note = ["TO", "DO"].concat();
        for text in [
            &format!("// {note}: later"),
            "todo!()",
            "x => unimplemented!(),",
            "dbg!(x)",
            "#[ignore]",
            "#[ignore = \"slow\"]",
        ] {
            let bad = sample("a.rs", text);
            assert_eq!(check(&[], &[rust(&bad)]).len(), 1, "{text}");
        }
        let page = sample("docs/a.md", &format!("one\n- {note} two\n"));
        assert_eq!(check(&[page], &[])[0].line, 2);
    }

    #[test]
    fn longer_words_and_strings_are_fine() {
        let good =
            sample("a.rs", "// the todos of METHODOLOGY\nlet a = \"todo!()\"; #[ignored_any] fn x() {}");
        assert_eq!(check(&[], &[rust(&good)]), []);
    }
}
