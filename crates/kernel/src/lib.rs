//! The words that every part of Arena shares: identifiers, instants, text, faults, operations and
//! the interface of a transaction.
//!
//! Nothing here does I/O, knows an engine or a door, or reads a clock: the sources of time and
//! randomness are traits that the wiring passes in.

pub mod card;
pub mod fault;
pub mod id;
pub mod input;
pub mod operation;
pub mod principal;
pub mod schema;
pub mod seal;
pub mod text;
pub mod time;
pub mod tx;

pub use fault::{Fault, Kind};
pub use time::Moment;

/// The largest integer that every JSON reader keeps exact: 2^53 − 1.
pub const JSON_INTEGER_MAX: i64 = 9_007_199_254_740_991;
