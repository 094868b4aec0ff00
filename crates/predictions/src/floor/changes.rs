//! What a command changes, gathered first and written at its end with one statement of a kind.

use std::collections::{BTreeMap, btree_map::Entry};

use kernel::{Fault, id::Ids, tx::Tx};
use store::ledger::{self, Account, Post};

use super::books::Open;
use crate::{
    LEDGER, escrow,
    rules::{
        money::Money,
        order::held,
        price::{Action, Cents, Outcome, Side, on_yes_scale},
    },
    tables::{
        fills::{self, NewFill},
        markets::BookState,
        orders::{self, Filled, Reason, State},
        positions::{self, Change},
        traders,
        trades::{self, Bought, Ended},
    },
};

/// The open trades that one sale may end. More than one order sells more often.
const ENDED_TRADES_MAX: i64 = 1000;

/// Contracts of a person that are sold, at one price.
struct Sale {
    person: String,
    side: Outcome,
    trade: Option<String>,
    count: u32,
    price: Cents,
}

#[derive(Default)]
pub(super) struct Changes {
    filled: BTreeMap<u64, Filled>,
    canceled: Vec<(i64, Reason)>,
    holds: BTreeMap<String, Money>,
    positions: BTreeMap<(String, Outcome), Change>,
    bought: BTreeMap<String, Bought>,
    sales: Vec<Sale>,
    fills: Vec<NewFill>,
    /// Cash that people pay into the escrow, and what they get out of it.
    paid: BTreeMap<String, Money>,
    received: BTreeMap<String, Money>,
}

/// One side of a fill.
pub(super) struct Part<'a> {
    pub(super) order: &'a Open,
    pub(super) seq: u64,
    pub(super) count: u32,
    /// What is left of the order afterwards.
    pub(super) left: u32,
    /// Whether it was resting, and so had promised something.
    pub(super) rested: bool,
}

impl Changes {
    /// An order rests with so many contracts, or, with `is_over`, does no more.
    pub(super) fn promise(&mut self, order: &Open, count: u32, is_over: bool) -> Result<(), Fault> {
        let sign = if is_over { -1 } else { 1 };
        match order.action {
            Action::Buy => {
                let units = held(order.action, count, order.limit).units() * sign;
                add(&mut self.holds, &order.person, Money::from_units(units))
            }
            Action::Sell => {
                self.position(&order.person, order.side).promised += i64::from(count) * sign;
                Ok(())
            }
        }
    }

    pub(super) fn cancel(&mut self, order: &Open, seq: u64, left: u32, reason: Reason) -> Result<(), Fault> {
        self.canceled.push((i64::try_from(seq).map_err(Fault::internal)?, reason));
        self.promise(order, left, true)
    }

    /// One of the two sides of a fill: what it pays or gets, and what it holds afterwards.
    pub(super) fn part(&mut self, part: &Part<'_>, yes_price: Cents) -> Result<Money, Fault> {
        let Part { order, seq, count, left, rested } = *part;
        let price = on_yes_scale(order.side, yes_price);
        let money = Money::of(count, price);
        if rested {
            self.promise(order, count, true)?;
            let state = if left == 0 { State::Executed } else { State::Resting };
            let number = i64::try_from(seq).map_err(Fault::internal)?;
            let filled =
                self.filled.entry(seq).or_insert(Filled { seq: number, count: 0, money: Money::ZERO, state });
            filled.count += count;
            filled.money = sum(filled.money, money)?;
            filled.state = state;
        }
        match order.action {
            Action::Buy => {
                add(&mut self.paid, &order.person, money)?;
                self.position(&order.person, order.side).count += i64::from(count);
                self.buy(order, count, money)?;
            }
            Action::Sell => {
                add(&mut self.received, &order.person, money)?;
                self.position(&order.person, order.side).count -= i64::from(count);
                self.sales.push(Sale {
                    person: order.person.clone(),
                    side: order.side,
                    trade: order.trade.clone(),
                    count,
                    price,
                });
            }
        }
        Ok(money)
    }

