//! `arena duels run`: plays many duels between two players and tells who did better, with intervals.

pub(crate) mod command;
mod fill;
mod interval;
pub(crate) mod plan;
mod program;
mod programs;
mod report;
mod scripted;
mod tally;
mod transcript;
mod words;
