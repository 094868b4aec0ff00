//! What must always hold on the exchange; `arena doctor` and tests ask here.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{Fault, tx::Tx};
use store::ledger;

use crate::{
    LEDGER, escrow,
    rules::{money::Money, price::Outcome},
    tables::{fills, markets, orders, positions, traders},
};

/// The audit of the ledger and the ways in which the exchange contradicts it or itself.
pub fn audit(tx: &mut dyn Tx) -> Result<ledger::Audit, Fault> {
    let mut audit = ledger::audit(tx, LEDGER)?;
    let mut found = Vec::new();
    let filled: BTreeMap<String, (i64, i64)> =
        fills::sums(tx)?.into_iter().map(|(market, count, volume)| (market, (count, volume))).collect();
    let held: BTreeMap<(String, &str), i64> = positions::sums(tx)?
        .into_iter()
        .map(|(market, side, count)| ((market, side.as_str()), count))
        .collect();
    for counters in markets::all_counters(tx)? {
        let markets::Counters { ticker, open_interest, volume, fills, is_finalized } = counters;
        if filled.get(&ticker).copied().unwrap_or_default() != (fills, volume) {
            found.push(format!(
                "{ticker} counts {fills} fills of {volume} contracts, and its fills say otherwise"
            ));
        }
        let escrowed = audit.pools.get(&escrow(&ticker)).copied().unwrap_or(0);
        let owed = Money::payout(1).units() * open_interest;
        if escrowed != owed {
            found.push(format!("{ticker} has {escrowed} in escrow and owes {owed}"));
        }
        for side in [Outcome::Yes, Outcome::No] {
            let held = held.get(&(ticker.clone(), side.as_str())).copied().unwrap_or(0);
            let is_right = if is_finalized { held == 0 && open_interest == 0 } else { held == open_interest };
            if !is_right {
                let side = side.as_str();
                found.push(format!(
                    "{ticker} has {open_interest} contracts open and people hold {held} {side}"
                ));
            }
        }
    }
    found.extend(promises(tx)?);
    found.extend(orders::miscounted(tx)?.into_iter().map(|id| format!("order {id} differs from its fills")));
    found.extend(
        positions::miscounted(tx)?
            .into_iter()
            .map(|which| format!("position {which} differs from its trades")),
    );
    audit.violations.extend(found);
    Ok(audit)
}

/// Whether what is promised is what resting orders need.
fn promises(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    let mut found = Vec::new();
    let resting: BTreeMap<String, i64> = orders::held_cents(tx)?.into_iter().collect();
    for (person, held) in traders::all_held(tx)? {
        let needed = resting.get(&person).copied().unwrap_or(0) * (Money::payout(1).units() / 100);
        let cash = ledger::balance(tx, LEDGER, &person)?.available;
        if held.units() != needed {
            found.push(format!(
                "{person} has promised {held}, resting orders say {}",
                Money::from_units(needed)
            ));
        }
        if held.units() > cash {
            found.push(format!("{person} has promised {held} and has {}", Money::from_units(cash)));
        }
    }
    let said: BTreeSet<_> = positions::all_promised(tx)?.into_iter().collect();
    let needed: BTreeSet<_> = orders::promised(tx)?.into_iter().collect();
    for (person, market, side, count) in said.symmetric_difference(&needed) {
        found
            .push(format!("{count} {side} contracts of {person} in {market} are promised by one count only"));
    }
    Ok(found)
}
