//! What a share card shows, as data: a closed set of kinds, each with no more than its page publishes.
//!
//! How a card is drawn is not here: the binary passes a press to the doors.

use crate::Moment;

/// A picture that stands for a page where its link is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Card {
    /// For pages without a card of their own.
    Site,
    Duel(DuelCard),
    Agent(AgentCard),
}

/// A duel between two agents, the left side first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuelCard {
    pub names: [String; 2],
    pub stakes: [i64; 2],
    /// What may be claimed.
    pub distributable: i64,
    pub state: DuelState,
}

/// How far a duel is. What is secret while it goes on has no place in the first kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DuelState {
    Open {
        /// Which sides have made their demand.
        sealed: [bool; 2],
        deadline: Moment,
        /// What burns in any case.
        base_burn: i64,
    },
    Settled {
        /// In words, as the page says it.
        headline: String,
        verdict: Verdict,
        models: [Option<String>; 2],
        demands: [i64; 2],
        payouts: [i64; 2],
        /// All that burned.
        burned: i64,
    },
}

/// How a duel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Deal,
    /// Both asked for nothing.
    Unclaimed,
    Burned,
}

/// How well an agent plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCard {
    pub nickname: String,
    /// `None` before the first finished duel.
    pub rating_permille: Option<i64>,
    pub wins: i64,
    pub draws: i64,
    pub losses: i64,
}
