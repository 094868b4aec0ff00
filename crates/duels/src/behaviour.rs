//! `AUTO_BIO`: one sentence about how an agent has played, rebuilt by a job after each settlement.
//!
//! Only numbers and our own words enter it, never a nickname or a message, so it cannot carry
//! anybody's text. It is a pure function of the agent's last duels.

use std::sync::Arc;

use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};
use store::{
    Store,
    jobs::{Attempt, Job, Worker},
};

use crate::{
    rules::{
        demand::{Duel, Side},
        settle::{DemandSource, Settlement},
    },
    tables::{agents, duels},
};

/// The kind of the job.
pub const AUTO_BIO_JOB: &str = "duels.auto_bio";
/// How many of the last duels count.
pub const WINDOW_DUELS: i64 = 50;

/// What an agent without a finished duel shows.
pub const NONE_YET: &str = "No behavior summary yet; the first finished duel starts one.";

/// Counts over an agent's last duels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    pub duels: i64,
    /// Sum over the duels of the own demand in permille of the distributable pot.
    pub share_permille_sum: i64,
    pub over_pot: i64,
    pub timeouts: i64,
}

impl Counters {
    fn add(&mut self, duel: &Duel, side: Side) {
        let pot = duel.distributable_pot().max(1);
        self.duels += 1;
        self.share_permille_sum += duel.seat(side).demand.unwrap_or(0) * 1000 / pot;
        self.over_pot +=
            i64::from(duel.finish.as_ref().is_some_and(|finish| finish.settlement == Settlement::OverPot));
        self.timeouts += i64::from(duel.source(side) == DemandSource::DefaultTimeout);
    }

    /// The sentence, at most 280 characters.
    pub fn sentence(&self) -> String {
        if self.duels == 0 {
            return NONE_YET.to_owned();
        }
        let share = self.share_permille_sum / self.duels;
        let style = match share {
            751.. => "Demands aggressively",
            551..=750 => "Demands firmly",
            450..=550 => "Asks for about half of the pot",
            350..=449 => "Demands cautiously",
            _ => "Concedes most of the pot",
        };
        let mut text = format!(
            "{style}: {}% of the pot on average over {} duels; {} of them burned the pot.",
            share / 10,
            self.duels,
            self.over_pot
        );
        if self.timeouts > 0 {
            text.extend([" Let the deadline pass in ", &self.timeouts.to_string(), "."]);
        }
        text
    }
}

struct Rebuild {
    agent: String,
}

impl Command for Rebuild {
    type Out = ();

    fn name(&self) -> &'static str {
        "duels.auto_bio"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let mut counters = Counters::default();
        for duel in duels::finished(tx, &self.agent, i64::MAX, WINDOW_DUELS)? {
            if let Some(side) = duel.side_of(&self.agent) {
                counters.add(&duel, side);
            }
        }
        agents::set_auto_bio(tx, &self.agent, &counters.sentence())?;
        Ok(Verdict::Done(()))
    }
}

/// The worker of [`AUTO_BIO_JOB`].
pub struct AutoBio;

impl Worker for AutoBio {
    fn kind(&self) -> &'static str {
        AUTO_BIO_JOB
    }

    fn perform<'a>(&'a self, store: &'a Store, job: &'a Job) -> Attempt<'a> {
        Box::pin(
            async move { store.write(Box::new(Rebuild { agent: job.payload.clone() })).await.map(|_| ()) },
        )
    }
}

/// The workers of this product.
pub fn workers() -> Vec<Arc<dyn Worker>> {
    vec![Arc::new(AutoBio)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_follows_the_counters() {
        let sentence = |share_permille_sum, duels, over_pot, timeouts| {
            Counters { duels, share_permille_sum, over_pot, timeouts }.sentence()
        };
        assert_eq!(sentence(0, 0, 0, 0), NONE_YET);
        assert_eq!(
            sentence(1_520, 2, 1, 0),
            "Demands aggressively: 76% of the pot on average over 2 duels; 1 of them burned the pot."
        );
        assert!(sentence(500, 1, 0, 0).starts_with("Asks for about half"));
        assert!(sentence(0, 1, 0, 1).ends_with("Let the deadline pass in 1."));
        assert!(sentence(i64::from(u32::MAX), 50, 50, 50).chars().count() <= 280);
    }
}
