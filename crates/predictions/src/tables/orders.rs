//! Orders, as they were placed and as far as they were filled.

use kernel::{
    Fault, Moment,
    tx::{Row, Tx},
};

use super::markets::{count, known, price, side};
use crate::rules::{
    money::Money,
    price::{Action, Cents, Outcome},
};

kernel::statements! {
    ADD = "INSERT INTO trade_order (id, market, seq, person, trade, action, side, kind, limit_price, count, filled, money, waits, state, reason, expires_ms, client, created_ms, updated_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, NULL, $15, $16, $17, $17)";
    FIND = "SELECT id, market, seq, person, trade, action, side, kind, limit_price, count, filled, money, waits, state, reason, expires_ms, client, created_ms, updated_ms FROM trade_order WHERE id = $1";
    RESTING = "SELECT id, market, seq, person, trade, action, side, kind, limit_price, count, filled, money, waits, state, reason, expires_ms, client, created_ms, updated_ms FROM trade_order WHERE market = $1 AND state = 'resting' ORDER BY seq";
    FILL = "UPDATE trade_order SET filled = filled + $3, money = money + $4, state = $5, updated_ms = $6 WHERE market = $1 AND seq = $2";
    CANCEL = "UPDATE trade_order SET state = 'canceled', reason = $3, updated_ms = $4 WHERE market = $1 AND seq = $2";
    DUE = "SELECT MIN(expires_ms) FROM trade_order WHERE market = $1 AND state = 'resting'";
    HELD = "SELECT person, CAST(SUM(limit_price * (count - filled)) AS BIGINT) FROM trade_order WHERE state = 'resting' AND action = 'buy' GROUP BY person";
    PROMISED = "SELECT person, market, side, CAST(SUM(count - filled) AS BIGINT) FROM trade_order WHERE state = 'resting' AND action = 'sell' GROUP BY person, market, side";
    MISCOUNTED = "SELECT o.id FROM trade_order o LEFT JOIN (SELECT id, SUM(count) AS filled FROM (SELECT taker_order AS id, count FROM fill UNION ALL SELECT maker_order AS id, count FROM fill) f GROUP BY id) s ON s.id = o.id WHERE o.filled <> COALESCE(s.filled, 0) OR (o.state = 'executed') <> (o.filled = o.count) ORDER BY o.id LIMIT 10";
}

/// What became of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Resting,
    Executed,
    Canceled,
}

impl State {
    const ALL: [Self; 3] = [Self::Resting, Self::Executed, Self::Canceled];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resting => "resting",
            Self::Executed => "executed",
            Self::Canceled => "canceled",
        }
    }
}

/// Why an order was canceled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// By whoever placed it.
    Canceled,
    Expired,
    /// Its market closed.
    Closed,
}

