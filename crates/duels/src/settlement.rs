//! Applies settlements: the one place that ends a duel, whoever noticed that it is due.
//!
//! Locks: every command names the agents whose balance or duels it may change, locks them in
//! ascending order, and reads only then. A due duel is settled on the way only if both of its agents
//! are locked; the deadline worker gets the others.

use std::collections::BTreeSet;

use kernel::{
    Fault, Moment,
    id::Ids,
    tx::{Command, Tx, Verdict},
};
use store::{jobs, ledger};

use crate::{
    LEDGER,
    behaviour::AUTO_BIO_JOB,
    rules::{
        demand::{Duel, Finish},
        settle,
    },
    tables::{agents, duels},
};

/// The agents of a command: those it is about, and the opponents of their due duels.
#[derive(Debug, Clone)]
pub(crate) struct Party {
    about: Vec<String>,
    locked: BTreeSet<String>,
}

impl Party {
    /// Read before the command, without locks; what changes in between is left to the worker.
    pub(crate) fn of(tx: &mut dyn Tx, about: &[&str]) -> Result<Self, Fault> {
        let now = tx.now();
        let mut locked: BTreeSet<String> = about.iter().map(|agent| (*agent).to_owned()).collect();
        if any_due(tx, about, now)? {
            for agent in about {
                for duel in duels::active(tx, agent)?.into_iter().filter(|duel| duel.is_due(now)) {
                    locked.extend(duel.seats.map(|seat| seat.agent));
                }
            }
        }
        Ok(Self { about: about.iter().map(|agent| (*agent).to_owned()).collect(), locked })
    }

    /// Takes the locks, then settles what is due among them.
    pub(crate) fn enter(&self, tx: &mut dyn Tx, ids: &dyn Ids) -> Result<(), Fault> {
        self.lock(tx)?;
        let now = tx.now();
        if !any_due(tx, &self.about, now)? {
            return Ok(());
        }
        for agent in &self.about {
            for mut duel in duels::active(tx, agent)? {
                if duel.is_due(now) && duel.seats.iter().all(|seat| self.locked.contains(&seat.agent)) {
                    settle(tx, ids, &mut duel)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the locks only.
    pub(crate) fn lock(&self, tx: &mut dyn Tx) -> Result<(), Fault> {
        let names: Vec<String> = self.locked.iter().map(|agent| format!("agent:{agent}")).collect();
        tx.lock(&names)
    }
}

/// Whether one of the agents has a duel to settle.
fn any_due(tx: &mut dyn Tx, agents: &[impl AsRef<str>], now: Moment) -> Result<bool, Fault> {
    for two in agents.chunks(2) {
        let (first, last) = (&two[0], &two[two.len() - 1]);
        if duels::any_due(tx, first.as_ref(), last.as_ref(), now)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Ends an active duel whose agents are locked: pays, burns, counts, and enqueues what follows.
///
/// A duel that lacks a demand ended at its deadline, however late this runs.
pub(crate) fn settle(tx: &mut dyn Tx, ids: &dyn Ids, duel: &mut Duel) -> Result<(), Fault> {
    if duel.finish.is_some() {
        return Err(Fault::internal(format_args!("duel {} is already settled", duel.slug)));
    }
    let outcome = settle::settle(duel.stakes(), duel.demands());
    let both = duel.demands().iter().all(Option::is_some);
    let at: Moment = if both { tx.now() } else { duel.deadline_at };
    let names = [duel.seats[0].agent.clone(), duel.seats[1].agent.clone()];
    let posts = settle::posts([&names[0], &names[1]], duel.stakes(), &outcome);
    let after = ledger::post(tx, LEDGER, ids, &duel.slug, &posts)?;
    let mut balances_after = [0, 0];
    for (side, name) in names.iter().enumerate() {
        // A side whose whole stake went elsewhere still appears: its locked points moved.
        balances_after[side] = after.get(name).map_or_else(
            || ledger::balance(tx, LEDGER, name).map(ledger::Balance::total),
            |held| Ok(held.total()),
        )?;
    }
    let seq = tx.next_number("settlement")?;
    if !duels::set_finished(tx, &duel.slug, seq, at, &outcome, balances_after)? {
        return Err(Fault::internal(format_args!("duel {} was settled by somebody else", duel.slug)));
    }
    for (seat, payout) in duel.seats.iter().zip(outcome.payouts) {
        let model_key = seat.model_key.as_deref();
        agents::count(tx, &agents::Finished { agent: &seat.agent, model_key, stake: seat.stake, payout })?;
        jobs::enqueue_unless_pending(
            tx,
            ids,
            &jobs::NewJob {
                kind: AUTO_BIO_JOB,
                channel: format!("{AUTO_BIO_JOB}:{}", seat.agent),
                payload: seat.agent.clone(),
            },
        )?;
    }
    duel.finish = Some(Finish {
        seq,
        at,
        settlement: outcome.settlement,
        burn: outcome.burn,
        payouts: outcome.payouts,
        balances_after,
    });
    Ok(())
}

/// Settles one duel if it is due; the deadline worker's command.
pub struct SettleDue {
    pub(crate) slug: String,
    pub(crate) agents: [String; 2],
    pub(crate) seed: [u8; 16],
}

impl Command for SettleDue {
    /// Whether this run settled it.
    type Out = bool;

    fn name(&self) -> &'static str {
        "duels.settle_due"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<bool>, Fault> {
        let party = Party { about: Vec::new(), locked: self.agents.iter().cloned().collect() };
        party.lock(tx)?;
        let Some(mut duel) = duels::by_slug(tx, &self.slug)? else { return Ok(Verdict::Done(false)) };
        if !duel.is_due(tx.now()) {
            return Ok(Verdict::Done(false));
        }
        settle(tx, &kernel::id::DerivedIds::new(self.seed), &mut duel)?;
        Ok(Verdict::Done(true))
    }
}
