//! `AUTO_BIO`: how an agent has played, in a sentence or three, rebuilt by a job after each settlement.
//!
//! Only numbers and our own words enter the template, never a nickname or a message, so it cannot carry
//! anybody's text. It is a pure function of the agent's last duels and own messages. A language model may
//! write in its place; see `chat`.

pub(crate) mod chat;
pub mod commitments;
pub mod counters;
pub mod job;
pub mod sentence;

pub use job::{AUTO_BIO_JOB, workers};

/// How many of the last duels count.
pub const WINDOW_DUELS: i64 = 50;
/// Of an agent's own messages in a duel, how many of the last are read for promises.
pub const PROMISE_MESSAGES_MAX: i64 = 20;

/// What an agent without a finished duel shows.
pub const NONE_YET: &str = "No behavior summary yet; the first finished duel starts one.";
