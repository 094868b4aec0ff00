//! What a message or a demand does to a duel, and how a duel looks to each side.

use kernel::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settle::{DemandSource, Settlement, distributable_pot, gross_pot};
use crate::fault::DuelFault;

/// Which side of a duel: the challenger is [`Side::A`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    A,
    B,
}

impl Side {
    pub const fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }

    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// One side of a duel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    pub agent: String,
    pub nickname: String,
    pub stake: i64,
    pub model_key: Option<String>,
    pub demand: Option<i64>,
    pub salt: Option<String>,
    pub commitment: Option<String>,
    /// The number of this side's last message; 0 before the first.
    pub sent_seq: i64,
    /// The last message of the duel up to which this side has acknowledged.
    pub acked_seq: i64,
}

/// How a duel ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// The order of settlements.
    pub seq: i64,
    pub at: Moment,
    pub settlement: Settlement,
    pub burn: i64,
    pub payouts: [i64; 2],
    /// Available and locked of each side after the settlement.
    pub balances_after: [i64; 2],
}

/// A duel as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duel {
    pub slug: String,
    pub seats: [Seat; 2],
    pub started_at: Moment,
    pub deadline_at: Moment,
    /// The number of the last message; 0 before the first.
    pub last_seq: i64,
    pub finish: Option<Finish>,
}

/// How a duel looks to one of its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Neither has demanded; both may write.
    Chat,
    /// The opponent has demanded.
    YourDemandRequired,
    /// The viewer has demanded.
    WaitingForOpponent,
    Finished,
}

impl Duel {
    pub fn stakes(&self) -> [i64; 2] {
        [self.seats[0].stake, self.seats[1].stake]
    }

    pub fn demands(&self) -> [Option<i64>; 2] {
        [self.seats[0].demand, self.seats[1].demand]
    }

    pub fn gross_pot(&self) -> i64 {
        gross_pot(self.stakes())
    }

    pub fn distributable_pot(&self) -> i64 {
        distributable_pot(self.stakes())
    }

    pub fn seat(&self, side: Side) -> &Seat {
        &self.seats[side.index()]
    }

    /// Which side `agent` has; `None` for a stranger.
    pub fn side_of(&self, agent: &str) -> Option<Side> {
        [Side::A, Side::B].into_iter().find(|side| self.seat(*side).agent == agent)
    }

    /// An active duel is due from its deadline on, inclusive.
    pub fn is_due(&self, now: Moment) -> bool {
        self.finish.is_none() && now >= self.deadline_at
    }

    pub fn state_for(&self, side: Side) -> State {
        match (&self.finish, self.seat(side).demand, self.seat(side.other()).demand) {
            (Some(_), _, _) => State::Finished,
            (None, Some(_), _) => State::WaitingForOpponent,
            (None, None, Some(_)) => State::YourDemandRequired,
            (None, None, None) => State::Chat,
        }
    }

    pub fn source(&self, side: Side) -> DemandSource {
        match self.seat(side).demand {
            Some(_) => DemandSource::Submitted,
            None => DemandSource::DefaultTimeout,
        }
    }
}

/// Whether `side` may write now. The caller has settled a due duel before.
pub fn message(duel: &Duel, side: Side) -> Result<(), DuelFault> {
    let nickname = || duel.seat(side.other()).nickname.clone();
    match duel.state_for(side) {
        State::Chat => Ok(()),
        State::Finished => Err(DuelFault::DuelFinished { nickname: nickname() }),
        State::YourDemandRequired | State::WaitingForOpponent => {
            Err(DuelFault::ChatClosed { nickname: nickname() })
        }
    }
}

/// What a demand leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemandStep {
    /// The same demand was submitted before and still waits.
    Existing,
    /// The same demand was submitted before and the duel has settled.
    Replay,
    /// The first demand: chat closes.
    Accept,
    /// The second demand: the duel settles.
    AcceptAndSettle,
}

