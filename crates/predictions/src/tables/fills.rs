//! Fills: which order took which, numbered from 1 within their market.

use kernel::{Fault, tx::Tx};

use crate::rules::price::{Cents, Side};

kernel::statements! {
    ADD = "INSERT INTO fill (market, nth, taker_order, maker_order, taker_side, price, count, filled_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    SUMS = "SELECT market, COUNT(*), CAST(SUM(count) AS BIGINT) FROM fill GROUP BY market";
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewFill {
    pub(crate) nth: i64,
    pub(crate) taker_order: String,
    pub(crate) maker_order: String,
    pub(crate) taker_side: Side,
    /// On the scale of YES.
    pub(crate) price: Cents,
    pub(crate) count: u32,
}

pub(crate) fn add(tx: &mut dyn Tx, market: &str, fills: &[NewFill]) -> Result<(), Fault> {
    let now = tx.now();
    let rows: Vec<_> = fills
        .iter()
        .map(|fill| {
            vec![
                market.into(),
                fill.nth.into(),
                (&fill.taker_order).into(),
                (&fill.maker_order).into(),
                fill.taker_side.as_str().into(),
                i64::from(fill.price.get()).into(),
                i64::from(fill.count).into(),
                now.into(),
            ]
        })
        .collect();
    tx.exec_many(&ADD, &rows)
}

/// How many fills a market has and for how many contracts, for the audit.
pub(crate) fn sums(tx: &mut dyn Tx) -> Result<Vec<(String, i64, i64)>, Fault> {
    tx.rows(&SUMS, &[])?.iter().map(|row| Ok((row.text(0)?, row.i64(1)?, row.i64(2)?))).collect()
}
