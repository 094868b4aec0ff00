//! Names that say nothing about what is inside.

use super::{Tracked, Violation};

const EMPTY_NAMES: [&str; 9] =
    ["util", "utils", "helper", "helpers", "common", "manager", "managers", "misc", "stuff"];

pub(super) fn check(files: &[Tracked]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
        if let Some(name) = stem.split('/').find(|name| EMPTY_NAMES.contains(name)) {
            let advice = format!("`{name}` says nothing: name the file for what it holds");
            violations.push(Violation::new(&file.path, 1, "naming", advice));
        }
        for (index, line) in file.text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(at) = words.iter().position(|word| *word == "mod") else { continue };
            let name = words.get(at + 1).map(|name| name.trim_end_matches([';', '{']));
            let inline = line.trim_end().ends_with('{') && !line.trim_start().starts_with("//");
            if let Some(name) = name.filter(|name| inline && EMPTY_NAMES.contains(name)) {
                let advice = format!("`{name}` says nothing: name the module for what it holds");
                violations.push(Violation::new(&file.path, index + 1, "naming", advice));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::{super::sample, *};

    #[test]
    fn empty_names_are_refused() {
        assert_eq!(check(&[sample("crates/x/src/utils.rs", "")]).len(), 1);
        assert_eq!(check(&[sample("crates/x/src/common/mod.rs", "")]).len(), 1);
        assert_eq!(check(&[sample("crates/x/src/lib.rs", "//! x\npub mod helpers {\n}\n")])[0].line, 2);
        let good = sample("crates/x/src/limits.rs", "// the mod common {\nmod utility {\n");
        assert_eq!(check(&[good]), []);
    }
}
