//! Takes orders back, by whoever placed them or because their time is over.

use kernel::{
    Fault,
    id::Ids,
    tx::{Tx, Verdict},
};

use super::{books::Books, session::Session};
use crate::{
    fault::TradeFault,
    tables::orders::{self, Order, Reason, State},
};

/// What became of an order that somebody wanted back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canceled {
    pub order: Order,
    /// Whether this call canceled it. One that was filled before is told as it is.
    pub canceled: bool,
}

/// Cancels an order of a person.
pub fn cancel(
    tx: &mut dyn Tx,
    books: &Books,
    ids: &dyn Ids,
    person: &str,
    id: &str,
) -> Result<Verdict<Canceled>, Fault> {
    let not_found = || Verdict::Refused(TradeFault::OrderNotFound { id: id.to_owned() }.into());
    let Some(found) = orders::find(tx, id)?.filter(|order| order.person == person) else {
        return Ok(not_found());
    };
    let session = match Session::enter(tx, books, &found.market)? {
        Ok(session) => session,
        Err(fault) => return Err(Fault::internal(format_args!("the market of order {id}: {fault:?}"))),
    };
    let now = tx.now();
    let mut due = session.due(tx, now)?;
    let seq = u64::try_from(found.seq).map_err(Fault::internal)?;
    let is_open = session.kept().open.contains_key(&seq);
    let is_due = due.iter().any(|(number, _)| *number == seq);
    if is_open && !is_due {
        due.push((seq, Reason::Canceled));
    }
    if !due.is_empty() {
        session.end_due(tx, ids, &due)?;
    }
    let order = orders::find(tx, id)?.ok_or_else(|| Fault::internal(format_args!("order {id} is gone")))?;
    let canceled = order.state == State::Canceled && order.reason == Some(Reason::Canceled) && is_open;
    Ok(Verdict::Done(Canceled { order, canceled }))
}

/// Ends what is due in a market; answers how many orders.
pub fn sweep(tx: &mut dyn Tx, books: &Books, ids: &dyn Ids, ticker: &str) -> Result<Verdict<usize>, Fault> {
    let session = match Session::enter(tx, books, ticker)? {
        Ok(session) => session,
        Err(fault) => return Ok(Verdict::Refused(fault.into())),
    };
    let now = tx.now();
    let due = session.due(tx, now)?;
    let swept = due.len();
    if swept > 0 {
        session.end_due(tx, ids, &due)?;
    }
    Ok(Verdict::Done(swept))
}

impl Session<'_> {
    /// Locks, ends and writes what is due.
    pub(super) fn end_due(
        mut self,
        tx: &mut dyn Tx,
        ids: &dyn Ids,
        due: &[(u64, Reason)],
    ) -> Result<(), Fault> {
        self.lock_ended(tx, due)?;
        self.end(due)?;
        let seq = self.market.book.seq;
        self.finish(tx, ids, seq).map(|_| ())
    }

    fn lock_ended(&self, tx: &mut dyn Tx, ended: &[(u64, Reason)]) -> Result<(), Fault> {
        let people: Vec<String> = {
            let kept = self.kept();
            ended.iter().filter_map(|(seq, _)| Some(kept.open.get(seq)?.person.clone())).collect()
        };
        Self::lock(tx, people)
    }
}
