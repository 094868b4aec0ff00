//! Books in memory, each as its market's row last named it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use kernel::{Fault, id::Ids, tx::Tx};

use crate::{
    rules::{
        book::{Book, Owner, Resting},
        price::{Action, Cents, Outcome, Side, on_yes_scale},
    },
    tables::{
        markets::BookState,
        orders::{self, Order},
    },
};

/// The books that are kept at once; one that is not is read anew.
const BOOKS_MAX: usize = 4096;

/// What the floor knows of an open order beside its place in the book.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) id: String,
    pub(super) person: String,
    pub(super) action: Action,
    pub(super) side: Outcome,
    /// On the scale of its side.
    pub(super) limit: Cents,
    pub(super) trade: Option<String>,
    pub(super) client: Option<String>,
}

impl Open {
    pub(super) fn of(order: &Order) -> Self {
        Self {
            id: order.id.clone(),
            person: order.person.clone(),
            action: order.action,
            side: order.side,
            limit: order.limit,
            trade: order.trade.clone(),
            client: order.client.clone(),
        }
    }
}

/// A book and whose orders are in it.
#[derive(Default)]
pub(super) struct Kept {
    /// The state of which this is the book; `None` before it was read.
    state: Option<(i64, i64)>,
    pub(super) book: Book,
    pub(super) open: HashMap<u64, Open>,
}

impl Kept {
    /// Makes sure that this is the book of the market's present state.
    pub(super) fn refresh(&mut self, tx: &mut dyn Tx, ticker: &str, state: &BookState) -> Result<(), Fault> {
        if self.state == Some((state.seq, state.tag)) {
            return Ok(());
        }
        *self = Self::default();
        for order in orders::resting(tx, ticker)? {
            let seq = u64::try_from(order.seq).map_err(Fault::internal)?;
            self.book.restore(Resting {
                seq,
                owner: owner(&order.person)?,
                side: Side::of(order.action, order.side),
                price: on_yes_scale(order.side, order.limit),
                count: order.remaining(),
                waits: order.waits,
            });
            self.open.insert(seq, Open::of(&order));
        }
        self.state = Some((state.seq, state.tag));
        Ok(())
    }

    /// What is in memory changes now, and is of no state until that is known.
    pub(super) const fn unname(&mut self) {
        self.state = None;
    }

    pub(super) const fn name(&mut self, state: &BookState) {
        self.state = Some((state.seq, state.tag));
    }
}

/// A person as the book knows one.
pub(super) fn owner(person: &str) -> Result<Owner, Fault> {
    u128::from_str_radix(person, 16).map(Owner).map_err(Fault::internal)
}

/// All books of this node.
pub struct Books {
    kept: Mutex<HashMap<String, Arc<Mutex<Kept>>>>,
    next_tag: AtomicI64,
}

impl Books {
    pub fn new(ids: &dyn Ids) -> Self {
        let mut start = [0; 8];
        ids.fill(&mut start);
        Self { kept: Mutex::default(), next_tag: AtomicI64::new(i64::from_le_bytes(start)) }
    }

    /// A name for a new state. Every attempt of a command gets another one, and so does every node: a state
    /// that was rolled back is never taken for one that was committed.
    pub(super) fn tag(&self) -> i64 {
        self.next_tag.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn of(&self, ticker: &str) -> Arc<Mutex<Kept>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= BOOKS_MAX && !kept.contains_key(ticker) {
            // Those that are in use stay with their users and are read anew by the next one.
            kept.clear();
        }
        Arc::clone(kept.entry(ticker.to_owned()).or_default())
    }
}
