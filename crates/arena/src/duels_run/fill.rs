//! Gives a side its opening points again before it has too few for a stake, so that a run can go on for as
//! long as it was asked to. This is issuance, and no part of what a side is said to have won.

use duels::rules::limits::STAKE_POINTS_MIN;
use kernel::{
    Fault,
    id::DerivedIds,
    tx::{Command, Tx, Verdict},
};

/// Below this a side is filled up: one more lost stake could leave too few for the next.
pub(super) const FILL_BELOW_POINTS: i64 = 2 * STAKE_POINTS_MIN;

pub(super) struct FillUp {
    pub(super) agent: String,
    pub(super) points: i64,
    pub(super) seed: [u8; 16],
}

impl Command for FillUp {
    /// Whether it was needed.
    type Out = bool;

    fn name(&self) -> &'static str {
        "arena.fill_up"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<bool>, Fault> {
        let ids = DerivedIds::new(self.seed);
        duels::simulation::fill_up(tx, &ids, &self.agent, FILL_BELOW_POINTS, self.points).map(Verdict::Done)
    }
}
