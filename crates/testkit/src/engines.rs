//! One suite, two engines: a macro that makes a test of each, and the place each gets.
//!
//! PostgreSQL comes from the server at `ARENA_TEST_PG_URL`. Each test gets a database of its own,
//! copied from a template that is migrated once per set of schemas and reused by later runs.

mod database;

use std::path::PathBuf;

use kernel::tx::Sql;
use store::{Options, Place, Schema, Store};
use tempfile::TempDir;

/// Makes `name::sqlite` and `name::postgres` of one test that takes a [`TestPlace`].
///
/// Comments and attributes pass to both tests.
#[macro_export]
macro_rules! both_engines {
    ($($(#[$meta:meta])* async fn $name:ident($place:ident: $type:ty) $body:block)+) => {
        $(mod $name {
            #[allow(unused_imports, clippy::allow_attributes, reason = "a test may need nothing of its module")]
            use super::*;

            async fn run($place: $type) $body

            $(#[$meta])*
            #[::core::prelude::v1::test]
            fn sqlite() {
                $crate::engines::block_on(run($crate::TestPlace::sqlite()));
            }

            $(#[$meta])*
            #[::core::prelude::v1::test]
            fn postgres() {
                if let Some(place) = $crate::TestPlace::postgres(concat!(module_path!(), "::postgres")) {
                    $crate::engines::block_on(run(place));
                }
            }
        })+
    };
}

/// Runs a test on a runtime with several threads.
pub fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime starts").block_on(test);
}

/// A place of the test's own, gone with it.
#[derive(Debug)]
pub struct TestPlace {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Sqlite(TempDir),
    Postgres(database::Databases),
}

impl TestPlace {
    /// A directory in the system's temporary one.
    pub fn sqlite() -> Self {
        Self { kind: Kind::Sqlite(tempfile::tempdir().expect("a temporary directory")) }
    }

    /// A database on the test server. Without a server the test is noted as skipped and gets `None`, or
    /// fails where nothing may be skipped.
    pub fn postgres(test: &str) -> Option<Self> {
        let Some(url) = variable("ARENA_TEST_PG_URL") else {
            crate::skip::skip(test, "no ARENA_TEST_PG_URL; set it, or run the tests by `cargo xtask test`");
            return None;
        };
        Some(Self { kind: Kind::Postgres(database::Databases::new(&url)) })
    }

    /// A fresh place of the same engine.
    #[must_use]
    pub fn another(&self) -> Self {
        let kind = match &self.kind {
            Kind::Sqlite(_) => return Self::sqlite(),
            Kind::Postgres(databases) => Kind::Postgres(databases.another()),
        };
        Self { kind }
    }

    /// The place, empty until a store is opened there. The same place for the whole test.
    pub fn place(&self) -> Place {
        self.migrated(&[])
    }

    /// The place with these schemas applied where that is cheaper than applying them again; opening a
    /// store does the rest. The first call decides.
    pub fn migrated(&self, schemas: &[Schema]) -> Place {
        match &self.kind {
            Kind::Sqlite(directory) => Place::Directory(directory.path().join("data")),
            Kind::Postgres(databases) => Place::Postgres(databases.own(schemas)),
        }
    }

    /// Options for a store with these schemas and the store's own.
    pub fn options(&self, schemas: &[Schema]) -> Options {
        let all: Vec<_> = std::iter::once(store::SCHEMA).chain(schemas.iter().copied()).collect();
        let mut options = Options::new(self.migrated(&all));
        // Tests run side by side, and a test server has few connections to give.
        (options.readers, options.writers) = (2, 4);
        options.schemas = all;
        options
    }

    /// A store with these schemas and the store's own.
    pub fn open(&self, schemas: &[Schema]) -> Store {
        Store::open(self.options(schemas)).expect("the store opens")
    }

    /// The data directory, on SQLite.
    pub fn directory(&self) -> Option<PathBuf> {
        match &self.kind {
            Kind::Sqlite(directory) => Some(directory.path().join("data")),
            Kind::Postgres(_) => None,
        }
    }
}

/// Compiles the statements of a product with its schemas in place.
pub fn prepare_all(place: &TestPlace, schemas: &[Schema], statements: &[&'static Sql]) {
    let store = place.open(schemas);
    for &sql in statements {
        if let Err(fault) = store.prepare_all(vec![sql]) {
            panic!("{} does not compile: {}", sql.name, fault.context().unwrap_or(&fault.message));
        }
    }
}

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests are told of their server by the environment")]
    let value = std::env::var(name).ok();
    value.filter(|text| !text.is_empty())
}