    fn buy(&mut self, order: &Open, count: u32, paid: Money) -> Result<(), Fault> {
        let id = order.trade.clone().ok_or_else(|| Fault::internal("a buy names the trade that it opens"))?;
        match self.bought.entry(id.clone()) {
            Entry::Occupied(mut held) => {
                let bought = held.get_mut();
                bought.count += count;
                bought.paid = sum(bought.paid, paid)?;
            }
            Entry::Vacant(place) => {
                let Open { person, side, client, .. } = order.clone();
                place.insert(Bought { id, person, side, count, paid, client });
            }
        }
        Ok(())
    }

    pub(super) fn fill(
        &mut self,
        taker: &Open,
        maker: &Open,
        side: Side,
        price: Cents,
        count: u32,
        nth: i64,
    ) {
        self.fills.push(NewFill {
            nth,
            taker_order: taker.id.clone(),
            maker_order: maker.id.clone(),
            taker_side: side,
            price,
            count,
        });
    }

    pub(super) const fn fills(&self) -> usize {
        self.fills.len()
    }

    fn position(&mut self, person: &str, side: Outcome) -> &mut Change {
        self.positions.entry((person.to_owned(), side)).or_default()
    }

    /// Writes everything. The market's row is the caller's.
    pub(super) fn write(&self, tx: &mut dyn Tx, ids: &dyn Ids, ticker: &str) -> Result<(), Fault> {
        let filled: Vec<Filled> = self.filled.values().cloned().collect();
        orders::fill(tx, ticker, &filled)?;
        orders::cancel(tx, ticker, &self.canceled)?;
        let bought: Vec<Bought> = self.bought.values().cloned().collect();
        trades::buy(tx, ticker, &bought)?;
        for sale in &self.sales {
            let ended = sale.end(tx, ticker)?;
            trades::end(tx, &ended)?;
        }
        positions::change(tx, ticker, self.positions.iter())?;
        traders::hold(tx, self.holds.iter())?;
        let post = |debit, credit, amount: &Money, kind| Post { debit, credit, amount: amount.units(), kind };
        let pool = || Account::Pool(escrow(ticker));
        let mut posts: Vec<Post> = Vec::with_capacity(self.paid.len() + self.received.len());
        for (person, amount) in &self.paid {
            posts.push(post(Account::Available(person.clone()), pool(), amount, "buy"));
        }
        for (person, amount) in &self.received {
            posts.push(post(pool(), Account::Available(person.clone()), amount, "sell"));
        }
        if !posts.is_empty() {
            ledger::post(tx, LEDGER, ids, ticker, &posts)?;
        }
        fills::add(tx, ticker, &self.fills)
    }

    /// What the fills did to the counters of the market.
    pub(super) fn count(&self, state: &mut BookState, opened: i64) {
        for fill in &self.fills {
            state.last_price = Some(fill.price);
            state.volume += i64::from(fill.count);
            state.fills += 1;
        }
        state.open_interest += opened;
    }
}

impl Sale {
    /// Ends the named trade first, then the oldest.
    fn end(&self, tx: &mut dyn Tx, ticker: &str) -> Result<Vec<Ended>, Fault> {
        let open =
            trades::open(tx, ticker, &self.person, self.side, self.trade.as_deref(), ENDED_TRADES_MAX)?;
        let (mut ended, mut left) = (Vec::new(), self.count);
        for trade in open {
            if left == 0 {
                break;
            }
            let count = left.min(trade.count);
            left -= count;
            ended.push(Ended {
                cost: trade.cost_of(count)?,
                id: trade.id,
                count,
                proceeds: Money::of(count, self.price),
            });
        }
        if left > 0 {
            return Err(Fault::internal(format_args!(
                "{} sold {left} contracts more than its {} newest-ended trades hold",
                self.person,
                ended.len()
            )));
        }
        Ok(ended)
    }
}

fn add(amounts: &mut BTreeMap<String, Money>, person: &str, amount: Money) -> Result<(), Fault> {
    match amounts.get_mut(person) {
        Some(held) => *held = sum(*held, amount)?,
        None => {
            amounts.insert(person.to_owned(), amount);
        }
    }
    Ok(())
}

fn sum(one: Money, other: Money) -> Result<Money, Fault> {
    one.plus(other).ok_or_else(|| Fault::internal("an amount is beyond every amount"))
}
