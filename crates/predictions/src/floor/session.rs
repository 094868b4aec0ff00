//! A market during one command: its row, its book, what is due, and what changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::{Fault, Moment, id::Ids, tx::Tx};

use super::{
    books::{Books, Kept, Open},
    changes::{Changes, Part},
};
use crate::{
    fault::TradeFault,
    rules::{book::Fill, life::Phase, price::Action},
    tables::{
        markets::{self, Market},
        orders::{self, Reason},
    },
};

/// The expired orders that one command ends; the next one goes on.
const SWEPT_MAX: usize = 200;

pub(super) struct Session<'a> {
    books: &'a Books,
    kept: Arc<Mutex<Kept>>,
    pub(super) market: Market,
    pub(super) changes: Changes,
    /// By how much the open interest grew.
    opened: i64,
    /// Whether a resting order with an end came or went.
    pub(super) dues_changed: bool,
}

impl<'a> Session<'a> {
    /// Locks the market and reads it. Its book is the present one afterwards.
    pub(super) fn enter(
        tx: &mut dyn Tx,
        books: &'a Books,
        ticker: &str,
    ) -> Result<Result<Self, TradeFault>, Fault> {
        tx.lock(&[format!("market:{ticker}")])?;
        let Some(market) = markets::find(tx, ticker)? else {
            return Ok(Err(TradeFault::MarketNotFound { ticker: ticker.to_owned() }));
        };
        let kept = books.of(ticker);
        let session =
            Self { books, kept, market, changes: Changes::default(), opened: 0, dues_changed: false };
        let state = session.market.book;
        session.kept().refresh(tx, ticker, &state)?;
        Ok(Ok(session))
    }

    pub(super) fn shared(&self) -> Arc<Mutex<Kept>> {
        Arc::clone(&self.kept)
    }

    /// The book and its orders. Whoever panicked with it left it of no state.
    pub(super) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks traders, after the market. The clock is read anew thereby.
    pub(super) fn lock(tx: &mut dyn Tx, people: impl IntoIterator<Item = String>) -> Result<(), Fault> {
        let mut names: Vec<String> = people.into_iter().map(|person| format!("trader:{person}")).collect();
        names.sort_unstable();
        names.dedup();
        tx.lock(&names)
    }

    /// Which resting orders have ended by `now`: those that expired, or all when nobody trades any more.
    pub(super) fn due(&self, tx: &mut dyn Tx, now: Moment) -> Result<Vec<(u64, Reason)>, Fault> {
        let is_over =
            !matches!(self.market.life.phase(now), Phase::Initialized | Phase::Active | Phase::Paused);
        if !is_over && self.market.book.due_at.is_none_or(|due| due > now) {
            return Ok(Vec::new());
        }
        let mut due = Vec::new();
        for order in orders::resting(tx, &self.market.ticker)? {
            let is_expired = order.expires_at.is_some_and(|at| at <= now);
            if (is_over || is_expired) && due.len() < SWEPT_MAX {
                let reason = if is_expired { Reason::Expired } else { Reason::Closed };
                due.push((u64::try_from(order.seq).map_err(Fault::internal)?, reason));
            }
        }
        Ok(due)
    }

    /// Ends orders; whose they are must be locked.
    pub(super) fn end(&mut self, ended: &[(u64, Reason)]) -> Result<(), Fault> {
        if ended.is_empty() {
            return Ok(());
        }
        self.dues_changed = true;
        let kept = Arc::clone(&self.kept);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.unname();
        for (seq, reason) in ended {
            let (Some(resting), Some(order)) = (kept.book.cancel(*seq), kept.open.remove(seq)) else {
                return Err(Fault::internal(format_args!(
                    "order {seq} rests in the table and not in the book"
                )));
            };
            self.changes.cancel(&order, *seq, resting.count, *reason)?;
        }
        Ok(())
    }

    /// Works fills out. An order that came in just now is `incoming`, with its number, and did not rest.
    pub(super) fn apply(
        &mut self,
        kept: &mut Kept,
        fills: &[Fill],
        incoming: Option<(u64, &Open)>,
    ) -> Result<(), Fault> {
        for fill in fills {
            let nth = self.market.book.fills + self.nth_after();
            let order =
                |seq: u64| match incoming {
                    Some((own, order)) if own == seq && !kept.open.contains_key(&seq) => {
                        Ok((order.clone(), false))
                    }
                    _ => kept.open.get(&seq).map(|order| (order.clone(), true)).ok_or_else(|| {
                        Fault::internal(format_args!("order {seq} was filled and is not open"))
                    }),
                };
            let ((taker, taker_rested), (maker, _)) = (order(fill.taker)?, order(fill.maker)?);
            for (order, seq, rested) in [(&taker, fill.taker, taker_rested), (&maker, fill.maker, true)] {
                let left = kept.book.get(seq).map_or(0, |resting| resting.count);
                let part = Part { order, seq, count: fill.count, left, rested };
                self.changes.part(&part, fill.price)?;
            }
            self.changes.fill(&taker, &maker, fill.taker_side, fill.price, fill.count, nth);
            self.opened += match (taker.action, maker.action) {
                (Action::Buy, Action::Buy) => i64::from(fill.count),
                (Action::Sell, Action::Sell) => -i64::from(fill.count),
                _ => 0,
            };
        }
        for fill in fills {
            for seq in [fill.taker, fill.maker] {
                if kept.book.get(seq).is_none() {
                    kept.open.remove(&seq);
                }
            }
        }
        Ok(())
    }

    /// The number of the next fill among those of this command, from 1.
    fn nth_after(&self) -> i64 {
        i64::try_from(self.changes.fills()).unwrap_or(i64::MAX) + 1
    }

    /// Writes what changed, and names the book by its new state.
    pub(super) fn finish(mut self, tx: &mut dyn Tx, ids: &dyn Ids, seq: i64) -> Result<Market, Fault> {
        let ticker = self.market.ticker.clone();
        self.changes.write(tx, ids, &ticker)?;
        let mut state = self.market.book;
        self.changes.count(&mut state, self.opened);
        state.seq = seq;
        state.tag = self.books.tag();
        if self.dues_changed {
            state.due_at = orders::due(tx, &ticker)?;
        }
        markets::set_book(tx, &ticker, &state)?;
        self.kept().name(&state);
        self.market.book = state;
        Ok(self.market)
    }
}
