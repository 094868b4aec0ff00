//! The store's promises, kept by both engines.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod commands;
mod commit;
