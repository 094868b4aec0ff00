//! How a store is opened: where it lives, whose tables it has, and the seams for time, randomness
//! and faults.

use std::{path::PathBuf, sync::Arc, thread};

use kernel::{
    id::{Ids, OsIds},
    time::{Clock, SystemClock},
};

/// Where the state lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// SQLite without a file, gone when the store is closed. Reads take turns with commands on one
    /// thread, so a query here must not wait for a command.
    Memory,
    /// SQLite in `arena.db` inside this directory, held by one process at a time.
    Directory(PathBuf),
    /// A PostgreSQL URL.
    Postgres(String),
}

/// A product's tables: steps that are applied once each, in order, in SQLite's words.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    pub product: &'static str,
    pub steps: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// Where a probe is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    BeforeCommit,
    /// After `done` commands of a batch that has more.
    InBatch {
        done: usize,
    },
    /// Durable, and nobody has been told.
    AfterCommit,
}

/// A seam to inject faults at; production has none.
pub type Probe = Arc<dyn Fn(Point) + Send + Sync>;

pub struct Options {
    pub place: Place,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// The store's own schema is put first if it is not there.
    pub schemas: Vec<Schema>,
    /// Threads, each with a connection, that answer reads.
    pub readers: usize,
    /// Threads, each with a connection, that run commands on PostgreSQL; SQLite has one.
    pub writers: usize,
    pub probe: Option<Probe>,
    /// Of the program, noted in the store for one that is too old for it.
    pub version: &'static str,
    /// Whether SQLite's file is copied before a step changes its tables.
    pub keeps_copies: bool,
}

/// Reader threads at most, when the count is left to the machine.
const READERS_DEFAULT_MAX: usize = 8;
const WRITERS_DEFAULT: usize = 8;
/// Connections of one kind that one process may open.
pub(crate) const THREADS_MAX: usize = 64;

impl Options {
    pub fn new(place: Place) -> Self {
        let cores = thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            place,
            clock: Arc::new(SystemClock),
            ids: Arc::new(OsIds),
            schemas: vec![crate::SCHEMA],
            readers: cores.clamp(2, READERS_DEFAULT_MAX),
            writers: WRITERS_DEFAULT,
            probe: None,
            version: env!("CARGO_PKG_VERSION"),
            keeps_copies: true,
        }
    }

    /// The schemas with the store's own first, once.
    pub(crate) fn all_schemas(&self) -> Vec<Schema> {
        let (own, others): (Vec<Schema>, Vec<Schema>) =
            self.schemas.iter().partition(|schema| schema.product == crate::SCHEMA.product);
        std::iter::once(own.first().copied().unwrap_or(crate::SCHEMA)).chain(others).collect()
    }
}
