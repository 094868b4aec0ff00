//! Words that must not be committed: paths of one machine, hosts of registries, talk about how the
//! work was organised. The list is spelled in halves so that this file passes its own check.

use super::{Tracked, Violation};

const RULE: &str = "word";

/// The two halves of each, and what to do.
const FORBIDDEN: [(&str, &str, &str); 13] = [
    ("/wo", "rk/", "a path of one machine; name it relative to the checkout"),
    ("/fa", "rm/", "a path of one machine; name it relative to the checkout"),
    ("/tm", "p/w", "a path of one machine; ask for a temporary directory"),
    ("/ro", "ot/", "a path of one machine; name it relative to the checkout"),
    ("registry.", "npmjs", "a registry's host; clients know it"),
    ("registry.", "yarnpkg", "a registry's host; clients know it"),
    ("index.crates", ".io", "a registry's host; clients know it"),
    ("static.crates", ".io", "a registry's host; clients know it"),
    ("py", "pi.org", "a registry's host; clients know it"),
    ("files.python", "hosted", "a registry's host; clients know it"),
    ("deb.", "debian.org", "a registry's host; clients know it"),
    ("proxy.", "golang.org", "a registry's host; clients know it"),
    ("helper", " session", "how the work was organised does not belong here"),
];

pub(super) fn check(files: &[Tracked]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            let lower = line.to_lowercase();
            for (one, two, advice) in FORBIDDEN {
                let word = [one, two].concat();
                if lower.contains(&word) && !continues_a_path(&lower, &word) {
                    violations.push(Violation::new(
                        &file.path,
                        index + 1,
                        RULE,
                        format!("`{word}`: {advice}"),
                    ));
                }
            }
        }
    }
    violations
}

/// Whether each absolute path found is only the middle of a longer one, as in `src/root/mod.rs`.
fn continues_a_path(line: &str, word: &str) -> bool {
    word.starts_with('/')
        && line.match_indices(word).all(|(at, _)| {
            line[..at]
                .chars()
                .next_back()
                .is_some_and(|before| before.is_alphanumeric() || "_-.}".contains(before))
        })
}

#[cfg(test)]
mod tests {
    use super::{super::sample, *};

    #[test]
    fn each_forbidden_word_is_refused() {
        for (one, two, _) in FORBIDDEN {
            let text = format!("fine\nsee {one}{two}x\n");
            let found = check(&[sample("docs/a.md", &text)]);
            assert_eq!(found.iter().map(|violation| violation.line).collect::<Vec<_>>(), [2], "{text}");
        }
    }

    #[test]
    fn the_middle_of_a_path_is_fine() {
        let inside = ["src/net", "/wo", "rk/queue.rs"].concat();
        assert_eq!(check(&[sample("a.md", &inside)]), []);
    }
}
