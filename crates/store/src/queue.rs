//! A bounded queue between the runtime's threads and the store's own: pushing never blocks, popping
//! sleeps until there is work. It knows nothing of what it carries.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Why an item was not taken; the item comes back so that it can be answered.
pub(crate) enum Rejected<T> {
    Full(T),
    Closed(T),
}

/// What a popping thread got.
pub(crate) enum Popped<T> {
    Items(VecDeque<T>),
    Idle,
    /// Closed and drained.
    Closed,
}

struct State<T> {
    items: VecDeque<T>,
    sleepers: usize,
    closed: bool,
}

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    work: Condvar,
    items_max: usize,
}

impl<T> Queue<T> {
    pub(crate) fn new(items_max: usize) -> Self {
        let state = State { items: VecDeque::new(), sleepers: 0, closed: false };
        Self { state: Mutex::new(state), work: Condvar::new(), items_max }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        // No code of ours can panic while it holds this lock, so a poisoned one is intact.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, item: T) -> Result<(), Rejected<T>> {
        let mut state = self.state();
        if state.closed {
            return Err(Rejected::Closed(item));
        }
        if state.items.len() >= self.items_max {
            return Err(Rejected::Full(item));
        }
        state.items.push_back(item);
        let wake = state.sleepers > 0;
        drop(state);
        if wake {
            self.work.notify_one();
        }
        Ok(())
    }

    /// Takes up to `max` items, sleeping at most `patience` for the first.
    pub(crate) fn pop(&self, max: usize, patience: Duration) -> Popped<T> {
        let mut state = self.state();
        if state.items.is_empty() && !state.closed {
            state.sleepers += 1;
            state = self
                .work
                .wait_timeout_while(state, patience, |s| s.items.is_empty() && !s.closed)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.sleepers -= 1;
        }
        if state.items.is_empty() {
            return if state.closed { Popped::Closed } else { Popped::Idle };
        }
        if state.items.len() <= max {
            return Popped::Items(std::mem::take(&mut state.items));
        }
        Popped::Items(state.items.drain(..max).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.state().items.len()
    }

    /// Refuses new items; what is queued is still handed out.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.work.notify_all();
    }

    /// Refuses new items and drops what is queued: the last thread that popped has ended.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        state.closed = true;
        let items = std::mem::take(&mut state.items);
        drop(state);
        drop(items);
    }
}
