//! How many contracts of a side a person holds, and how many of them resting offers have promised.

use kernel::{Fault, tx::Tx};

use super::markets::{count, side};
use crate::rules::price::Outcome;

kernel::statements! {
    FIND = "SELECT count, promised FROM position WHERE person = $1 AND market = $2 AND side = $3";
    ADD = "INSERT INTO position (person, market, side, count, promised) VALUES ($1, $2, $3, $4, 0) ON CONFLICT (person, market, side) DO UPDATE SET count = position.count + excluded.count";
    CHANGE = "UPDATE position SET count = count + $4, promised = promised + $5 WHERE person = $1 AND market = $2 AND side = $3";
    SUMS = "SELECT market, side, CAST(SUM(count) AS BIGINT) FROM position GROUP BY market, side";
    ALL_PROMISED = "SELECT person, market, side, promised FROM position WHERE promised > 0";
    MISCOUNTED = "SELECT p.person, p.market, p.side FROM position p LEFT JOIN (SELECT person, market, side, SUM(open_count) AS open_count FROM trade GROUP BY person, market, side) t ON t.person = p.person AND t.market = p.market AND t.side = p.side WHERE p.count <> COALESCE(t.open_count, 0) LIMIT 10";
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) count: u32,
    pub(crate) promised: u32,
}

/// A change of a position.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) count: i64,
    pub(crate) promised: i64,
}

pub(crate) fn find(tx: &mut dyn Tx, person: &str, market: &str, side: Outcome) -> Result<Position, Fault> {
    let row = tx.row(&FIND, &[person.into(), market.into(), side.as_str().into()])?;
    row.map_or(Ok(Position::default()), |row| {
        Ok(Position { count: count(row.i64(0)?)?, promised: count(row.i64(1)?)? })
    })
}

pub(crate) fn change<'a>(
    tx: &mut dyn Tx,
    market: &str,
    changes: impl Iterator<Item = (&'a (String, Outcome), &'a Change)>,
) -> Result<(), Fault> {
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    for ((person, side), change) in changes {
        let key = || vec![person.into(), market.into(), side.as_str().into()];
        let mut left = *change;
        if change.count > 0 {
            added.push([key(), vec![change.count.into()]].concat());
            left.count = 0;
        }
        if left != Change::default() {
            changed.push([key(), vec![left.count.into(), left.promised.into()]].concat());
        }
    }
    tx.exec_many(&ADD, &added)?;
    tx.exec_many(&CHANGE, &changed)
}

/// All contracts of each side of each market, for the audit.
pub(crate) fn sums(tx: &mut dyn Tx) -> Result<Vec<(String, Outcome, i64)>, Fault> {
    tx.rows(&SUMS, &[])?.iter().map(|row| Ok((row.text(0)?, side(&row.text(1)?)?, row.i64(2)?))).collect()
}

/// What is promised by person, market and side, for the audit.
pub(crate) fn all_promised(tx: &mut dyn Tx) -> Result<Vec<(String, String, String, i64)>, Fault> {
    tx.rows(&ALL_PROMISED, &[])?
        .iter()
        .map(|row| Ok((row.text(0)?, row.text(1)?, row.text(2)?, row.i64(3)?)))
        .collect()
}

/// Positions that say another count than their trades, for the audit.
pub(crate) fn miscounted(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    tx.rows(&MISCOUNTED, &[])?
        .iter()
        .map(|row| Ok(format!("{} of {} in {}", row.text(2)?, row.text(0)?, row.text(1)?)))
        .collect()
}
