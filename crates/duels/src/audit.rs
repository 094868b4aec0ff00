//! What must always hold between duels and their ledger; `arena doctor` and tests ask here.

use std::collections::BTreeMap;

use kernel::{Fault, tx::Tx};
use store::ledger;

use crate::{
    LEDGER, chronicle,
    tables::{agents, duels},
};

/// The ledger's audit and the ways in which duels contradict it or themselves.
pub fn audit(tx: &mut dyn Tx) -> Result<ledger::Audit, Fault> {
    let mut audit = ledger::audit(tx, LEDGER)?;
    let mut staked: BTreeMap<String, i64> = BTreeMap::new();
    for (agent, stake) in duels::stakes_by_agent(tx)? {
        *staked.entry(agent).or_default() += stake;
    }
    let at_stake: i64 = staked.values().sum();
    if at_stake != audit.locked {
        audit.violations.push(format!("{} points are locked, active stakes say {at_stake}", audit.locked));
    }
    for (agent, stake) in staked {
        let locked = ledger::balance(tx, LEDGER, &agent)?.locked;
        if locked != stake {
            let name = agents::by_id(tx, &agent)?.map_or(agent, |agent| agent.nickname);
            audit.violations.push(format!("{name} has {locked} locked, active stakes say {stake}"));
        }
    }
    for slug in duels::unbalanced(tx)? {
        audit.violations.push(format!("duel {slug} does not pay out and burn its gross pot"));
    }
    for nickname in duels::miscounted(tx)? {
        audit.violations.push(format!("{nickname} has a counter that differs from its finished duels"));
    }
    for model in agents::miscounted_models(tx)? {
        audit.violations.push(format!("the counters of model {model} differ from its finished duels"));
    }
    audit.violations.extend(chronicle::gaps(tx)?);
    let (_, burned) = duels::totals(tx)?;
    if burned != audit.burned {
        audit.violations.push(format!("the ledger burned {}, the duels say {burned}", audit.burned));
    }
    Ok(audit)
}

/// How many duels are past their deadline by more than `late_ms` of Arena time and not settled.
pub fn overdue(tx: &mut dyn Tx, late_ms: i64) -> Result<i64, Fault> {
    let before = tx.now().plus_ms(-late_ms);
    duels::count_overdue(tx, before)
}

/// How many duels have been settled.
pub fn settled(tx: &mut dyn Tx) -> Result<i64, Fault> {
    duels::totals(tx).map(|(count, _)| count)
}
