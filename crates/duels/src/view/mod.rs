//! The parts that answers share, each built from rows in one place.

mod balance;
mod presence;
mod record;

pub use balance::{Balance, Recovery};
pub use presence::Arena;
pub use record::{Record, TransferDirection, TransferRecord};
