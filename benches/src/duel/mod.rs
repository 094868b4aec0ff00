//! Whole duels as a load: who plays whom, what was asked of the engine, and the same again without us.

pub(crate) mod crowd;
pub(crate) mod inserts;
pub(crate) mod players;
pub(crate) mod replay;
pub(crate) mod tape;
pub(crate) mod through_door;
pub(crate) mod world;
