//! Places an order: it fills whole, rests whole, or is refused and nothing changes.

use std::sync::PoisonError;

use kernel::{
    Fault,
    id::Ids,
    tx::{Tx, Verdict},
};
use store::ledger;

use super::{
    books::{Books, Open, owner},
    session::Session,
};
use crate::{
    LEDGER,
    fault::TradeFault,
    rules::{
        book::{Book, Fill, Incoming, Owner, Placed, Refusal},
        life::Phase,
        money::Money,
        order::{Kind, Terms, TimeInForce, held},
        price::{Action, Cents, Outcome, Side, on_yes_scale},
    },
    tables::{
        markets::Market,
        orders::{self, Order, State},
        positions, traders,
    },
};

/// An order that somebody sends.
#[derive(Debug, Clone)]
pub struct NewOrder {
    /// A UUID, drawn before.
    pub id: String,
    pub person: String,
    pub ticker: String,
    pub terms: Terms,
    /// The trade that a buy opens, drawn before, or the one that a sale shall end first.
    pub trade: Option<String>,
    pub client: Option<String>,
}

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub order: Order,
    /// What the market stands at now: the best bid and ask for YES.
    pub best_bid: Option<Cents>,
    pub best_ask: Option<Cents>,
}

/// The terms must have been checked.
pub fn place(
    tx: &mut dyn Tx,
    books: &Books,
    ids: &dyn Ids,
    new: &NewOrder,
) -> Result<Verdict<Receipt>, Fault> {
    let mut session = match Session::enter(tx, books, &new.ticker)? {
        Ok(session) => session,
        Err(fault) => return Ok(Verdict::Refused(fault.into())),
    };
    let now = tx.now();
    let due = session.due(tx, now)?;
    let incoming = incoming(&session, new)?;
    session.lock_touched(tx, new, &incoming, &due)?;
    session.end(&due)?;
    let refusal = match refused_by_life(&session.market, tx.now()) {
        None => refused_by_means(tx, &session, new, &incoming)?,
        refusal => refusal,
    };
    match refusal.map_or_else(|| submit(&session, new, &incoming), Err) {
        Ok((placed, fills)) => write(tx, ids, session, new, &incoming, placed, &fills).map(Verdict::Done),
        Err(refusal) => {
            if due.is_empty() {
                // Nothing changed, so the book is still that of the market's row.
                session.kept().name(&session.market.book);
            } else {
                let seq = session.market.book.seq;
                session.finish(tx, ids, seq)?;
            }
            Ok(Verdict::Refused(refusal.into()))
        }
    }
}

/// The order as the book takes it.
fn incoming(session: &Session<'_>, new: &NewOrder) -> Result<Incoming, Fault> {
    Ok(Incoming {
        seq: u64::try_from(session.market.book.seq + 1).map_err(Fault::internal)?,
        owner: owner(&new.person)?,
        side: new.terms.book_side(),
        limit: new.terms.book_limit(),
        count: new.terms.count,
        rests: new.terms.tif == TimeInForce::Gtc,
        post_only: new.terms.post_only,
    })
}

/// Changes the book, which is of no state from here on.
fn submit(
    session: &Session<'_>,
    new: &NewOrder,
    incoming: &Incoming,
) -> Result<(Placed, Vec<Fill>), TradeFault> {
    let (mut fills, mut kept) = (Vec::new(), session.kept());
    kept.unname();
    let placed = kept.book.submit(incoming, &mut fills);
    placed.map(|placed| (placed, fills)).map_err(|refusal| worded(refusal, &kept.book, new))
}

/// Writes an order that was placed, and what it and others took.
fn write(
    tx: &mut dyn Tx,
    ids: &dyn Ids,
    mut session: Session<'_>,
    new: &NewOrder,
    incoming: &Incoming,
    placed: Placed,
    fills: &[Fill],
) -> Result<Receipt, Fault> {
    let (seq, now) = (session.market.book.seq + 1, tx.now());
    let mut order = Order {
        id: new.id.clone(),
        market: new.ticker.clone(),
        seq,
        person: new.person.clone(),
        trade: new.trade.clone(),
        action: new.terms.action,
        side: new.terms.side,
        is_market: new.terms.kind == Kind::Market,
        limit: new.terms.own_limit(),
        count: new.terms.count,
        filled: 0,
        money: Money::ZERO,
        waits: placed == Placed::Rests { waits: true },
        state: State::Resting,
        reason: None,
        expires_at: new.terms.expires_at,
        client: new.client.clone(),
        created_at: now,
        updated_at: now,
    };
    let open = Open::of(&order);
    let shared = session.shared();
    let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if placed == Placed::Filled {
        let own = fills.iter().filter(|fill| fill.taker == incoming.seq);
        order.money = own.map(|fill| Money::of(fill.count, on_yes_scale(order.side, fill.price))).sum();
        (order.filled, order.state) = (order.count, State::Executed);
    } else {
        kept.open.insert(incoming.seq, open.clone());
        session.changes.promise(&open, order.count, false)?;
        session.dues_changed |= order.expires_at.is_some();
    }
    orders::add(tx, &order)?;
    session.apply(&mut kept, fills, Some((incoming.seq, &open)))?;
    let (best_bid, best_ask) = (kept.book.best(Side::Bid), kept.book.best(Side::Ask));
    drop(kept);
    session.finish(tx, ids, seq)?;
    // Orders that waited may have taken of it at once.
    if placed != Placed::Filled && !fills.is_empty() {
        let found = orders::find(tx, &order.id)?;
        order = found.ok_or_else(|| Fault::internal("an order that was just placed is gone"))?;
    }
    Ok(Receipt { order, best_bid, best_ask })
}

