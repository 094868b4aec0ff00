//! Says what happened, hears who disputes it, and pays.

use std::collections::BTreeMap;

use kernel::{
    Fault,
    id::Ids,
    tx::{Tx, Verdict},
};
use store::ledger::{self, Account, Post};

use super::{books::Books, session::Session};
use crate::{
    LEDGER, escrow,
    fault::TradeFault,
    rules::{
        life::{self, NotNow},
        money::Money,
        price::Outcome,
    },
    tables::{
        markets::{self, Market},
        positions::{self, Change},
        trades::{self, Ended},
    },
};

/// The trades that one command pays; the next one goes on.
const PAID_MAX: i64 = 500;

/// Changes the life of a market by a rule.
fn step(
    tx: &mut dyn Tx,
    books: &Books,
    ticker: &str,
    rule: impl FnOnce(&mut Market, kernel::Moment) -> Result<(), TradeFault>,
) -> Result<Verdict<()>, Fault> {
    let mut session = match Session::enter(tx, books, ticker)? {
        Ok(session) => session,
        Err(fault) => return Ok(Verdict::Refused(fault.into())),
    };
    let now = tx.now();
    if let Err(fault) = rule(&mut session.market, now) {
        return Ok(Verdict::Refused(fault.into()));
    }
    markets::set_life(tx, ticker, &session.market.life)?;
    Ok(Verdict::Done(()))
}

/// Stops trading for a while, or lets it go on.
pub fn pause(tx: &mut dyn Tx, books: &Books, ticker: &str, is_paused: bool) -> Result<Verdict<()>, Fault> {
    step(tx, books, ticker, |market, now| {
        if market.life.verdict.is_some() || now >= market.life.closes_at {
            return Err(TradeFault::MarketClosed { ticker: market.ticker.clone() });
        }
        market.life.is_paused = is_paused;
        Ok(())
    })
}

/// Says how a closed market ended, or says it anew after a dispute.
pub fn determine(
    tx: &mut dyn Tx,
    books: &Books,
    ticker: &str,
    result: Outcome,
) -> Result<Verdict<()>, Fault> {
    judge(tx, books, ticker, |life, now| life.determine(now, result))
}

/// Disputes what was said.
pub fn dispute(tx: &mut dyn Tx, books: &Books, ticker: &str) -> Result<Verdict<()>, Fault> {
    judge(tx, books, ticker, life::Life::dispute)
}

fn judge(
    tx: &mut dyn Tx,
    books: &Books,
    ticker: &str,
    rule: impl FnOnce(&life::Life, kernel::Moment) -> Result<life::Verdict, NotNow>,
) -> Result<Verdict<()>, Fault> {
    step(tx, books, ticker, |market, now| {
        let verdict = rule(&market.life, now)
            .map_err(|why| TradeFault::NotNow { ticker: market.ticker.clone(), why })?;
        market.life.verdict = Some(verdict);
        Ok(())
    })
}

/// Pays a market whose result stands: $1 for each contract of the side that came true. Answers how many trades
/// were paid and whether that was the last of them; else it is called again.
pub fn finalize(
    tx: &mut dyn Tx,
    books: &Books,
    ids: &dyn Ids,
    ticker: &str,
) -> Result<Verdict<(usize, bool)>, Fault> {
    let mut session = match Session::enter(tx, books, ticker)? {
        Ok(session) => session,
        Err(fault) => return Ok(Verdict::Refused(fault.into())),
    };
    let now = tx.now();
    let verdict = match session.market.life.finalize(now) {
        Ok(verdict) => verdict,
        Err(why) => {
            let ticker = ticker.to_owned();
            return Ok(Verdict::Refused(TradeFault::NotNow { ticker, why }.into()));
        }
    };
    let due = session.due(tx, now)?;
    if !due.is_empty() {
        // What rests has promised some of what is paid, so it ends first.
        session.end_due(tx, ids, &due)?;
        return Ok(Verdict::Done((0, false)));
    }
    let open = trades::open_of_market(tx, ticker, PAID_MAX)?;
    Session::lock(tx, open.iter().map(|trade| trade.person.clone()))?;
    // Nothing rests and nothing trades any more, so what was read before the locks still holds.
    let mut paid: BTreeMap<String, Money> = BTreeMap::new();
    let mut gone: BTreeMap<(String, Outcome), Change> = BTreeMap::new();
    let (mut ended, mut winners) = (Vec::with_capacity(open.len()), 0);
    for trade in &open {
        let wins = trade.side == verdict.result;
        let proceeds = if wins { Money::payout(trade.count) } else { Money::ZERO };
        if wins {
            winners += i64::from(trade.count);
            let held = paid.entry(trade.person.clone()).or_default();
            *held = held.plus(proceeds).ok_or_else(|| Fault::internal("a payout beyond every amount"))?;
        }
        gone.entry((trade.person.clone(), trade.side)).or_default().count -= i64::from(trade.count);
        ended.push(Ended { id: trade.id.clone(), count: trade.count, cost: trade.cost, proceeds });
    }
    trades::end(tx, &ended)?;
    let is_last = i64::try_from(open.len()).map_err(Fault::internal)? < PAID_MAX;
    let seq = session.market.book.seq;
    let posts: Vec<Post> = paid
        .into_iter()
        .map(|(person, amount)| Post {
            debit: Account::Pool(escrow(ticker)),
            credit: Account::Available(person),
            amount: amount.units(),
            kind: "payout",
        })
        .collect();
    if !posts.is_empty() {
        ledger::post(tx, LEDGER, ids, ticker, &posts)?;
    }
    session.market.book.open_interest -= winners;
    if is_last {
        session.market.life.verdict = Some(verdict);
        markets::set_life(tx, ticker, &session.market.life)?;
        markets::set_finalized(tx, ticker)?;
    }
    positions::change(tx, ticker, gone.iter())?;
    session.finish(tx, ids, seq)?;
    Ok(Verdict::Done((ended.len(), is_last)))
}
