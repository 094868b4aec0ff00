//! Whether a database has the tables, indexes and triggers that its migrations make, and no others. What is in
//! the tables is somebody else's question.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;

use crate::{Options, Schema, migrate};

/// The text of an object by its kind and name; none for what SQLite makes itself.
type Shape = BTreeMap<(String, String), Option<String>>;

/// What a database, of which these steps were applied, has or lacks; `None` when it is as it should be.
pub(super) fn difference(
    conn: &Connection,
    options: &Options,
    applied: &HashMap<String, i64>,
) -> rusqlite::Result<Option<String>> {
    let schemas = options.all_schemas();
    let (found, wanted) = (shape(conn)?, shape(&made(&schemas, applied)?)?);
    for ((kind, name), text) in &wanted {
        match found.get(&(kind.clone(), name.clone())) {
            None => return Ok(Some(format!("lacks the {kind} {name:?}"))),
            Some(other) if other != text => return Ok(Some(format!("has another {kind} {name:?}"))),
            Some(_) => {}
        }
    }
    // A product that this build does not know brings tables and indexes of its own.
    let knows_all = applied.keys().all(|product| schemas.iter().any(|schema| schema.product == product));
    let foreign = found.keys().find(|object| {
        !wanted.contains_key(*object) && (knows_all || matches!(object.0.as_str(), "trigger" | "view"))
    });
    Ok(foreign.map(|(kind, name)| format!("has a {kind} {name:?} that no Arena made")))
}

/// An empty database after the same steps.
fn made(schemas: &[Schema], applied: &HashMap<String, i64>) -> rusqlite::Result<Connection> {
    let conn = Connection::open_in_memory()?;
    conn.execute_batch(migrate::TABLE)?;
    conn.execute_batch(migrate::GUARD_TABLE)?;
    let cut: Vec<Schema> = schemas
        .iter()
        .map(|schema| {
            let steps =
                applied.get(schema.product).and_then(|&number| usize::try_from(number).ok()).unwrap_or(0);
            Schema { product: schema.product, steps: &schema.steps[..steps.min(schema.steps.len())] }
        })
        .collect();
    let mut done = HashMap::new();
    while let Ok(Some(step)) = migrate::next(&cut, &done) {
        conn.execute_batch(step.ddl)?;
        done.insert(step.product.to_owned(), step.number);
    }
    Ok(conn)
}

fn shape(conn: &Connection) -> rusqlite::Result<Shape> {
    let mut statement = conn.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| {
        let text: Option<String> = row.get(2)?;
        let words = text.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        Ok(((row.get(0)?, row.get(1)?), words))
    })?;
    let shape: rusqlite::Result<Shape> = rows.collect();
    // Statistics are SQLite's own.
    shape.map(|mut shape| {
        shape.retain(|(_, name), _| !name.starts_with("sqlite_stat"));
        shape
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, sqlite::connect};

    const SCHEMA: Schema = Schema {
        product: "toy",
        steps: &[
            "CREATE TABLE toy (id TEXT NOT NULL PRIMARY KEY, size INTEGER) STRICT; CREATE INDEX toy_size ON toy (size);",
            "ALTER TABLE toy RENAME COLUMN size TO weight; ALTER TABLE toy ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;",
        ],
    };

    fn told(change: &str) -> Option<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("arena.db");
        let mut options = Options::new(Place::Memory);
        options.schemas = vec![SCHEMA];
        let mut conn = connect::writer(Some(&path)).unwrap();
        connect::migrate(&mut conn, &options, 0, &path).unwrap();
        conn.execute_batch(change).unwrap();
        let applied = connect::applied(&conn).unwrap();
        difference(&conn, &options, &applied).unwrap()
    }

    #[test]
    fn a_database_is_what_its_migrations_made_or_it_is_told_what_differs() {
        for (change, wanted) in [
            ("", None),
            ("INSERT INTO toy (id) VALUES ('a'); ANALYZE;", None),
            ("DROP INDEX toy_size", Some("lacks the index \"toy_size\"")),
            (
                "CREATE TRIGGER more AFTER INSERT ON toy BEGIN UPDATE toy SET weight = 1; END",
                Some("has a trigger \"more\" that no Arena made"),
            ),
            ("CREATE VIEW seen AS SELECT id FROM toy", Some("has a view \"seen\" that no Arena made")),
            ("CREATE TABLE other (a INTEGER)", Some("has a table \"other\" that no Arena made")),
            ("ALTER TABLE toy ADD COLUMN other INTEGER", Some("has another table \"toy\"")),
            (
                "DROP INDEX toy_size; CREATE INDEX toy_size ON toy (weight) WHERE weight > 1",
                Some("has another index \"toy_size\""),
            ),
            // Of a product that another build has.
            ("INSERT INTO migration VALUES ('chess', 1, 0); CREATE TABLE chess (a INTEGER)", None),
            (
                "INSERT INTO migration VALUES ('chess', 1, 0); CREATE TRIGGER more AFTER INSERT ON toy BEGIN UPDATE toy SET weight = 1; END",
                Some("has a trigger \"more\" that no Arena made"),
            ),
            (
                "INSERT INTO migration VALUES ('chess', 1, 0); CREATE VIEW seen AS SELECT id FROM toy",
                Some("has a view \"seen\" that no Arena made"),
            ),
        ] {
            assert_eq!(told(change).as_deref(), wanted, "{change}");
        }
    }
}
