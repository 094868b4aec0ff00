//! Arena time and its speed for answers that no transaction dates, without waiting for the store.

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use kernel::{
    Fault, Moment,
    time::{Anchor, Clock, SPEED_REAL_MILLI},
};
use store::{Engine, Store};

/// How old the copy of the anchor may grow before it is read anew, in milliseconds. Another node may
/// have changed the speed.
const ANCHOR_AGE_MS_MAX: u64 = 500;

pub(crate) struct ArenaClock {
    store: Store,
    real: Arc<dyn Clock>,
    anchor: Arc<RwLock<Anchor>>,
    started: Instant,
    read_at_ms: AtomicU64,
}

impl ArenaClock {
    /// Waits for the store once.
    pub(crate) fn new(store: Store, real: Arc<dyn Clock>) -> Result<Self, Fault> {
        let anchor = Arc::new(RwLock::new(store.anchor()?));
        Ok(Self { store, real, anchor, started: Instant::now(), read_at_ms: AtomicU64::new(0) })
    }

    pub(crate) fn now(&self) -> Moment {
        let told = match self.store.engine() {
            Engine::Sqlite => self.store.now().ok(),
            // Asking would block this thread on the network.
            Engine::Postgres => None,
        };
        told.unwrap_or_else(|| self.anchor().arena(self.real.real_ms()))
    }

    /// The speed as text, when it is not that of real time.
    pub(crate) fn speed(&self) -> Option<String> {
        let milli = self.anchor().speed_milli;
        (milli != SPEED_REAL_MILLI).then(|| speed_text(milli))
    }

    /// How many whole real seconds are enough for so many Arena seconds; as many while time stands still.
    pub(crate) fn real_seconds(&self, arena_seconds: i64) -> i64 {
        real_seconds(arena_seconds, self.anchor().speed_milli)
    }

    fn anchor(&self) -> Anchor {
        self.refresh();
        *self.anchor.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn refresh(&self) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let read_at = self.read_at_ms.load(Ordering::Relaxed);
        if now.saturating_sub(read_at) < ANCHOR_AGE_MS_MAX
            || self.read_at_ms.compare_exchange(read_at, now, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        let (store, anchor) = (self.store.clone(), Arc::clone(&self.anchor));
        tokio::task::spawn_blocking(move || {
            if let Ok(read) = store.anchor() {
                *anchor.write().unwrap_or_else(PoisonError::into_inner) = read;
            }
        });
    }
}

/// Thousandths as a decimal without trailing zeros.
fn real_seconds(arena_seconds: i64, speed_milli: i64) -> i64 {
    let (seconds, speed) = (i128::from(arena_seconds.max(0)) * 1000, i128::from(speed_milli));
    if speed <= 0 {
        return arena_seconds.max(0);
    }
    i64::try_from((seconds + speed - 1) / speed).unwrap_or(i64::MAX)
}

fn speed_text(milli: i64) -> String {
    let text = format!("{}.{:03}", milli / 1000, milli.rem_euclid(1000));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_shrink_with_a_fast_clock_and_are_never_too_short() {
        for (arena, milli, real) in
            [(29, 1000, 29), (29, 60_000, 1), (61, 60_000, 2), (10, 500, 20), (5, 0, 5), (0, 1000, 0)]
        {
            assert_eq!(real_seconds(arena, milli), real, "{arena} at {milli}");
        }
    }

    #[test]
    fn speeds_print_plainly() {
        for (milli, text) in [(60_000, "60"), (1_500, "1.5"), (250, "0.25"), (0, "0"), (1, "0.001")] {
            assert_eq!(speed_text(milli), text);
        }
    }
}
