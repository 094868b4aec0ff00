//! What came of many duels, side by side.

use duels::{
    rules::settle::{DemandSource, Settlement},
    view::Record,
};
use serde::Serialize;

use super::interval::{Figure, Shares};

/// Sums over the duels of one side.
#[derive(Debug, Clone, Default)]
struct Side {
    duels: u64,
    wins: u64,
    draws: u64,
    timeouts: u64,
    /// Of the pot that can be shared.
    demand: Shares,
    payout: Shares,
    /// Paid out, on what was staked.
    returned: Shares,
}

/// The figures of one side.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Figures {
    pub(crate) player: String,
    pub(crate) wins: u64,
    pub(crate) draws: u64,
    pub(crate) losses: u64,
    pub(crate) timeouts: u64,
    pub(crate) win_rate: Figure,
    pub(crate) draw_rate: Figure,
    pub(crate) loss_rate: Figure,
    pub(crate) timeout_rate: Figure,
    /// Wins, a draw counting half.
    pub(crate) rating: Figure,
    /// Mean parts of the pot that were asked for and received.
    pub(crate) demand_share: Figure,
    pub(crate) payout_share: Figure,
    /// Paid out beyond all that was staked.
    pub(crate) roi: Figure,
}

/// What came of a run so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) duels: u64,
    /// How often a side got its opening points again.
    pub(crate) refills: u64,
    over_pot: u64,
    burned: Shares,
    sides: [Side; 2],
}

impl Tally {
    /// Adds a duel as side `viewer` (0 or 1) sees it.
    pub(crate) fn add(&mut self, record: &Record, viewer: usize) {
        let gross = record.your_stake + record.opponent_stake;
        let pot = gross - duels::rules::limits::BASE_BURN_POINTS;
        self.duels += 1;
        self.over_pot += u64::from(record.settlement == Settlement::OverPot);
        self.burned.add(record.platform_credit, gross);
        let [first, second] = &mut self.sides;
        let (own, other) = if viewer == 0 { (first, second) } else { (second, first) };
        own.add(pot, record.your_demand, record.your_demand_source, record.your_payout, record.your_stake);
        other.add(
            pot,
            record.opponent_demand,
            record.opponent_demand_source,
            record.opponent_payout,
            record.opponent_stake,
        );
    }

    /// How often the whole pot burned.
    pub(crate) fn over_pot(&self) -> Figure {
        rate(self.over_pot, self.duels)
    }

    /// The mean part of all stakes that burned.
    pub(crate) fn burn_share(&self) -> Figure {
        self.burned.mean()
    }

    pub(crate) fn figures(&self, players: &[String; 2]) -> [Figures; 2] {
        [0, 1].map(|at| self.sides[at].figures(&players[at]))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of duels are far below 2^52")]
fn rate(times: u64, of: u64) -> Figure {
    Figure::rate(times as f64, of)
}

impl Side {
    fn add(&mut self, pot: i64, demand: i64, source: DemandSource, payout: i64, stake: i64) {
        self.duels += 1;
        self.wins += u64::from(payout > stake);
        self.draws += u64::from(payout == stake);
        self.timeouts += u64::from(source == DemandSource::DefaultTimeout);
        self.demand.add(demand, pot);
        self.payout.add(payout, pot);
        self.returned.add(payout, stake);
    }

    fn figures(&self, player: &str) -> Figures {
        let losses = self.duels - self.wins - self.draws;
        #[expect(clippy::cast_precision_loss, reason = "counts of duels are far below 2^52")]
        let score = self.wins as f64 + self.draws as f64 / 2.0;
        Figures {
            player: player.to_owned(),
            wins: self.wins,
            draws: self.draws,
            losses,
            timeouts: self.timeouts,
            win_rate: rate(self.wins, self.duels),
            draw_rate: rate(self.draws, self.duels),
            loss_rate: rate(losses, self.duels),
            timeout_rate: rate(self.timeouts, self.duels),
            rating: Figure::rate(score, self.duels),
            demand_share: self.demand.mean(),
            payout_share: self.payout.mean(),
            roi: self.returned.gain(),
        }
    }
}
