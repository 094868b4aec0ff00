//! A PostgreSQL database per test, copied from a migrated template.
//!
//! Templates carry a fingerprint of their schemas in their name and stay on the server: later runs
//! use them again, and a changed schema makes another.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use store::{Options, Place, Schema, Store};
use tokio_postgres::{Client, NoTls};

/// Copying waits while another test copies the same template.
const COPY_ATTEMPTS_MAX: u32 = 400;
const COPY_PAUSE: Duration = Duration::from_millis(25);
/// The lock, on the server, under which a template is made; no number of the product's.
const TEMPLATE_LOCK: i64 = 0x0061_7265_6e61;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The server, and the test's database once it has one.
#[derive(Debug)]
pub(super) struct Databases {
    server: String,
    own: OnceLock<String>,
}

impl Databases {
    pub(super) fn new(url: &str) -> Self {
        Self { server: url.to_owned(), own: OnceLock::new() }
    }

    /// Another database on the same server.
    pub(super) fn another(&self) -> Self {
        Self::new(&self.server)
    }

    /// The URL of the test's database, made on the first call.
    pub(super) fn own(&self, schemas: &[Schema]) -> String {
        let name = self.own.get_or_init(|| {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("arena_test_{}_{number}", std::process::id());
            if schemas.is_empty() {
                on_server(&self.server, async |server| create(server, &name, "template1").await);
            } else {
                let template = self.template(schemas);
                on_server(&self.server, async |server| create(server, &name, &template).await);
            }
            name
        });
        with_database(&self.server, name)
    }

    /// The name of a migrated database. Whoever comes first makes it, under a lock of the server's,
    /// and gives it its name only when it is whole.
    fn template(&self, schemas: &[Schema]) -> String {
        let mut hasher = DefaultHasher::new();
        for schema in schemas {
            (schema.product, schema.steps).hash(&mut hasher);
        }
        let name = format!("arena_template_{:016x}", hasher.finish());
        on_server(&self.server, async |server| {
            let lock = "SELECT pg_advisory_lock($1)";
            server.execute(lock, &[&TEMPLATE_LOCK]).await.expect("the template lock");
            let found = server.query("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await;
            if found.expect("the list of databases").is_empty() {
                let draft = format!("{name}_draft");
                drop_database(server, &draft).await;
                create(server, &draft, "template1").await;
                let url = with_database(&self.server, &draft);
                let mut options = Options::new(Place::Postgres(url));
                options.schemas = schemas.to_vec();
                (options.readers, options.writers) = (1, 1);
                Store::open(options).expect("the template migrates").close();
                let rename = format!("ALTER DATABASE {draft} RENAME TO {name}");
                retry(async || server.batch_execute(&rename).await).await;
            }
            // The lock ends with this connection.
        });
        name
    }
}

impl Drop for Databases {
    fn drop(&mut self) {
        if let Some(name) = self.own.get() {
            on_server(&self.server, async |server| drop_database(server, name).await);
        }
    }
}

async fn create(server: &Client, name: &str, template: &str) {
    let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
    retry(async || server.batch_execute(&sql).await).await;
}

async fn drop_database(server: &Client, name: &str) {
    let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    server.batch_execute(&sql).await.expect("a database is dropped");
}

/// A database that is being copied, or whose last connection is just ending, is busy for a moment.
async fn retry(mut run: impl AsyncFnMut() -> Result<(), tokio_postgres::Error>) {
    for _ in 0..COPY_ATTEMPTS_MAX {
        match run().await {
            Ok(()) => return,
            Err(error) if error.code() == Some(&tokio_postgres::error::SqlState::OBJECT_IN_USE) => {
                tokio::time::sleep(COPY_PAUSE).await;
            }
            Err(error) => panic!("the test server refused: {error:?}"),
        }
    }
    panic!("the test server's template stayed busy");
}

/// The server's URL with another database; options and a socket directory in the query stay.
fn with_database(server: &str, name: &str) -> String {
    let (base, query) = server.split_once('?').map_or((server, None), |(base, query)| (base, Some(query)));
    let scheme_end = base.find("://").map_or(0, |at| at + 3);
    let authority_end = base[scheme_end..].find('/').map_or(base.len(), |at| scheme_end + at);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{name}{query}", &base[..authority_end])
}

/// Runs on a connection of its own thread: tests call this from inside a runtime and from `Drop`.
fn on_server<F>(url: &str, run: F)
where
    F: AsyncFnOnce(&Client) + Send,
{
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime starts").block_on(async {
            let connected = tokio_postgres::connect(url, NoTls).await;
            let (client, connection) = connected.expect("the server at ARENA_TEST_PG_URL answers");
            let driver = tokio::spawn(connection);
            run(&client).await;
            drop(client);
            driver.await.expect("the connection ends").expect("the connection ends well");
        });
    };
    thread::scope(|scope| scope.spawn(work).join()).expect("the test server did its part");
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn urls_change_their_database_only() {
        for (server, expected) in [
            ("postgres://u:p@h:1/postgres", "postgres://u:p@h:1/x"),
            ("postgres://u@h:1", "postgres://u@h:1/x"),
            ("postgres:///postgres?host=/tmp/s&port=5", "postgres:///x?host=/tmp/s&port=5"),
        ] {
            assert_eq!(with_database(server, "x"), expected);
        }
    }
}
