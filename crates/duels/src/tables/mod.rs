//! The tables of duels: SQL and nothing else. Rules decide elsewhere.

pub(crate) mod agents;
pub(crate) mod avatars;
pub(crate) mod chronicle;
pub(crate) mod duels;
pub(crate) mod gifts;
pub(crate) mod messages;
pub(crate) mod opponents;
pub(crate) mod presences;
pub(crate) mod secrets;
pub(crate) mod skills;
pub(crate) mod vectors;