impl Session<'_> {
    /// Locks whoever may be touched by an order and by the end of those that are due.
    fn lock_touched(
        &self,
        tx: &mut dyn Tx,
        new: &NewOrder,
        incoming: &Incoming,
        due: &[(u64, orders::Reason)],
    ) -> Result<(), Fault> {
        let mut people = vec![new.person.clone()];
        {
            let kept = self.kept();
            people.extend(due.iter().filter_map(|(seq, _)| Some(kept.open.get(seq)?.person.clone())));
            people.extend(kept.book.owners_at_stake(incoming).into_iter().map(person));
        }
        // What is due goes first, and whoever stands behind it may be filled then.
        if !due.is_empty() {
            let kept = self.kept();
            people.extend(kept.open.values().map(|order| order.person.clone()));
        }
        Self::lock(tx, people)
    }
}

/// A person as the tables know one.
fn person(owner: Owner) -> String {
    format!("{:024x}", owner.0)
}

fn refused_by_life(market: &Market, now: kernel::Moment) -> Option<TradeFault> {
    let ticker = || market.ticker.clone();
    match market.life.phase(now) {
        Phase::Active => None,
        Phase::Initialized => {
            Some(TradeFault::MarketNotOpen { ticker: ticker(), opens_at: market.life.opens_at })
        }
        Phase::Paused => Some(TradeFault::MarketPaused { ticker: ticker() }),
        Phase::Closed => Some(TradeFault::MarketClosed { ticker: ticker() }),
        Phase::Determined | Phase::Disputed | Phase::Amended | Phase::Finalized => {
            Some(TradeFault::MarketSettled { ticker: ticker() })
        }
    }
}

/// Whether the person has what the order needs: cash for what it would cost now or promise, or contracts.
fn refused_by_means(
    tx: &mut dyn Tx,
    session: &Session<'_>,
    new: &NewOrder,
    incoming: &Incoming,
) -> Result<Option<TradeFault>, Fault> {
    if new.terms.action == Action::Sell {
        let position = positions::find(tx, &new.person, &new.ticker, new.terms.side)?;
        let free = position.count - position.promised;
        return Ok((free < new.terms.count).then_some(TradeFault::PositionTooSmall {
            side: new.terms.side,
            free,
            count: new.terms.count,
        }));
    }
    let cash = ledger::balance(tx, LEDGER, &new.person)?.available;
    let free = Money::from_units(cash).minus(traders::held(tx, &new.person)?).unwrap_or(Money::ZERO);
    let needed = needed(&session.kept().book, &new.terms, incoming);
    Ok((free < needed).then_some(TradeFault::InsufficientBalance { free, needed }))
}

/// What a buy costs now if it can be filled whole, else what it would promise.
fn needed(book: &Book, terms: &Terms, incoming: &Incoming) -> Money {
    let count = u64::from(terms.count);
    let walk = book.walk(incoming.side, incoming.limit, count);
    if walk.count < count {
        return if incoming.rests { held(terms.action, terms.count, terms.own_limit()) } else { Money::ZERO };
    }
    let cents = match terms.side {
        Outcome::Yes => walk.cents,
        Outcome::No => 100 * count - walk.cents,
    };
    Money::from_units(i64::try_from(cents).unwrap_or(i64::MAX / 100) * 100)
}

fn worded(refusal: Refusal, book: &Book, new: &NewOrder) -> TradeFault {
    match refusal {
        Refusal::WouldCross { best } => {
            TradeFault::PostOnlyWouldCross { best: on_yes_scale(new.terms.side, best) }
        }
        Refusal::SelfTrade { .. } => TradeFault::SelfTrade,
        Refusal::Short { available } => {
            let side = new.terms.book_side();
            let count = u64::from(new.terms.count);
            let anywhere = book.walk(side, side.any_price(), count).count;
            if anywhere >= count {
                TradeFault::PriceMoved { limit: new.terms.own_limit(), available }
            } else {
                TradeFault::NoLiquidity { count: new.terms.count, available: anywhere }
            }
        }
    }
}
