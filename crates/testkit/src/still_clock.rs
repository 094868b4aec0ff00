//! A real clock that a test moves by hand, forward or back.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use kernel::time::Clock;

/// Clones share one hand.
#[derive(Debug, Clone)]
pub struct StillClock(Arc<AtomicI64>);

impl StillClock {
    pub fn at(real_ms: i64) -> Self {
        Self(Arc::new(AtomicI64::new(real_ms)))
    }

    /// Negative sets the clock back.
    pub fn shift(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for StillClock {
    fn real_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}
