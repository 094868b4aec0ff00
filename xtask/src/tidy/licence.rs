//! Whether a crate's licence expression can be met with licences that Arena accepts.

const ACCEPTED: [&str; 12] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MPL-2.0",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "CC0-1.0",
];
/// Data, not code: the list of certificate authorities.
const ACCEPTED_DATA: [&str; 1] = ["CDLA-Permissive-2.0"];

/// Reads an SPDX expression: `AND` binds closer than `OR`; a slash is an old way to write `OR`.
/// What cannot be read is not accepted.
pub(super) fn is_accepted(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    words.reverse();
    either(&mut words) == Some(true) && words.is_empty()
}

fn either(words: &mut Vec<&str>) -> Option<bool> {
    let mut met = both(words)?;
    while words.last() == Some(&"OR") {
        words.pop();
        met |= both(words)?;
    }
    Some(met)
}

fn both(words: &mut Vec<&str>) -> Option<bool> {
    let mut met = one(words)?;
    while words.last() == Some(&"AND") {
        words.pop();
        met &= one(words)?;
    }
    Some(met)
}

fn one(words: &mut Vec<&str>) -> Option<bool> {
    let word = words.pop()?;
    if word == "(" {
        let met = either(words)?;
        return (words.pop() == Some(")")).then_some(met);
    }
    let mut name = word.to_owned();
    if words.last() == Some(&"WITH") {
        words.pop();
        name = format!("{name} WITH {}", words.pop()?);
    }
    Some(ACCEPTED.contains(&name.as_str()) || ACCEPTED_DATA.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_or_not() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(is_accepted(good), "{good}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND AGPL-3.0-only",
            "(MIT",
            "",
            "MIT OR",
            "MIT Apache-2.0",
            "Apache-2.0 WITH X",
        ] {
            assert!(!is_accepted(bad), "{bad}");
        }
    }
}
