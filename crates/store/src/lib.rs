//! Arena's state: one transaction interface over SQLite and PostgreSQL, with commands that are
//! decided and applied on threads of the store's own.
//!
//! Products write SQL once against [`kernel::tx::Tx`]; this crate knows no product and no door.
//! Absent on purpose: an ORM, a pool that futures hold connections from, any SQL text of a product,
//! and a second way to write. What a sudden loss of power does to an unsynced disk is not tested
//! here; SQLite runs with `synchronous=FULL` and PostgreSQL with its own default for that.

mod clock;
pub mod dialect;
pub mod jobs;
pub mod ledger;
pub mod limits;
mod migrate;
pub mod once;

mod open_error;
mod options;
mod postgres;
mod probe;
mod queue;
mod sqlite;
mod store;
mod waiting;
mod work;

pub use clock::{ADVANCE_MS_MAX, SPEED_MILLI_MAX};
pub use once::{Once, OnceKey};
pub use open_error::OpenError;
pub use options::{Engine, Options, Place, Point, Probe, Schema};
pub use sqlite::{Hold, Solo, copy, hold, inspect, look, schemas, solo};
pub use store::Store;
pub use waiting::Ready;

/// The database file of SQLite inside the data directory.
pub const FILE_NAME: &str = "arena.db";

/// The store's own tables.
pub const STEPS: &[&str] = &[
    include_str!("../migrations/0001_store.sql"),
    include_str!("../migrations/0002_ledger_jobs_limits.sql"),
    include_str!("../migrations/0003_written_by.sql"),
];

/// The store's own schema, which every store has.
pub const SCHEMA: Schema = Schema { product: "store", steps: STEPS };

/// Every statement of this crate, for the test that prepares them on both engines.
pub fn statements() -> Vec<&'static kernel::tx::Sql> {
    [clock::ALL, once::ALL, probe::ALL, postgres::statements(), ledger::ALL, jobs::ALL, limits::ALL].concat()
}
