//! What runs of many duels need beside the operations. No rule of the game is here, and no door leads here.

use kernel::{Fault, id::Ids, tx::Tx};
use store::ledger::{self, Account, Post};

use crate::{LEDGER, tables::presences};

/// Raises what an agent has available to `points`, out of issuance, if it is below `below` and has nothing
/// at stake; answers whether it was. Players of a run must not run dry.
pub fn fill_up(tx: &mut dyn Tx, ids: &dyn Ids, agent: &str, below: i64, points: i64) -> Result<bool, Fault> {
    tx.lock(&[format!("agent:{agent}")])?;
    let held = ledger::balance(tx, LEDGER, agent)?;
    if held.locked > 0 || held.available >= below.min(points) {
        return Ok(false);
    }
    let refill = Post {
        debit: Account::Issuance,
        credit: Account::Available(agent.to_owned()),
        amount: points - held.available,
        kind: "refill",
    };
    ledger::post(tx, LEDGER, ids, agent, &[refill])?;
    Ok(true)
}

/// Whether an agent has ever entered the arena.
pub fn has_entered(tx: &mut dyn Tx, agent: &str) -> Result<bool, Fault> {
    presences::get(tx, agent).map(|presence| presence.is_some())
}
