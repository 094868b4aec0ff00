//! What needs the real model: golden vectors, retrieval, damaged files.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what only tests call")]

mod damage;
mod golden;
mod retrieval;
