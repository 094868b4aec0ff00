//! The only place with SQL that differs between the engines, in at most ten entries.
//!
//! Everything else is written once: data definition in SQLite's words, which this file translates
//! word by word, and statements in the subset that both share.

/// One difference between the engines.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub sqlite: &'static str,
    pub postgres: &'static str,
}

pub(crate) const INTEGER: Entry = Entry { name: "integer", sqlite: "INTEGER", postgres: "BIGINT" };
pub(crate) const TEXT: Entry = Entry { name: "text", sqlite: "TEXT", postgres: "TEXT COLLATE \"C\"" };
pub(crate) const BYTES: Entry = Entry { name: "bytes", sqlite: "BLOB", postgres: "BYTEA" };
/// Words after a table's closing bracket.
pub(crate) const TABLE_OPTIONS: Entry =
    Entry { name: "table options", sqlite: "STRICT, WITHOUT ROWID", postgres: "" };

pub(crate) const BEGIN_WRITE: Entry = Entry {
    name: "begin to write",
    sqlite: "BEGIN IMMEDIATE",
    postgres: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
};
/// SQLite's reader connections are read-only by themselves.
pub(crate) const BEGIN_READ: Entry = Entry {
    name: "begin to read",
    sqlite: "BEGIN DEFERRED",
    postgres: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
};
/// SQLite has one clock per process and keeps the anchor in memory; here the statement only opens the
/// snapshot, so that the clock is read after it. On PostgreSQL the server's clock is the one of state.
pub(crate) const CLOCK: Entry = Entry {
    name: "clock",
    sqlite: "SELECT id FROM arena_clock",
    postgres: "SELECT real0_ms, arena0_ms, speed_milli, high_ms, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) FROM arena_clock WHERE id = 1",
};
/// SQLite has one writer, so its locks are always free.
pub(crate) const LOCK: Entry = Entry {
    name: "named locks",
    sqlite: "",
    postgres: "SELECT name FROM guard WHERE name = ANY($1) ORDER BY name FOR UPDATE",
};
/// SQLite's counters are rows; PostgreSQL's are sequences, because a row would be a hot lock.
pub(crate) const NEW_SEQUENCE: Entry =
    Entry { name: "new sequence", sqlite: "", postgres: "CREATE SEQUENCE IF NOT EXISTS" };
pub(crate) const NEXT_NUMBER: Entry = Entry {
    name: "next number",
    sqlite: "INSERT INTO sequence (name, value) VALUES (?1, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
    postgres: "SELECT nextval($1::text::regclass)",
};

/// Every difference there is.
pub const ENTRIES: [Entry; 10] =
    [INTEGER, TEXT, BYTES, TABLE_OPTIONS, BEGIN_WRITE, BEGIN_READ, CLOCK, LOCK, NEW_SEQUENCE, NEXT_NUMBER];

/// Data definition in PostgreSQL's words. Literals and comments stay as they are.
pub(crate) fn ddl_for_postgres(sqlite: &str) -> String {
    let (strict, _) = TABLE_OPTIONS.sqlite.split_once(',').unwrap_or((TABLE_OPTIONS.sqlite, ""));
    let bare = [TABLE_OPTIONS.sqlite, strict]
        .iter()
        .fold(sqlite.to_owned(), |ddl, options| ddl.replace(&format!(") {options};"), ");"));
    pieces(&bare)
        .map(|piece| match piece {
            Piece::Word(word) => {
                let entry = [INTEGER, TEXT, BYTES].into_iter().find(|entry| entry.sqlite == word);
                entry.map_or(word, |entry| entry.postgres)
            }
            Piece::Other(other) => other,
        })
        .collect()
}

/// `$n` as SQLite's numbered parameter `?n`; SQLite would number `$n` by first appearance.
pub(crate) fn parameters_for_sqlite(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Word(word) => out.push_str(word),
            Piece::Other(other) if other.starts_with(['\'', '-', '"']) => out.push_str(other),
            Piece::Other(other) => out.push_str(&other.replace('$', "?")),
        }
    }
    out
}

enum Piece<'t> {
    Word(&'t str),
    /// A literal, a quoted name, a comment, or what stands between words.
    Other(&'t str),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = |from: usize, found: Option<usize>| found.map_or(rest.len(), |at| from + at);
        let length = match first {
            '\'' | '"' => end(1, rest[1..].find(first).map(|at| at + 1)),
            '-' if rest.starts_with("--") => end(0, rest.find('\n')),
            c if is_word(c) => end(0, rest.find(|c| !is_word(c))),
            c => c.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(if is_word(first) { Piece::Word(piece) } else { Piece::Other(piece) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_translated_and_literals_are_not() {
        let sqlite = "CREATE TABLE t (\n  a INTEGER NOT NULL,\n  b TEXT CHECK (b IN ('TEXT', 'it''s STRICT')), -- a BLOB\n  c BLOB\n) STRICT, WITHOUT ROWID;\nCREATE TABLE u (TEXT_ID TEXT) STRICT;";
        assert_eq!(
            ddl_for_postgres(sqlite),
            "CREATE TABLE t (\n  a BIGINT NOT NULL,\n  b TEXT COLLATE \"C\" CHECK (b IN ('TEXT', 'it''s STRICT')), -- a BLOB\n  c BYTEA\n);\nCREATE TABLE u (TEXT_ID TEXT COLLATE \"C\");"
        );
    }

    #[test]
    fn parameters_are_numbered_and_literals_are_not() {
        assert_eq!(
            parameters_for_sqlite("SELECT '$1', a FROM t WHERE b = $2 AND c > $10 + $1"),
            "SELECT '$1', a FROM t WHERE b = ?2 AND c > ?10 + ?1"
        );
    }
}
