//! Documents that somebody can find: each page is linked, and the change log has a section to add to.

use super::{Tracked, Violation};

const RULE: &str = "docs";

pub(super) fn check(files: &[Tracked]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let pages = files.iter().filter(|file| file.extension() == Some("md"));
    for page in pages.clone().filter(|file| file.path.starts_with("docs/")) {
        let name = page.path.rsplit('/').next().unwrap_or(&page.path);
        let linked =
            pages.clone().filter(|other| other.path != page.path).any(|other| links_to(&other.text, name));
        if !linked {
            let advice = "no page links to it: link it from README.md or ARCHITECTURE.md";
            violations.push(Violation::new(&page.path, 1, RULE, advice));
        }
    }
    let log = files.iter().find(|file| file.path == "CHANGELOG.md");
    if !log.is_some_and(|log| log.text.lines().any(is_section)) {
        let advice = "give it a section `## Unreleased` or `## 1.2.3 …`";
        violations.push(Violation::new("CHANGELOG.md", 1, RULE, advice));
    }
    violations
}

/// Whether a page has a link whose target ends with this file name.
fn links_to(text: &str, name: &str) -> bool {
    text.split("](").skip(1).any(|rest| {
        let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
        target.rsplit('/').next() == Some(name)
    })
}

fn is_section(line: &str) -> bool {
    line.strip_prefix("## ").is_some_and(|title| {
        let title = title.trim_start_matches('[');
        title.to_lowercase().starts_with("unreleased") || title.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::{super::sample, *};

    #[test]
    fn a_page_that_nobody_links_is_refused() {
        let log = || sample("CHANGELOG.md", "# Changes\n\n## Unreleased\n");
        let page = || sample("docs/ledger.md", "# Ledger\n[itself](ledger.md)\n");
        assert_eq!(check(&[log(), page()])[0].path, "docs/ledger.md");
        let linked = sample("README.md", "See [the ledger](docs/ledger.md#holds).");
        assert_eq!(check(&[log(), page(), linked]), []);
    }

    #[test]
    fn a_change_log_needs_a_section() {
        assert_eq!(check(&[]).len(), 1);
        assert_eq!(check(&[sample("CHANGELOG.md", "# Changes\n")]).len(), 1);
        assert_eq!(check(&[sample("CHANGELOG.md", "## [0.1.0] (2026-01-01)\n")]), []);
    }
}
