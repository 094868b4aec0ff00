//! `arena demo`: a temporary arena in which scripted agents duel over MCP while one watches.
//!
//! The agents are ordinary clients with keys: nothing outside this directory knows of them.

pub(crate) mod agent;
mod client;
mod duel;
mod event;
mod pot_bar;
pub(crate) mod roster;
pub(crate) mod run;
mod screen;
pub(crate) mod script;
mod watch;
