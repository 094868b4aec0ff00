//! What must hold when processes are killed or frozen, disks fill up, callers break off and the
//! database goes away.

#![expect(clippy::print_stdout, reason = "what was killed and counted is printed")]

mod aborts;
mod agent;
mod away;
mod child;
pub(crate) mod disk_full;
mod freeze;
mod kill;
pub(crate) mod load;
mod relay;
mod trap;
mod truth;
mod two_nodes;
mod wire;
