//! Exact sliding-window budgets: at most so many admitted calls in any span of Arena time.
//!
//! A ring of the last admitted instants decides in constant time: a call is admitted when the call
//! that was `max` calls ago has left its window. One node keeps rings in memory (a restart forgets
//! them); several nodes, and budgets that must survive a restart, keep them in rows. A refusal is
//! never counted.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::Mutex,
};

use kernel::{
    Fault, Kind, Moment,
    operation::Budget,
    tx::{Command, Tx, Verdict},
};

use crate::Engine;

kernel::statements! {
    TOTAL = "SELECT total FROM rate WHERE subject = $1";
    HIT = "SELECT at_ms FROM rate_hit WHERE subject = $1 AND slot = $2";
    SET_TOTAL = "INSERT INTO rate (subject, total) VALUES ($1, $2) ON CONFLICT (subject) DO UPDATE SET total = excluded.total";
    SET_HIT = "INSERT INTO rate_hit (subject, slot, at_ms) VALUES ($1, $2, $3) ON CONFLICT (subject, slot) DO UPDATE SET at_ms = excluded.at_ms";
}

/// At most `max` admitted calls in any `span_ms` of Arena time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub max: u32,
    pub span_ms: i64,
}

/// A short and a long window that a call must pass together; `long.max` is not below `short.max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    pub short: Window,
    pub long: Window,
}

impl Windows {
    pub const fn from_budget(budget: Budget) -> Self {
        Self {
            short: Window { max: budget.per_minute, span_ms: 60_000 },
            long: Window { max: budget.per_hour, span_ms: 3_600_000 },
        }
    }

    /// The earliest instant at which both windows admit one more call, given the instants of the
    /// calls that were `short.max` and `long.max` calls before it.
    fn opens_at(&self, short: Option<Moment>, long: Option<Moment>) -> Option<Moment> {
        short.map(|at| at.plus_ms(self.short.span_ms)).max(long.map(|at| at.plus_ms(self.long.span_ms)))
    }

    fn refusal(&self, opens_at: Moment, now: Moment) -> Fault {
        let seconds = opens_at.seconds_until(now);
        Fault::of(
            Kind::RateLimited,
            format!(
                "the budget of {} calls in {} seconds and {} in {} is spent; call again in {seconds} seconds",
                self.short.max,
                self.short.span_ms / 1000,
                self.long.max,
                self.long.span_ms / 1000,
            ),
        )
        .with_retry_after(seconds)
    }
}

/// The budgets of accounts: in memory on one node, in rows on several.
pub struct Limits {
    memory: Option<Memory>,
}

impl Limits {
    /// SQLite is one node by construction, PostgreSQL may be several.
    pub fn of(engine: Engine) -> Self {
        Self { memory: matches!(engine, Engine::Sqlite).then(Memory::default) }
    }

    /// Decides at once where one node can; `None` means that [`Self::admit_command`] must decide.
    pub fn admit_here(&self, tx: &mut dyn Tx, subject: &str, windows: &Windows) -> Option<Result<(), Fault>> {
        self.memory.as_ref().map(|memory| memory.admit(subject, windows, tx.now()))
    }

    /// Decides in rows, under the subject's lock.
    pub fn admit_command(&self, subject: &str, windows: &Windows) -> Box<dyn Command<Out = ()>> {
        Box::new(Admit { subject: subject.to_owned(), windows: *windows })
    }
}

struct Admit {
    subject: String,
    windows: Windows,
}

impl Command for Admit {
    type Out = ();

    fn name(&self) -> &'static str {
        "limits.admit"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        tx.lock(&[lock_name(&self.subject)])?;
        admit_in_rows(tx, &self.subject, &self.windows).map(Verdict::Done)
    }
}

/// The lock that guards a subject's rows; take it before [`admit_in_rows`].
pub fn lock_name(subject: &str) -> String {
    format!("rate:{subject}")
}

/// Admits and counts one call, or refuses and counts nothing.
pub fn admit_in_rows(tx: &mut dyn Tx, subject: &str, windows: &Windows) -> Result<(), Fault> {
    let total = tx.row(&TOTAL, &[subject.into()])?.map_or(Ok(0), |row| row.i64(0))?;
    let now = tx.now();
    if let Some(opens_at) = opens_at(tx, subject, windows, total)?
        && opens_at > now
    {
        return Err(windows.refusal(opens_at, now));
    }
    let slot = total % i64::from(windows.long.max);
    tx.exec(&SET_HIT, &[subject.into(), slot.into(), now.into()])?;
    tx.exec(&SET_TOTAL, &[subject.into(), (total + 1).into()])?;
    Ok(())
}

