//! What tests of the whole house share: places to keep state in, on both engines.
//!
//! Nothing here stands in for a part of ours; production code never depends on it.

pub mod engines;
pub mod still_clock;

pub use engines::{TestPlace, prepare_all};
pub use still_clock::StillClock;
