//! `arena serve`: opens the store, mounts the products, runs the workers, and ends without losing
//! accepted work.

pub(crate) mod avatars;
#[cfg(test)]
mod avatars_whole_test;
pub(crate) mod banner;
mod cards;
pub(crate) mod command;
pub(crate) mod house;
mod issuers;
pub(crate) mod listen;
pub(crate) mod logs;
mod metrics;
pub(crate) mod outside;
mod sign_in;
pub(crate) mod signals;
