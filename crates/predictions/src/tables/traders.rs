//! Who has an account on the exchange, and how much cash resting orders have promised.

use kernel::{Fault, tx::Tx};

use crate::rules::money::Money;

kernel::statements! {
    ADD = "INSERT INTO trader (person, id, held, opened_ms) VALUES ($1, $2, 0, $3)";
    HELD = "SELECT held FROM trader WHERE person = $1";
    HOLD = "UPDATE trader SET held = held + $2 WHERE person = $1";
    ALL_HELD = "SELECT person, held FROM trader ORDER BY person";
}

/// Opens an account. `id` is what the public knows it by, a UUID.
pub(crate) fn add(tx: &mut dyn Tx, person: &str, id: &str) -> Result<(), Fault> {
    let now = tx.now();
    tx.exec(&ADD, &[person.into(), id.into(), now.into()]).map(|_| ())
}

pub(crate) fn held(tx: &mut dyn Tx, person: &str) -> Result<Money, Fault> {
    let row = tx
        .row(&HELD, &[person.into()])?
        .ok_or_else(|| Fault::internal(format_args!("{person} has no account on the exchange")))?;
    row.i64(0).map(Money::from_units)
}

/// Promises more of a person's cash, or less by a negative change.
pub(crate) fn hold<'a>(
    tx: &mut dyn Tx,
    changes: impl Iterator<Item = (&'a String, &'a Money)>,
) -> Result<(), Fault> {
    let rows: Vec<_> = changes
        .filter(|(_, change)| **change != Money::ZERO)
        .map(|(person, change)| vec![person.into(), change.units().into()])
        .collect();
    tx.exec_many(&HOLD, &rows)
}

/// What everybody's resting orders have promised, for the audit.
pub(crate) fn all_held(tx: &mut dyn Tx) -> Result<Vec<(String, Money)>, Fault> {
    tx.rows(&ALL_HELD, &[])?.iter().map(|row| Ok((row.text(0)?, Money::from_units(row.i64(1)?)))).collect()
}
