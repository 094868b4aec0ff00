//! Administration: people and keys, done by the server that holds the store or by the command
//! itself, with the same function either way.

pub(crate) mod backup;
pub(crate) mod command;
pub(crate) mod execute;
mod person;
pub(crate) mod request;
mod route;
pub(crate) mod socket;
