//! `arena duels export`: all settled duels of a server as one file.

pub(crate) mod command;
pub(crate) mod output;
mod pages;
