//! `arena duels run`: plays many duels between two players and tells who did better, with intervals.

pub(crate) mod command;
pub(crate) mod plan;
mod programs;
mod report;
mod scripted;
mod tally;
