//! Trades: what one order bought, and how much of it is still open. The oldest are ended first.

use kernel::{
    Fault,
    tx::{Row, Tx},
};

use super::markets::{count, side};
use crate::rules::{money::Money, price::Outcome};

kernel::statements! {
    ADD = "INSERT INTO trade (id, person, market, side, count, open_count, paid, cost, proceeds, client, opened_ms) VALUES ($1, $2, $3, $4, $5, $5, $6, $6, 0, $7, $8) ON CONFLICT (id) DO UPDATE SET count = trade.count + excluded.count, open_count = trade.open_count + excluded.count, paid = trade.paid + excluded.paid, cost = trade.cost + excluded.paid, closed_ms = NULL";
    OPEN = "SELECT id, person, side, open_count, cost FROM trade WHERE market = $1 AND person = $2 AND side = $3 AND open_count > 0 ORDER BY CASE WHEN id = $4 THEN 0 ELSE 1 END, opened_ms, id LIMIT $5";
    OPEN_OF_MARKET = "SELECT id, person, side, open_count, cost FROM trade WHERE market = $1 AND open_count > 0 ORDER BY person, side, opened_ms, id LIMIT $2";
    END = "UPDATE trade SET open_count = open_count - $2, cost = cost - $3, proceeds = proceeds + $4, closed_ms = CASE WHEN open_count = $2 THEN CAST($5 AS BIGINT) END WHERE id = $1";
}

/// More of a trade was bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bought {
    pub(crate) id: String,
    pub(crate) person: String,
    pub(crate) side: Outcome,
    pub(crate) count: u32,
    pub(crate) paid: Money,
    pub(crate) client: Option<String>,
}

/// The open part of a trade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenTrade {
    pub(crate) id: String,
    pub(crate) person: String,
    pub(crate) side: Outcome,
    pub(crate) count: u32,
    pub(crate) cost: Money,
}

impl OpenTrade {
    /// What `count` of its contracts had cost: their share, and the last ones whatever is left.
    pub(crate) fn cost_of(&self, count: u32) -> Result<Money, Fault> {
        if count == self.count {
            return Ok(self.cost);
        }
        let share = i128::from(self.cost.units()) * i128::from(count) / i128::from(self.count);
        i64::try_from(share).map(Money::from_units).map_err(Fault::internal)
    }
}

/// Some contracts of a trade end, and bring so much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) id: String,
    pub(crate) count: u32,
    /// What they had cost.
    pub(crate) cost: Money,
    pub(crate) proceeds: Money,
}

pub(crate) fn buy(tx: &mut dyn Tx, market: &str, bought: &[Bought]) -> Result<(), Fault> {
    let now = tx.now();
    let rows: Vec<_> = bought
        .iter()
        .map(|one| {
            vec![
                (&one.id).into(),
                (&one.person).into(),
                market.into(),
                one.side.as_str().into(),
                i64::from(one.count).into(),
                one.paid.units().into(),
                one.client.clone().into(),
                now.into(),
            ]
        })
        .collect();
    tx.exec_many(&ADD, &rows)
}

/// A person's open trades of a side, a named one first, then the oldest.
pub(crate) fn open(
    tx: &mut dyn Tx,
    market: &str,
    person: &str,
    side: Outcome,
    first: Option<&str>,
    limit: i64,
) -> Result<Vec<OpenTrade>, Fault> {
    let args = [market.into(), person.into(), side.as_str().into(), first.unwrap_or("").into(), limit.into()];
    tx.rows(&OPEN, &args)?.iter().map(read).collect()
}

pub(crate) fn open_of_market(tx: &mut dyn Tx, market: &str, limit: i64) -> Result<Vec<OpenTrade>, Fault> {
    tx.rows(&OPEN_OF_MARKET, &[market.into(), limit.into()])?.iter().map(read).collect()
}

pub(crate) fn end(tx: &mut dyn Tx, ended: &[Ended]) -> Result<(), Fault> {
    let now = tx.now();
    let rows: Vec<_> = ended
        .iter()
        .map(|one| {
            vec![
                (&one.id).into(),
                i64::from(one.count).into(),
                one.cost.units().into(),
                one.proceeds.units().into(),
                now.into(),
            ]
        })
        .collect();
    tx.exec_many(&END, &rows)
}

fn read(row: &Row) -> Result<OpenTrade, Fault> {
    Ok(OpenTrade {
        id: row.text(0)?,
        person: row.text(1)?,
        side: side(&row.text(2)?)?,
        count: count(row.i64(3)?)?,
        cost: Money::from_units(row.i64(4)?),
    })
}
