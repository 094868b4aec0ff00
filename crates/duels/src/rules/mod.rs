//! The rules of duels: pure functions over plain structs. No SQL, no clock, no randomness.

#![deny(clippy::arithmetic_side_effects)]

pub mod challenge;
pub mod demand;
pub mod limits;
pub mod rating;
pub mod sealed;
pub mod settle;
pub mod skill;
