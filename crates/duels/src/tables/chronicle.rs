//! The chronicle: settled duels by the number that the chronicler gave them.

use kernel::{
    Fault,
    tx::{Row, Tx, Val},
};

kernel::statements! {
    WAITING = "SELECT slug, a, b, a_model, b_model, a_stake, b_stake, a_payout, b_payout FROM duel WHERE state = 'FINISHED' AND chronicle IS NULL ORDER BY settle_seq LIMIT $1";
    ANY_WAITING = "SELECT 1 FROM duel WHERE state = 'FINISHED' AND chronicle IS NULL LIMIT 1";
    COUNT_ALL = "SELECT COUNT(*) FROM duel WHERE chronicle IS NOT NULL";
    LAST = "SELECT MAX(chronicle) FROM duel WHERE chronicle IS NOT NULL";
    NUMBER = "UPDATE duel SET chronicle = $2 WHERE slug = $1";
    AFTER = "SELECT slug, a, b, a_model, b_model, a_stake, b_stake, a_payout, b_payout FROM duel WHERE chronicle > $1 AND chronicle <= $2 ORDER BY chronicle";
}

/// What a settled duel says about who plays better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) slug: String,
    pub(crate) agents: [String; 2],
    pub(crate) models: [Option<String>; 2],
    pub(crate) stakes: [i64; 2],
    pub(crate) payouts: [i64; 2],
}

fn entry(row: &Row) -> Result<Entry, Fault> {
    Ok(Entry {
        slug: row.text(0)?,
        agents: [row.text(1)?, row.text(2)?],
        models: [row.opt_text(3)?, row.opt_text(4)?],
        stakes: [row.i64(5)?, row.i64(6)?],
        payouts: [row.i64(7)?, row.i64(8)?],
    })
}

/// Settled duels without a number, in the order of settlement.
pub(crate) fn waiting(tx: &mut dyn Tx, limit: i64) -> Result<Vec<Entry>, Fault> {
    tx.rows(&WAITING, &[limit.into()])?.iter().map(entry).collect()
}

pub(crate) fn any_waiting(tx: &mut dyn Tx) -> Result<bool, Fault> {
    Ok(tx.row(&ANY_WAITING, &[])?.is_some())
}

/// The last number given; 0 before the first.
pub(crate) fn last(tx: &mut dyn Tx) -> Result<i64, Fault> {
    tx.row(&LAST, &[])?.map_or(Ok(0), |row| Ok(row.opt_i64(0)?.unwrap_or(0)))
}

/// How many duels have a number.
pub(crate) fn count(tx: &mut dyn Tx) -> Result<i64, Fault> {
    tx.row(&COUNT_ALL, &[])?.map_or(Ok(0), |row| row.i64(0))
}

/// Gives the duels the numbers after `last`, in their order.
pub(crate) fn number(tx: &mut dyn Tx, entries: &[Entry], last: i64) -> Result<(), Fault> {
    let args: Vec<Vec<Val>> =
        (last + 1..).zip(entries).map(|(number, entry)| vec![(&entry.slug).into(), number.into()]).collect();
    tx.exec_many(&NUMBER, &args)
}

/// The duels with numbers above `after`, up to `through`.
pub(crate) fn between(tx: &mut dyn Tx, after: i64, through: i64) -> Result<Vec<Entry>, Fault> {
    tx.rows(&AFTER, &[after.into(), through.into()])?.iter().map(entry).collect()
}
