//! SQL that only one engine understands: one file, few entries, and the count is printed.

use super::{Rust, Tracked, Violation, source::has_word};

const RULE: &str = "dialect";
/// The file that holds the differences. An entry is one constant `NAME: Entry` of it.
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

/// What SQLite's data definition may say; the dialect file translates it.
const DEFINITION_WORDS: [&str; 2] = ["STRICT", "ROWID"];
/// How SQLite's adapter sets up and checkpoints its connections, and sees what a file is. It touches no state.
const SQLITE_ADAPTER: &str = "crates/store/src/sqlite";
const ADAPTER_WORDS: [&str; 2] = ["PRAGMA", "sqlite_schema"];

/// Migrations, which are data definition in SQLite's words.
pub(super) fn check_migrations(files: &[Tracked]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.extension() == Some("sql") && file.is_under(&["crates/"])) {
        for (index, line) in file.text.lines().enumerate() {
            let statement = line.split("--").next().unwrap_or_default();
            let word = ONE_ENGINE.iter().find(|word| has_word(statement, word));
            if let Some(word) = word.filter(|word| !DEFINITION_WORDS.contains(word)) {
                let advice = format!("`{word}` is one engine's SQL: write it in the shared subset");
                violations.push(Violation::new(&file.path, index + 1, RULE, advice));
            }
        }
    }
    violations
}

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
        let adapter = file.path.starts_with(SQLITE_ADAPTER);
        for (line, text) in source.strings.iter().filter(|(line, text)| *line < tests_from && is_sql(text)) {
            if let Some(word) = foreign_word(text).filter(|word| !(adapter && ADAPTER_WORDS.contains(word))) {
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

/// The first word that the other engine refuses. Data definition is written in SQLite's words.
fn foreign_word(text: &str) -> Option<&'static str> {
    let defines = text.trim_start().starts_with("CREATE TABLE");
    ONE_ENGINE
        .into_iter()
        .filter(|word| !(defines && DEFINITION_WORDS.contains(word)))
        .find(|word| has_word(text, word))
        .or_else(|| text.contains("::").then_some("::"))
}

fn is_entry(code: &str) -> bool {
    has_word(code, "const") && code.contains(": Entry =")
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
    fn tables_and_connections_may_speak_sqlite() {
        let table = sample("crates/duels/src/schema.rs", "let a = \"CREATE TABLE t (a INTEGER) STRICT;\";");
        let connection = sample("crates/store/src/sqlite/writer.rs", "let a = \"PRAGMA wal_checkpoint\";");
        assert_eq!(check(&[rust(&table), rust(&connection)]), (0, vec![]));
        let state =
            sample("crates/store/src/sqlite/writer.rs", "let a = \"SELECT rowid, unixepoch() FROM t\";");
        assert_eq!(check(&[rust(&state)]).1.len(), 1);
    }

    #[test]
    fn a_migration_keeps_to_the_shared_subset() {
        let good =
            sample("crates/duels/migrations/1.sql", "CREATE TABLE t (a INTEGER) STRICT; -- no PRAGMA\n");
        let bad = sample(
            "crates/duels/migrations/2.sql",
            "CREATE TABLE t (\n  a INTEGER PRIMARY KEY AUTOINCREMENT\n);\n",
        );
        assert_eq!(check_migrations(&[good]), []);
        assert_eq!(check_migrations(&[bad])[0].line, 2);
    }

    #[test]
    fn entries_are_counted_and_limited() {
        let lines = "pub struct Entry;\npub(crate) const LOCK: Entry = Entry {};\nconst BEGIN: Entry =\n    Entry { a: \"BEGIN IMMEDIATE\" };\npub const ALL: [Entry; 2] = [];\n";
        let file = sample(PLACE, lines);
        assert_eq!(check(&[rust(&file)]), (2, vec![]));
        let many = sample(PLACE, &lines.repeat(6));
        let (entries, violations) = check(&[rust(&many)]);
        assert_eq!((entries, violations.len()), (12, 2));
    }
}
