//! What came of many duels, side by side, with intervals of 95 %.

use duels::{rules::settle::Settlement, view::Record};
use serde::Serialize;

/// The normal quantile of 95 %.
const Z: f64 = 1.959_964;

/// Sums over the duels of one side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Side {
    duels: u64,
    wins: u64,
    draws: u64,
    timeouts: u64,
    staked: i64,
    paid: i64,
    demand: Moments,
    payout: Moments,
}

/// Sum and sum of squares of shares of the pot.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, share: f64) {
        self.sum += share;
        self.squares += share * share;
    }

    fn figure(self, count: u64) -> Figure {
        if count == 0 {
            return Figure::default();
        }
        let n = real(count);
        let mean = self.sum / n;
        let variance = if count > 1 { (self.squares - n * mean * mean).max(0.0) / (n - 1.0) } else { 0.0 };
        let half = Z * (variance / n).sqrt();
        Figure::new(mean, mean - half, mean + half)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of duels are far below 2^52")]
fn real(count: u64) -> f64 {
    count as f64
}

/// A share with its interval, in percent with one decimal.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Figure {
    pub(crate) percent: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Figure {
    fn new(share: f64, low: f64, high: f64) -> Self {
        let percent = |share: f64| (share * 1000.0).round() / 10.0;
        Self { percent: percent(share), low: percent(low), high: percent(high) }
    }

    /// Wilson's interval of a rate.
    fn rate(times: u64, of: u64) -> Self {
        if of == 0 {
            return Self::default();
        }
        let (n, p) = (real(of), real(times) / real(of));
        let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        Self::new(p, (middle - half).max(0.0), (middle + half).min(1.0))
    }
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
    /// Of duels won, a draw counting half.
    pub(crate) rating: Figure,
    /// Of the pot that was asked for and received, on average.
    pub(crate) demand: Figure,
    pub(crate) payout: Figure,
    /// Paid out beyond what was staked, in percent of it.
    pub(crate) roi_percent: f64,
}

/// What came of a run so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) duels: u64,
    burned: u64,
    sides: [Side; 2],
}

impl Tally {
    /// Adds a duel as side `viewer` (0 or 1) sees it.
    pub(crate) fn add(&mut self, record: &Record, viewer: usize) {
        self.duels += 1;
        self.burned += u64::from(record.settlement == Settlement::OverPot);
        let pot = record.your_stake + record.opponent_stake - duels::rules::limits::BASE_BURN_POINTS;
        let [first, second] = &mut self.sides;
        let (own, other) = if viewer == 0 { (first, second) } else { (second, first) };
        own.add(record.your_demand, record.your_payout, record.your_stake, pot, record.your_demand_source);
        other.add(
            record.opponent_demand,
            record.opponent_payout,
            record.opponent_stake,
            pot,
            record.opponent_demand_source,
        );
    }

    /// How often the whole pot burned.
    pub(crate) fn burned(&self) -> Figure {
        Figure::rate(self.burned, self.duels)
    }

    pub(crate) fn figures(&self, players: &[String; 2]) -> [Figures; 2] {
        [0, 1].map(|at| self.sides[at].figures(&players[at]))
    }
}

impl Side {
    fn add(
        &mut self,
        demand: i64,
        payout: i64,
        stake: i64,
        pot: i64,
        source: duels::rules::settle::DemandSource,
    ) {
        #[expect(clippy::cast_precision_loss, reason = "points are far below 2^52")]
        let share = |points: i64| points as f64 / pot.max(1) as f64;
        self.duels += 1;
        self.wins += u64::from(payout > stake);
        self.draws += u64::from(payout == stake);
        self.timeouts += u64::from(source == duels::rules::settle::DemandSource::DefaultTimeout);
        self.staked += stake;
        self.paid += payout;
        self.demand.add(share(demand));
        self.payout.add(share(payout));
    }

    fn figures(&self, player: &str) -> Figures {
        #[expect(clippy::cast_precision_loss, reason = "points are far below 2^52")]
        let roi = if self.staked == 0 {
            0.0
        } else {
            ((self.paid - self.staked) as f64 / self.staked as f64 * 1000.0).round() / 10.0
        };
        Figures {
            player: player.to_owned(),
            wins: self.wins,
            draws: self.draws,
            losses: self.duels - self.wins - self.draws,
            timeouts: self.timeouts,
            rating: Figure::rate(2 * self.wins + self.draws, 2 * self.duels),
            demand: self.demand.figure(self.duels),
            payout: self.payout.figure(self.duels),
            roi_percent: roi,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_the_textbooks() {
        let half = Figure::rate(10, 20);
        assert_eq!((half.percent, half.low, half.high), (50.0, 29.9, 70.1));
        assert_eq!(Figure::rate(0, 0), Figure::default());
        let mut moments = Moments::default();
        for share in [0.4, 0.5, 0.6] {
            moments.add(share);
        }
        // Standard deviation 0.1, standard error 0.0577.
        let mean = moments.figure(3);
        assert_eq!((mean.percent, mean.low, mean.high), (50.0, 38.7, 61.3));
        assert_eq!(moments.figure(0), Figure::default());
    }
}
