//! Counts over an agent's last finished duels, from which the sentence is made.

use std::collections::BTreeMap;

use super::commitments::Promise;
use crate::rules::{
    demand::{Duel, Side},
    settle::{DemandSource, Settlement, SideResult},
};

/// One finished duel as its agent sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// Who the opponent was; only compared, never shown.
    pub opponent: String,
    pub pot: i64,
    pub demand: i64,
    pub opponent_demand: i64,
    pub source: DemandSource,
    pub settlement: Settlement,
    pub result: SideResult,
    pub promise: Option<Promise>,
}

impl Played {
    /// `None` for a duel that is not finished or that the agent has no part in.
    pub fn of(duel: &Duel, agent: &str, promise: Option<Promise>) -> Option<Self> {
        let side: Side = duel.side_of(agent)?;
        let finish = duel.finish.as_ref()?;
        let seat = duel.seat(side);
        Some(Self {
            opponent: duel.seat(side.other()).agent.clone(),
            pot: duel.distributable_pot(),
            demand: seat.demand.unwrap_or(0),
            opponent_demand: duel.seat(side.other()).demand.unwrap_or(0),
            source: duel.source(side),
            settlement: finish.settlement,
            result: SideResult::of(finish.payouts[side.index()], seat.stake),
            promise,
        })
    }

    fn share_permille(&self) -> i64 {
        self.demand * 1000 / self.pot.max(1)
    }
}

/// Counts over duels, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    pub duels: i64,
    /// Sum over the duels of the own demand in permille of the distributable pot.
    pub share_permille_sum: i64,
    /// Duels that burned the whole pot.
    pub over_pot: i64,
    pub timeouts: i64,
    pub kept: i64,
    pub broken: i64,
    /// Rematches after an opponent that had asked for no more than half.
    pub fair_met: i64,
    /// Of those, the ones in which the agent asked for no more than half too.
    pub fair_returned: i64,
    /// Duels against opponents that occur more than once.
    pub repeated: i64,
    /// Rematches that turned a win into a loss or a loss into a win.
    pub alternations: i64,
}

impl Counters {
    pub fn over(played: &[Played]) -> Self {
        let mut counters = Self::default();
        let mut meetings: BTreeMap<&str, Vec<&Played>> = BTreeMap::new();
        for duel in played {
            counters.add(duel);
            meetings.entry(&duel.opponent).or_default().push(duel);
        }
        for duels in meetings.values().filter(|duels| duels.len() > 1) {
            counters.repeated += i64::try_from(duels.len()).unwrap_or(0);
            for pair in duels.windows(2) {
                counters.add_rematch(pair[0], pair[1]);
            }
        }
        counters
    }

    fn add(&mut self, duel: &Played) {
        self.duels += 1;
        self.share_permille_sum += duel.share_permille();
        self.over_pot += i64::from(duel.settlement == Settlement::OverPot);
        let submitted = duel.source == DemandSource::Submitted;
        self.timeouts += i64::from(!submitted);
        // A demand that was never made neither keeps nor breaks a promise.
        if let Some(promise) = duel.promise.filter(|_| submitted) {
            let kept = duel.demand <= promise.bound(duel.pot);
            self.kept += i64::from(kept);
            self.broken += i64::from(!kept);
        }
    }

    fn add_rematch(&mut self, before: &Played, after: &Played) {
        let fair = |demand: i64, pot: i64| demand <= pot - pot / 2;
        if fair(before.opponent_demand, before.pot) {
            self.fair_met += 1;
            self.fair_returned += i64::from(fair(after.demand, after.pot));
        }
        self.alternations += i64::from(matches!(
            (before.result, after.result),
            (SideResult::Win, SideResult::Loss) | (SideResult::Loss, SideResult::Win)
        ));
    }
}