/// The earliest instant at which the next call would be admitted, counting nothing.
pub fn next_in_rows(tx: &mut dyn Tx, subject: &str, windows: &Windows) -> Result<Moment, Fault> {
    let total = tx.row(&TOTAL, &[subject.into()])?.map_or(Ok(0), |row| row.i64(0))?;
    let now = tx.now();
    Ok(opens_at(tx, subject, windows, total)?.map_or(now, |at| at.max(now)))
}

fn opens_at(tx: &mut dyn Tx, subject: &str, windows: &Windows, total: i64) -> Result<Option<Moment>, Fault> {
    let ring = i64::from(windows.long.max);
    let mut before = |calls: u32| -> Result<Option<Moment>, Fault> {
        let number = total - i64::from(calls);
        if number < 0 {
            return Ok(None);
        }
        tx.row(&HIT, &[subject.into(), (number % ring).into()])?.map(|row| row.moment(0)).transpose()
    };
    let (short, long) = (before(windows.short.max)?, before(windows.long.max)?);
    Ok(windows.opens_at(short, long))
}

const SHARDS: usize = 16;
/// After so many admissions a shard forgets the accounts whose calls have all left the long window.
const SWEEP_EVERY: u32 = 4096;

#[derive(Default)]
struct Shard {
    rings: HashMap<String, VecDeque<Moment>>,
    admitted: u32,
}

#[derive(Default)]
struct Memory {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
}

impl Memory {
    fn admit(&self, subject: &str, windows: &Windows, now: Moment) -> Result<(), Fault> {
        let shard = usize::try_from(self.hasher.hash_one(subject) % SHARDS as u64).unwrap_or(0);
        let mut shard = self.shards[shard].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        shard.admitted += 1;
        if shard.admitted.is_multiple_of(SWEEP_EVERY) {
            shard
                .rings
                .retain(|_, ring| ring.back().is_some_and(|last| last.plus_ms(windows.long.span_ms) > now));
        }
        if !shard.rings.contains_key(subject) {
            shard.rings.insert(subject.to_owned(), VecDeque::new());
        }
        let Some(ring) = shard.rings.get_mut(subject) else { return Ok(()) };
        let before = |calls: u32| {
            ring.len()
                .checked_sub(usize::try_from(calls).unwrap_or(usize::MAX))
                .and_then(|i| ring.get(i))
                .copied()
        };
        if let Some(opens_at) = windows.opens_at(before(windows.short.max), before(windows.long.max))
            && opens_at > now
        {
            return Err(windows.refusal(opens_at, now));
        }
        ring.push_back(now);
        if ring.len() > usize::try_from(windows.long.max).unwrap_or(usize::MAX) {
            ring.pop_front();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rule, word for word: an admitted call at `t` counts in (now − span, now].
    fn naive(log: &[i64], windows: &Windows, now: i64) -> bool {
        [windows.short, windows.long]
            .iter()
            .all(|w| log.iter().filter(|t| **t > now - w.span_ms).count() < w.max as usize)
    }

    proptest! {
        #[test]
        fn memory_equals_the_rule(
            gaps in prop::collection::vec(prop_oneof![0i64..3, 0i64..2_000], 1..300),
            short in 1u32..6, extra in 0u32..20,
        ) {
            let windows = Windows {
                short: Window { max: short, span_ms: 1_000 },
                long: Window { max: short + extra, span_ms: 10_000 },
            };
            let memory = Memory::default();
            let (mut log, mut now) = (Vec::new(), 0);
            for gap in gaps {
                now += gap;
                let wanted = naive(&log, &windows, now);
                let got = memory.admit("a", &windows, Moment::from_millis(now));
                prop_assert_eq!(got.is_ok(), wanted, "at {} after {:?}", now, log);
                if let Err(fault) = got {
                    // The promise in the refusal: that many seconds later there is room.
                    let seconds = fault.retry_after_seconds.unwrap_or(0);
                    prop_assert!(seconds > 0);
                    prop_assert!(naive(&log, &windows, now + seconds * 1000));
                } else {
                    log.push(now);
                }
            }
        }
    }

    #[test]
    fn accounts_do_not_share_a_budget_and_idle_ones_are_forgotten() {
        let windows = Windows::from_budget(Budget { per_minute: 1, per_hour: 1 });
        let memory = Memory::default();
        assert!(memory.admit("a", &windows, Moment::from_millis(0)).is_ok());
        assert!(memory.admit("b", &windows, Moment::from_millis(0)).is_ok());
        assert!(memory.admit("a", &windows, Moment::from_millis(3_599_999)).is_err());
        for i in 0..200_000 {
            let _ = memory.admit(&format!("x{i}"), &windows, Moment::from_millis(i * 100));
        }
        let kept: usize = memory.shards.iter().map(|shard| shard.lock().unwrap().rings.len()).sum();
        assert!(kept < 120_000, "{kept} accounts are remembered");
    }
}
