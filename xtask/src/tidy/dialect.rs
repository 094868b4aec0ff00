//! SQL that only one engine understands: one file, few entries, and the count is printed.

use super::{Rust, Violation, source::has_word};

const RULE: &str = "dialect";
/// The file that holds the differences. An entry is one public item of it that is not a type.
const PLACE: &str = "crates/store/src/dialect.rs";
pub(super) const ENTRIES_MAX: usize = 10;

/// Code that speaks SQL. Tests and benches may provoke an engine on purpose.
const SPEAKERS: [&str; 4] =
    ["crates/store/src/", "crates/identity/src/", "crates/duels/src/", "crates/arena/src/"];
const STATEMENTS: [&str; 13] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "PRAGMA", "BEGIN", "SET", "LOCK",
    "VACUUM", "ROLLBACK",
];
/// Words that one engine of the two refuses, or reads otherwise.
const ONE_ENGINE: [&str; 30] = [
    "PRAGMA",
    "IMMEDIATE",
    "STRICT",
    "AUTOINCREMENT",
    "ROWID",
    "GLOB",
    "OR IGNORE",
    "OR REPLACE",
    "unixepoch",
    "strftime",
    "julianday",
    "sqlite_master",
    "sqlite_schema",
    "json_extract",
    "ifnull",
    "FOR UPDATE",
    "SKIP LOCKED",
    "ILIKE",
    "LISTEN",
    "NOTIFY",
    "jsonb",
    "clock_timestamp",
    "BYTEA",
    "COLLATE",
    "date_trunc",
    "EXTRACT",
    "ctid",
    "pg_advisory_lock",
    "pg_advisory_xact_lock",
    "SERIALIZABLE",
];
const ITEMS: [&str; 4] = ["fn", "const", "static", "macro_rules!"];

/// The number of entries, and violations.
pub(super) fn check(files: &[Rust<'_>]) -> (usize, Vec<Violation>) {
    let mut violations = Vec::new();
    let mut entries = 0;
    for Rust { file, source } in files {
        let tests_from = source
            .code()
            .find(|(_, code)| code.contains("#[cfg(test)]"))
            .map_or(usize::MAX, |(line, _)| line);
        if file.path == PLACE {
            for (line, _) in source.code().filter(|(line, code)| *line < tests_from && is_entry(code)) {
                entries += 1;
                if entries > ENTRIES_MAX {
                    let advice = format!(
                        "entry {entries}, over {ENTRIES_MAX}: write the statement in the shared subset"
                    );
                    violations.push(Violation::new(PLACE, line, RULE, advice));
                }
            }
            continue;
        }
        if !file.is_under(&SPEAKERS) {
            continue;
        }
        for (line, text) in source.strings.iter().filter(|(line, text)| *line < tests_from && is_sql(text)) {
            let word = ONE_ENGINE
                .iter()
                .copied()
                .find(|word| has_word(text, word))
                .or_else(|| text.contains("::").then_some("::"));
            if let Some(word) = word {
                let advice = format!(
                    "`{word}` is one engine's SQL: write it in the shared subset, or move it to {PLACE}"
                );
                violations.push(Violation::new(&file.path, *line, RULE, advice));
            }
        }
    }
    (entries, violations)
}

fn is_sql(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_ascii_uppercase()).find(|word| !word.is_empty());
    first.is_some_and(|word| STATEMENTS.contains(&word) && text.trim_start().starts_with(word))
}

fn is_entry(code: &str) -> bool {
    let mut words = code.split_whitespace().skip_while(|word| word.starts_with("pub(") || *word == "const");
    let public = code.trim_start().starts_with("pub");
    let constant = code.contains("const ");
    public && (constant || words.any(|word| ITEMS.contains(&word)))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{rust, sample},
        *,
    };

    #[test]
    fn one_engines_sql_is_refused_outside_its_file() {
        for sql in [
            "SELECT x FROM y FOR UPDATE",
            "PRAGMA wal_checkpoint",
            "SELECT a::bigint FROM b",
            "INSERT OR IGNORE INTO a",
        ] {
            let bad = sample("crates/duels/src/store.rs", &format!("//! x\nlet a = \"{sql}\";"));
            assert_eq!(check(&[rust(&bad)]).1[0].line, 2, "{sql}");
        }
        let good = sample(
            "crates/duels/src/store.rs",
            "let a = \"SELECT CAST(SUM(x) AS BIGINT) FROM y\"; let b = \"notes on STRICT and a::b\";\n#[cfg(test)]\nlet c = \"PRAGMA x\";",
        );
        assert_eq!(check(&[rust(&good)]), (0, vec![]));
    }

    #[test]
    fn entries_are_counted_and_limited() {
        let lines = "pub(crate) fn lock() {}\nfn private() {}\npub const BEGIN: &str = \"BEGIN IMMEDIATE\";\npub(crate) struct X;\n";
        let file = sample(PLACE, lines);
        assert_eq!(check(&[rust(&file)]), (2, vec![]));
        let many = sample(PLACE, &lines.repeat(6));
        let (entries, violations) = check(&[rust(&many)]);
        assert_eq!((entries, violations.len()), (12, 2));
    }
}