impl Reason {
    const ALL: [Self; 3] = [Self::Canceled, Self::Expired, Self::Closed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Canceled => "canceled",
            Self::Expired => "expired",
            Self::Closed => "market_closed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub id: String,
    pub market: String,
    /// Its number in its market.
    pub seq: i64,
    pub person: String,
    /// The trade that it opens, or that it was asked to close.
    pub trade: Option<String>,
    pub action: Action,
    pub side: Outcome,
    pub is_market: bool,
    /// On the scale of its side.
    pub limit: Cents,
    pub count: u32,
    pub filled: u32,
    /// What it cost or brought so far.
    pub money: Money,
    /// Whether it lies across the other side and takes when it can be filled whole.
    pub waits: bool,
    pub state: State,
    pub reason: Option<Reason>,
    pub expires_at: Option<Moment>,
    /// What sent it, in its own words: `cli/0.3.0`.
    pub client: Option<String>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

impl Order {
    pub const fn remaining(&self) -> u32 {
        self.count - self.filled
    }
}

pub(crate) fn add(tx: &mut dyn Tx, order: &Order) -> Result<(), Fault> {
    let args = [
        (&order.id).into(),
        (&order.market).into(),
        order.seq.into(),
        (&order.person).into(),
        order.trade.clone().into(),
        order.action.as_str().into(),
        order.side.as_str().into(),
        if order.is_market { "market" } else { "limit" }.into(),
        i64::from(order.limit.get()).into(),
        i64::from(order.count).into(),
        i64::from(order.filled).into(),
        order.money.units().into(),
        i64::from(order.waits).into(),
        order.state.as_str().into(),
        order.expires_at.into(),
        order.client.clone().into(),
        order.created_at.into(),
    ];
    tx.exec(&ADD, &args).map(|_| ())
}

pub(crate) fn find(tx: &mut dyn Tx, id: &str) -> Result<Option<Order>, Fault> {
    tx.row(&FIND, &[id.into()])?.map(|row| read(&row)).transpose()
}

/// The open orders of a market by their number.
pub(crate) fn resting(tx: &mut dyn Tx, market: &str) -> Result<Vec<Order>, Fault> {
    tx.rows(&RESTING, &[market.into()])?.iter().map(read).collect()
}

/// More of an order was filled, for so much.
#[derive(Debug, Clone)]
pub(crate) struct Filled {
    pub(crate) seq: i64,
    pub(crate) count: u32,
    pub(crate) money: Money,
    pub(crate) state: State,
}

pub(crate) fn fill(tx: &mut dyn Tx, market: &str, filled: &[Filled]) -> Result<(), Fault> {
    let now = tx.now();
    let rows: Vec<_> = filled
        .iter()
        .map(|one| {
            vec![
                market.into(),
                one.seq.into(),
                i64::from(one.count).into(),
                one.money.units().into(),
                one.state.as_str().into(),
                now.into(),
            ]
        })
        .collect();
    tx.exec_many(&FILL, &rows)
}

pub(crate) fn cancel(tx: &mut dyn Tx, market: &str, canceled: &[(i64, Reason)]) -> Result<(), Fault> {
    let now = tx.now();
    let rows: Vec<_> = canceled
        .iter()
        .map(|(seq, reason)| vec![market.into(), (*seq).into(), reason.as_str().into(), now.into()])
        .collect();
    tx.exec_many(&CANCEL, &rows)
}

/// When the first of the resting orders expires.
pub(crate) fn due(tx: &mut dyn Tx, market: &str) -> Result<Option<Moment>, Fault> {
    tx.row(&DUE, &[market.into()])?.map_or(Ok(None), |row| row.opt_moment(0))
}

/// What resting buys promise by person, in cents, for the audit.
pub(crate) fn held_cents(tx: &mut dyn Tx) -> Result<Vec<(String, i64)>, Fault> {
    tx.rows(&HELD, &[])?.iter().map(|row| Ok((row.text(0)?, row.i64(1)?))).collect()
}

/// What resting sells promise by person, market and side, for the audit.
pub(crate) fn promised(tx: &mut dyn Tx) -> Result<Vec<(String, String, String, i64)>, Fault> {
    tx.rows(&PROMISED, &[])?
        .iter()
        .map(|row| Ok((row.text(0)?, row.text(1)?, row.text(2)?, row.i64(3)?)))
        .collect()
}

/// Orders that say another count than their fills, for the audit.
pub(crate) fn miscounted(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    tx.rows(&MISCOUNTED, &[])?.iter().map(|row| row.text(0)).collect()
}

fn read(row: &Row) -> Result<Order, Fault> {
    let action = row.text(5)?;
    Ok(Order {
        id: row.text(0)?,
        market: row.text(1)?,
        seq: row.i64(2)?,
        person: row.text(3)?,
        trade: row.opt_text(4)?,
        action: Action::parse(&action)
            .ok_or_else(|| Fault::internal(format_args!("no action is called {action}")))?,
        side: side(&row.text(6)?)?,
        is_market: row.text(7)? == "market",
        limit: price(row.i64(8)?)?,
        count: count(row.i64(9)?)?,
        filled: count(row.i64(10)?)?,
        money: Money::from_units(row.i64(11)?),
        waits: row.i64(12)? != 0,
        state: known(&State::ALL, &row.text(13)?, State::as_str)?,
        reason: row.opt_text(14)?.map(|text| known(&Reason::ALL, &text, Reason::as_str)).transpose()?,
        expires_at: row.opt_moment(15)?,
        client: row.opt_text(16)?,
        created_at: row.moment(17)?,
        updated_at: row.moment(18)?,
    })
}
