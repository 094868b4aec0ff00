//! The recorded SQL again, on a copy of the same database: compiled statements, the same arguments,
//! savepoints and commits on one thread, and nothing else.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    time::{Duration, Instant},
};

use kernel::tx::{Sql, Val};
use rusqlite::{Connection, Statement, types::Null};

use super::tape::Event;
use crate::harness::Outcome;

/// The clock's row: a commit moves its mark now and then, which is no part of any command.
const CLOCK_TABLE: &str = "arena_clock";

/// Settings of the store's writer, so that both sides pay for the same durability.
const SETTINGS: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
    PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 4096; \
    PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;";

/// A step with its statement found: nothing is looked up while time is taken.
enum Ready<'e> {
    Run(usize, &'e [Val]),
    Number(&'static str),
    Save,
    Keep,
    Commit,
}

/// Runs the tape on the database at `path` and tells how long it took.
pub(crate) fn replay(path: &Path, events: &[Event]) -> Outcome<Duration> {
    let conn = Connection::open(path)?;
    conn.execute_batch(SETTINGS)?;
    let mut statements = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    let mut steps = Vec::with_capacity(events.len());
    for event in events {
        steps.push(match event {
            Event::Run(sql, args) => {
                let key = std::ptr::from_ref::<Sql>(sql).addr();
                let index = *known.entry(key).or_insert(statements.len());
                if index == statements.len() {
                    statements.push(conn.prepare(&sql.text.replace('$', "?"))?);
                }
                Ready::Run(index, args)
            }
            Event::Number(sequence) => Ready::Number(sequence),
            Event::Save => Ready::Save,
            Event::Keep => Ready::Keep,
            Event::Commit => Ready::Commit,
        });
    }
    let number = store::dialect::ENTRIES.iter().find(|entry| entry.name == "next number");
    let mut number =
        conn.prepare(&number.ok_or("the dialect has no next number")?.sqlite.replace('$', "?"))?;
    let [mut begin, mut save, mut keep, mut commit] = [
        conn.prepare("BEGIN IMMEDIATE")?,
        conn.prepare("SAVEPOINT command")?,
        conn.prepare("RELEASE command")?,
        conn.prepare("COMMIT")?,
    ];

    let began = Instant::now();
    let mut open = false;
    for step in &steps {
        match step {
            Ready::Run(index, args) => run(statements.get_mut(*index).ok_or("no such statement")?, args)?,
            Ready::Number(sequence) => run(&mut number, &[Val::from(*sequence)])?,
            Ready::Save => {
                if !open {
                    run(&mut begin, &[])?;
                    open = true;
                }
                run(&mut save, &[])?;
            }
            Ready::Keep => run(&mut keep, &[])?,
            Ready::Commit => {
                if open {
                    run(&mut commit, &[])?;
                    open = false;
                }
            }
        }
    }
    Ok(began.elapsed())
}

fn run(statement: &mut Statement<'_>, args: &[Val]) -> rusqlite::Result<()> {
    for (index, value) in args.iter().enumerate() {
        match value {
            Val::Null => statement.raw_bind_parameter(index + 1, Null)?,
            Val::I64(number) => statement.raw_bind_parameter(index + 1, number)?,
            Val::Text(text) => statement.raw_bind_parameter(index + 1, text.as_str())?,
            Val::Blob(bytes) => statement.raw_bind_parameter(index + 1, bytes.as_slice())?,
        }
    }
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    Ok(())
}

/// Every row of every table but the clock's, in an order of its own.
pub(crate) fn contents(path: &Path) -> Outcome<BTreeMap<String, Vec<String>>> {
    let conn = Connection::open(path)?;
    let mut names = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> ?1")?;
    let names: Vec<String> = names.query_map([CLOCK_TABLE], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut tables = BTreeMap::new();
    for name in names {
        let mut all = conn.prepare(&format!("SELECT * FROM \"{name}\""))?;
        let columns = all.column_count();
        let rows = all.query_map([], |row| {
            let cells: Result<Vec<_>, _> = (0..columns).map(|at| row.get_ref(at)).collect();
            cells.map(|cells| format!("{cells:?}"))
        })?;
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
        rows.sort_unstable();
        tables.insert(name, rows);
    }
    Ok(tables)
}
