//! Which steps of which schema are due. Running them is the engines' part: each step in a
//! transaction of its own, under a lock that lets one opener migrate at a time.

use std::collections::HashMap;

use crate::Schema;

/// Recreated on every opening; everything else is a numbered step.
pub(crate) const TABLE: &str = "CREATE TABLE IF NOT EXISTS migration (
  product TEXT NOT NULL,
  number INTEGER NOT NULL,
  applied_ms INTEGER NOT NULL,
  PRIMARY KEY (product, number)
) STRICT, WITHOUT ROWID;";
/// Rows that stand for the named locks; the first of them guards migration itself.
pub(crate) const GUARD_TABLE: &str = "CREATE TABLE IF NOT EXISTS guard (
  name TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;";

pub(crate) const APPLIED: &str = "SELECT product, MAX(number) FROM migration GROUP BY product";
/// The step of the store's own schema that makes the table of [`NOTE`].
pub(crate) const NOTED_FROM: i64 = 3;
pub(crate) const NOTE: &str = "INSERT INTO written_by (id, version, at_ms) VALUES (1, $1, $2) ON CONFLICT (id) DO UPDATE SET version = excluded.version, at_ms = excluded.at_ms WHERE written_by.version <> excluded.version";
pub(crate) const NOTED: &str = "SELECT version FROM written_by WHERE id = 1";
pub(crate) const RECORD: &str = "INSERT INTO migration (product, number, applied_ms) VALUES ($1, $2, $3)";

/// A step that is due.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) product: &'static str,
    /// From 1.
    pub(crate) number: i64,
    pub(crate) ddl: &'static str,
}

/// A schema that is ahead of this build.
#[derive(Debug)]
pub(crate) struct Newer {
    pub(crate) product: String,
    pub(crate) found: i64,
    pub(crate) known: i64,
}

/// Whether the store's tables tell which version wrote last.
pub(crate) fn tells_version(applied: &HashMap<String, i64>) -> bool {
    applied.get(crate::SCHEMA.product).is_some_and(|&number| number >= NOTED_FROM)
}

/// The next step, or `None` when all are applied. Products that this build does not know are left alone.
pub(crate) fn next(schemas: &[Schema], applied: &HashMap<String, i64>) -> Result<Option<Step>, Newer> {
    let mut due = None;
    for schema in schemas {
        let known = i64::try_from(schema.steps.len()).unwrap_or(i64::MAX);
        let found = applied.get(schema.product).copied().unwrap_or(0);
        if found > known {
            return Err(Newer { product: schema.product.to_owned(), found, known });
        }
        let step = usize::try_from(found).ok().and_then(|index| schema.steps.get(index));
        if let (None, Some(&ddl)) = (&due, step) {
            due = Some(Step { product: schema.product, number: found + 1, ddl });
        }
    }
    Ok(due)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMAS: [Schema; 2] =
        [Schema { product: "a", steps: &["one", "two"] }, Schema { product: "b", steps: &["three"] }];

    fn applied(numbers: &[(&str, i64)]) -> HashMap<String, i64> {
        numbers.iter().map(|&(product, number)| (product.to_owned(), number)).collect()
    }

    #[test]
    fn steps_follow_in_order_from_any_version() {
        for (numbers, due) in [
            (&[][..], Some(("a", 1, "one"))),
            (&[("a", 1)], Some(("a", 2, "two"))),
            (&[("a", 2), ("other", 9)], Some(("b", 1, "three"))),
            (&[("a", 2), ("b", 1)], None),
        ] {
            let step = next(&SCHEMAS, &applied(numbers)).unwrap();
            assert_eq!(step.map(|s| (s.product, s.number, s.ddl)), due, "{numbers:?}");
        }
    }

    #[test]
    fn the_version_is_noted_by_the_step_that_makes_its_table() {
        let step = usize::try_from(NOTED_FROM).unwrap() - 1;
        assert!(crate::STEPS[step].contains("CREATE TABLE written_by"));
        assert!(!tells_version(&applied(&[("store", NOTED_FROM - 1)])));
        assert!(tells_version(&applied(&[("store", NOTED_FROM)])));
    }

    #[test]
    fn a_newer_schema_is_refused_before_any_step() {
        let newer = next(&SCHEMAS, &applied(&[("b", 2)])).unwrap_err();
        assert_eq!((newer.product.as_str(), newer.found, newer.known), ("b", 2, 1));
    }
}
