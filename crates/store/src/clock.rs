//! Arena time over a stored anchor: it never runs back over a restart, on another node, when its
//! speed changes, or when the real clock is set back.
//!
//! The anchor's row also keeps a high-water mark, written with commits at most once a second. A
//! process never answers a time below one it has answered; after a crash together with a clock set
//! back, Arena time can repeat at most the span since the last mark.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicI64, Ordering},
};

use kernel::{
    Fault, Moment,
    time::{Anchor, Clock, SPEED_REAL_MILLI},
    tx::{Command, Sql, Tx, Verdict},
};

/// How often the high-water mark is written, at most, in real time.
pub(crate) const MARK_EVERY_MS: i64 = 1000;
/// The fastest clock: a day in less than a second and a half.
pub const SPEED_MILLI_MAX: i64 = 100_000 * SPEED_REAL_MILLI;
/// The longest jump of one call to `advance`: ten years.
pub const ADVANCE_MS_MAX: i64 = 10 * 366 * 24 * 3600 * 1000;

/// Serialises the changes of the anchor.
const ANCHOR_LOCK: &str = "#arena-clock";

kernel::statements! {
    LOAD = "SELECT real0_ms, arena0_ms, speed_milli, high_ms FROM arena_clock WHERE id = 1";
    REANCHOR = "UPDATE arena_clock SET real0_ms = $1, arena0_ms = $2, speed_milli = $3, high_ms = $2 WHERE id = 1";
    MARK = "UPDATE arena_clock SET high_ms = $1 WHERE id = 1 AND high_ms < $1";
}

/// Reads the anchor and the high-water mark.
pub(crate) fn loading() -> &'static Sql {
    &LOAD
}

/// Raises the high-water mark.
pub(crate) fn marking() -> &'static Sql {
    &MARK
}

/// The highest Arena time that this process has answered, and when it was last written down.
#[derive(Debug, Default)]
pub(crate) struct HighWater {
    arena_ms: AtomicI64,
    marked_real_ms: AtomicI64,
}

impl HighWater {
    /// Raises `arena` to the highest time seen so far.
    pub(crate) fn raise(&self, arena: Moment) -> Moment {
        let before = self.arena_ms.fetch_max(arena.as_millis(), Ordering::AcqRel);
        arena.max(Moment::from_millis(before))
    }

    /// The mark to write now, if one is due.
    pub(crate) fn due(&self, real_ms: i64) -> Option<i64> {
        let last = self.marked_real_ms.load(Ordering::Acquire);
        // A clock set back is as good a reason as a second gone by.
        ((real_ms - last).abs() >= MARK_EVERY_MS).then(|| self.arena_ms.load(Ordering::Acquire))
    }

    pub(crate) fn marked(&self, real_ms: i64) {
        self.marked_real_ms.store(real_ms, Ordering::Release);
    }
}

/// The clock of an engine without one: the injected clock and the anchor kept in memory.
pub(crate) struct LocalClock {
    source: Arc<dyn Clock>,
    anchor: Mutex<Anchor>,
    pub(crate) high: HighWater,
}

impl LocalClock {
    pub(crate) fn new(source: Arc<dyn Clock>, anchor: Anchor, high_ms: i64) -> Self {
        let high = HighWater::default();
        high.raise(Moment::from_millis(high_ms));
        Self { source, anchor: Mutex::new(anchor), high }
    }

    /// Arena time and real time, now.
    pub(crate) fn read(&self) -> (Moment, i64) {
        let anchor = self.anchor.lock().unwrap_or_else(PoisonError::into_inner);
        let real_ms = self.source.real_ms();
        (self.high.raise(anchor.arena(real_ms)), real_ms)
    }

    pub(crate) fn reanchor(&self, anchor: Anchor) {
        *self.anchor.lock().unwrap_or_else(PoisonError::into_inner) = anchor;
    }
}

/// A change of the anchor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    SpeedMilli(i64),
    AdvanceMs(i64),
}

impl Command for Change {
    type Out = Anchor;

    fn name(&self) -> &'static str {
        "clock.change"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Anchor>, Fault> {
        tx.lock(&[ANCHOR_LOCK.to_owned()])?;
        // The transaction's time holds the high-water mark already, so the new anchor starts from it.
        let (old, real_ms) = (load(tx)?, tx.real_ms());
        let here = Anchor { real0_ms: real_ms, arena0_ms: tx.now().as_millis(), ..old };
        let new = match *self {
            Self::SpeedMilli(speed) if (0..=SPEED_MILLI_MAX).contains(&speed) => {
                here.with_speed(real_ms, speed)
            }
            Self::AdvanceMs(ms) if (0..=ADVANCE_MS_MAX).contains(&ms) => here.advanced(ms),
            Self::SpeedMilli(_) | Self::AdvanceMs(_) => {
                return Err(Fault::invalid(format!(
                    "the clock takes a speed from 0 to {} times real time and advances of 0 to {ADVANCE_MS_MAX} ms",
                    SPEED_MILLI_MAX / SPEED_REAL_MILLI
                )));
            }
        };
        tx.exec(&REANCHOR, &[new.real0_ms.into(), new.arena0_ms.into(), new.speed_milli.into()])?;
        Ok(Verdict::Done(new))
    }
}

pub(crate) fn load(tx: &mut dyn Tx) -> Result<Anchor, Fault> {
    let row = tx.row(&LOAD, &[])?.ok_or_else(|| Fault::internal("the row of arena_clock is missing"))?;
    Ok(Anchor { real0_ms: row.i64(0)?, arena0_ms: row.i64(1)?, speed_milli: row.i64(2)? })
}
