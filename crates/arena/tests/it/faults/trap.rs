//! Where a server process of a test ends or freezes itself: a probe of the store that counts.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};
use store::{Point, Store};

/// An answer that is given too early reaches its caller within this.
const EARLY_ANSWER: Duration = Duration::from_millis(10);

const STOPPED_WITHIN: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Trigger {
    KillBeforeCommit,
    KillInBatch,
    KillAfterCommit,
    /// Killed when a commit had a settlement in it.
    KillAfterSettlement,
    FreezeBeforeCommit,
}

pub(crate) struct Trap {
    trigger: Option<Trigger>,
    /// Hits until it springs; zero or less is not armed.
    left: AtomicI64,
    settled: AtomicI64,
    store: OnceLock<Store>,
}

impl Trap {
    pub(crate) fn new(trigger: Option<Trigger>) -> Self {
        Self { trigger, left: AtomicI64::new(0), settled: AtomicI64::new(0), store: OnceLock::new() }
    }

    /// The store whose probe this is, once it is open.
    pub(crate) fn watch(&self, store: Store) {
        assert!(self.store.set(store).is_ok());
    }

    /// Springs at the hit of this number from now on.
    pub(crate) fn arm(&self, hits: i64) {
        self.settled.store(self.count_settled(), Ordering::SeqCst);
        self.left.store(hits, Ordering::SeqCst);
    }

    /// What the store calls.
    pub(crate) fn reached(&self, point: Point) {
        let Some(trigger) = self.trigger else { return };
        let here = match (trigger, point) {
            (Trigger::KillBeforeCommit | Trigger::FreezeBeforeCommit, Point::BeforeCommit)
            | (Trigger::KillInBatch, Point::InBatch { .. })
            | (Trigger::KillAfterCommit, Point::AfterCommit) => true,
            (Trigger::KillAfterSettlement, Point::AfterCommit) => self.is_armed() && self.has_settled(),
            _ => false,
        };
        if !here || !self.springs() {
            return;
        }
        match trigger {
            Trigger::FreezeBeforeCommit => freeze(),
            Trigger::KillAfterCommit | Trigger::KillAfterSettlement => end(),
            Trigger::KillBeforeCommit | Trigger::KillInBatch => {
                std::thread::sleep(EARLY_ANSWER);
                end();
            }
        }
    }

    fn is_armed(&self) -> bool {
        self.left.load(Ordering::SeqCst) > 0
    }

    fn springs(&self) -> bool {
        self.is_armed() && self.left.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Readers have threads of their own, so the writer may wait for one.
    fn count_settled(&self) -> i64 {
        let Some(store) = self.store.get() else { return 0 };
        store.read_blocking(|tx| duels::audit::settled(tx)).unwrap()
    }

    fn has_settled(&self) -> bool {
        let now = self.count_settled();
        self.settled.swap(now, Ordering::SeqCst) < now
    }
}

/// Stops this process until it is told to go on.
pub(crate) fn freeze() {
    kill_process(getpid(), Signal::STOP).unwrap();
    // Another thread may take the signal, and this one must not run on until it has.
    std::thread::sleep(STOPPED_WITHIN);
}

fn end() -> ! {
    kill_process(getpid(), Signal::KILL).unwrap();
    loop {
        std::thread::park();
    }
}