/// Judges a demand of `count` by `side`. The caller has settled a due duel before.
pub fn demand(duel: &Duel, side: Side, count: i64) -> Result<DemandStep, DuelFault> {
    let finished = duel.finish.is_some();
    match duel.seat(side).demand {
        Some(before) if before == count => {
            Ok(if finished { DemandStep::Replay } else { DemandStep::Existing })
        }
        _ if finished => Err(DuelFault::DuelFinished { nickname: duel.seat(side.other()).nickname.clone() }),
        Some(before) => Err(DuelFault::DemandAlreadySubmitted { count: before }),
        None if !(0..=duel.distributable_pot()).contains(&count) => {
            Err(DuelFault::DemandOutOfRange { distributable_pot: duel.distributable_pot() })
        }
        None if duel.seat(side.other()).demand.is_some() => Ok(DemandStep::AcceptAndSettle),
        None => Ok(DemandStep::Accept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(nickname: &str, demand: Option<i64>) -> Seat {
        Seat {
            agent: nickname.to_owned(),
            nickname: nickname.to_owned(),
            stake: 10,
            model_key: None,
            demand,
            salt: None,
            commitment: None,
            sent_seq: 0,
            acked_seq: 0,
        }
    }

    fn duel(demands: [Option<i64>; 2], finished: bool) -> Duel {
        Duel {
            slug: "d".into(),
            seats: [seat("alpha", demands[0]), seat("beta", demands[1])],
            started_at: Moment::from_millis(0),
            deadline_at: Moment::from_millis(600_000),
            last_seq: 0,
            finish: finished.then(|| Finish {
                seq: 1,
                at: Moment::from_millis(5),
                settlement: Settlement::WithinPot,
                burn: 1,
                payouts: [0, 0],
                balances_after: [90, 90],
            }),
        }
    }

    #[test]
    fn a_duel_is_due_at_its_deadline_and_not_a_millisecond_before() {
        let duel = duel([None, None], false);
        assert!(!duel.is_due(Moment::from_millis(599_999)));
        assert!(duel.is_due(Moment::from_millis(600_000)));
    }

    #[test]
    fn the_table_of_demands() {
        use DemandStep::{Accept, AcceptAndSettle, Existing, Replay};
        let finished = DuelFault::DuelFinished { nickname: "beta".into() };
        for (mine, theirs, over, count, wanted) in [
            (None, None, false, 0, Ok(Accept)),
            (None, None, false, 19, Ok(Accept)),
            (None, None, false, 20, Err(DuelFault::DemandOutOfRange { distributable_pot: 19 })),
            (None, None, false, -1, Err(DuelFault::DemandOutOfRange { distributable_pot: 19 })),
            (None, Some(3), false, 5, Ok(AcceptAndSettle)),
            (Some(5), None, false, 5, Ok(Existing)),
            (Some(5), None, false, 6, Err(DuelFault::DemandAlreadySubmitted { count: 5 })),
            (Some(5), None, false, 99, Err(DuelFault::DemandAlreadySubmitted { count: 5 })),
            (Some(5), Some(3), true, 5, Ok(Replay)),
            (Some(5), Some(3), true, 6, Err(finished.clone())),
            (Some(5), None, true, 5, Ok(Replay)),
            (None, Some(3), true, 0, Err(finished.clone())),
            (None, None, true, 0, Err(finished)),
        ] {
            let duel = duel([mine, theirs], over);
            assert_eq!(demand(&duel, Side::A, count), wanted, "{mine:?} {theirs:?} {over} {count}");
        }
    }

    #[test]
    fn chat_is_open_only_before_the_first_demand() {
        let closed = Err(DuelFault::ChatClosed { nickname: "beta".into() });
        assert_eq!(message(&duel([None, None], false), Side::A), Ok(()));
        assert_eq!(message(&duel([Some(1), None], false), Side::A), closed);
        assert_eq!(message(&duel([None, Some(1)], false), Side::A), closed);
        let finished = Err(DuelFault::DuelFinished { nickname: "beta".into() });
        assert_eq!(message(&duel([None, None], true), Side::A), finished);
    }

    #[test]
    fn each_side_sees_its_own_state() {
        let waiting = duel([Some(1), None], false);
        assert_eq!(waiting.state_for(Side::A), State::WaitingForOpponent);
        assert_eq!(waiting.state_for(Side::B), State::YourDemandRequired);
        assert_eq!(duel([None, None], false).state_for(Side::B), State::Chat);
        assert_eq!(duel([None, None], true).state_for(Side::B), State::Finished);
    }
}
