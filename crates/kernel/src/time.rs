//! Instants, and Arena time.
//!
//! Arena time is `arena0 + speed × (real − real0)`. The anchor sits in the store, so the clock never
//! runs back over a restart, on another node or when the speed changes.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An instant in UTC with millisecond precision; prints as `2026-08-24T14:27:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl Moment {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    #[must_use]
    pub const fn plus_ms(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to `self`; negative when `self` is before it.
    pub const fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Whole seconds from `now` until `self`, rounded up and never negative: a wait that is enough.
    pub const fn seconds_until(self, now: Self) -> i64 {
        let ms = self.ms_since(now);
        if ms <= 0 { 0 } else { (ms + 999) / 1000 }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => f.write_str("9999-12-30T22:00:00.000Z"),
        }
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(|()| de::Error::custom("expected an RFC 3339 instant in UTC"))
    }
}

impl std::str::FromStr for Moment {
    type Err = ();

    /// Reads an RFC 3339 instant.
    fn from_str(text: &str) -> Result<Self, ()> {
        let at: jiff::Timestamp = text.parse().map_err(|_| ())?;
        Ok(Self(at.as_millisecond()))
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// Where real time comes from: the wiring passes the system's clock, tests a still one.
pub trait Clock: Send + Sync {
    /// Real time in milliseconds since the epoch.
    fn real_ms(&self) -> i64;
}

/// The system's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn real_ms(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "the one place that asks the system")]
        let now = std::time::SystemTime::now();
        now.duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The three numbers that turn real time into Arena time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    pub real0_ms: i64,
    pub arena0_ms: i64,
    /// Thousandths: 1000 is real time, 0 stands still (tests only).
    pub speed_milli: i64,
}

/// Real time: the speed at which a second lasts a second.
pub const SPEED_REAL_MILLI: i64 = 1000;

impl Anchor {
    /// Arena time equals real time from here on.
    pub const fn real(real_ms: i64) -> Self {
        Self { real0_ms: real_ms, arena0_ms: real_ms, speed_milli: SPEED_REAL_MILLI }
    }

    /// Arena time at `real_ms`; a real clock that was set back holds Arena time still instead.
    pub fn arena(&self, real_ms: i64) -> Moment {
        let elapsed = i128::from(real_ms.saturating_sub(self.real0_ms).max(0));
        let arena = i128::from(self.arena0_ms) + elapsed * i128::from(self.speed_milli) / 1000;
        Moment(i64::try_from(arena).unwrap_or(i64::MAX))
    }

    /// The same instant with another speed: Arena time goes on from where it is.
    #[must_use]
    pub fn with_speed(&self, real_ms: i64, speed_milli: i64) -> Self {
        Self { real0_ms: real_ms, arena0_ms: self.arena(real_ms).as_millis(), speed_milli }
    }

    /// Moves Arena time forward by `ms` (virtual clocks).
    #[must_use]
    pub fn advanced(&self, ms: i64) -> Self {
        Self { arena0_ms: self.arena0_ms + ms.max(0), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prints_and_reads_milliseconds_in_utc() {
        let at = Moment::from_millis(1_787_581_620_000);
        assert_eq!(at.to_string(), "2026-08-24T14:27:00.000Z");
        let text = serde_json::to_string(&at).unwrap();
        assert_eq!(serde_json::from_str::<Moment>(&text).unwrap(), at);
        assert_eq!(Moment::from_millis(5).to_string(), "1970-01-01T00:00:00.005Z");
    }

    #[test]
    fn waits_round_up() {
        let now = Moment::from_millis(0);
        for (ms, seconds) in [(-5, 0), (0, 0), (1, 1), (1000, 1), (1001, 2)] {
            assert_eq!(now.plus_ms(ms).seconds_until(now), seconds, "{ms} ms");
        }
    }

    proptest! {
        #[test]
        fn arena_time_never_runs_back(
            steps in prop::collection::vec((0i64..100_000, 0i64..100_000), 1..20),
        ) {
            let mut real = 1_700_000_000_000;
            let mut anchor = Anchor::real(real);
            let mut last = anchor.arena(real);
            for (elapsed, speed) in steps {
                real += elapsed;
                prop_assert!(anchor.arena(real) >= last);
                last = anchor.arena(real);
                anchor = anchor.with_speed(real, speed);
                prop_assert_eq!(anchor.arena(real), last);
                prop_assert_eq!(anchor.arena(real - 60_000), last, "a clock set back holds still");
            }
        }
    }
}
