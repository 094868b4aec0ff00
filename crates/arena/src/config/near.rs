//! Which known names a mistyped one may have meant.

/// A name this many edits away, or fewer, counts as near.
const EDITS_MAX: usize = 3;
/// So many suggestions help; more would be a list to search.
const SUGGESTIONS_MAX: usize = 3;

/// The known names nearest to `given`, best first.
pub(crate) fn near<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let given = given.to_ascii_lowercase();
    let mut found: Vec<(usize, &str)> = known
        .filter_map(|name| {
            let lower = name.to_ascii_lowercase();
            // A forgotten or wrong section is the usual slip, so the last part alone may match too.
            let leaf = |text: &str| text.rsplit(['.', '_']).next().map(str::to_owned);
            let same_leaf = leaf(&lower) == leaf(&given);
            let edits = distance(&given, &lower);
            (edits <= EDITS_MAX || same_leaf).then_some((edits, name))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name).collect()
}

/// Insertions, removals and replacements that turn one text into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_typing_and_forgotten_sections_are_found() {
        let known = ["http.listen", "metrics.listen", "http.root_mcp", "clock.speed"];
        assert_eq!(near("http.lisen", known.into_iter()), ["http.listen"]);
        assert_eq!(near("listen", known.into_iter()), ["http.listen", "metrics.listen"]);
        assert_eq!(near("clock.sped", known.into_iter()), ["clock.speed"]);
        assert!(near("something.else", known.into_iter()).is_empty());
    }

    #[test]
    fn distances_count_edits() {
        for (a, b, edits) in [("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("ab", "ba", 2)] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
        }
    }
}
