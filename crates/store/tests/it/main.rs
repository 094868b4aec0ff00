//! The store's promises, kept by both engines.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod commands;
mod commit;
mod foreign_file;
mod full_disk;
mod held;
mod idempotency;
mod jobs;
mod ledger;
mod lost;
mod migration;
mod order;
mod proxy;
mod time;
