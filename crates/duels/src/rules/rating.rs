//! Ratings and other percentages: exact rationals, rounded half away from zero to one decimal.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A percentage in tenths; prints `63.2`, and `100` rather than `100.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tenths(pub i64);

impl Tenths {
    /// `100 · numerator / denominator`, half away from zero. `denominator` is positive.
    pub fn percent(numerator: i64, denominator: i64) -> Option<Self> {
        if denominator <= 0 {
            return None;
        }
        let (n, d) = (i128::from(numerator).saturating_mul(1000), i128::from(denominator));
        let half_up = n.abs().saturating_mul(2).saturating_add(d).checked_div(d.saturating_mul(2))?;
        let tenths = i64::try_from(half_up).ok()?;
        Some(Self(if n < 0 { tenths.saturating_neg() } else { tenths }))
    }
}

impl std::fmt::Display for Tenths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, tenth) = (self.0.unsigned_abs() / 10, self.0.unsigned_abs() % 10);
        if tenth == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{tenth}") }
    }
}

impl Serialize for Tenths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 10 == 0 {
            serializer.serialize_i64(self.0 / 10)
        } else {
            // The nearest double of a number with one decimal prints as that number.
            #[expect(clippy::cast_precision_loss, reason = "ratings are far below 2^53")]
            serializer.serialize_f64(self.0 as f64 / 10.0)
        }
    }
}

impl<'de> Deserialize<'de> for Tenths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        #[expect(clippy::cast_possible_truncation, reason = "clients read what this type wrote")]
        Ok(Self((number * 10.0).round() as i64))
    }
}

impl JsonSchema for Tenths {
    fn schema_name() -> Cow<'static, str> {
        "Tenths".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number"})
    }
}

/// A win counts one, a draw a half: `100·(wins + draws/2)/duels`; nothing before the first duel.
pub fn rating(wins: i64, draws: i64, duels: i64) -> Option<Tenths> {
    Tenths::percent(wins.saturating_mul(2).saturating_add(draws), duels.saturating_mul(2))
}

/// What was paid out beyond what was staked: `100·(paid − staked)/staked`.
pub fn roi(paid: i64, staked: i64) -> Option<Tenths> {
    Tenths::percent(paid.saturating_sub(staked), staked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_round_half_away_from_zero_and_print_short() {
        for (wins, draws, duels, printed) in [
            (12, 0, 19, "63.2"),
            (1, 0, 1, "100"),
            (0, 0, 3, "0"),
            (0, 1, 1, "50"),
            (1, 0, 3, "33.3"),
            (2, 0, 3, "66.7"),
            (1, 1, 16, "9.4"), // 9.375
            (1, 0, 16, "6.3"), // 6.25 rounds away from zero
            (1, 0, 80, "1.3"), // 1.25
        ] {
            let rating = rating(wins, draws, duels).unwrap();
            assert_eq!(rating.to_string(), printed, "{wins} {draws} {duels}");
            assert_eq!(serde_json::to_string(&rating).unwrap(), printed);
        }
        assert_eq!(rating(0, 0, 0), None);
    }

    #[test]
    fn roi_may_be_negative_and_rounds_away_from_zero() {
        for (paid, staked, printed) in
            [(18, 10, "80"), (0, 10, "-100"), (15, 16, "-6.3"), (17, 16, "6.3"), (7, 9, "-22.2")]
        {
            let roi = roi(paid, staked).unwrap();
            assert_eq!(roi.to_string(), printed);
            assert_eq!(serde_json::to_string(&roi).unwrap(), printed);
        }
    }

    #[test]
    fn every_tenth_prints_exactly() {
        for tenths in -2_000..=2_000 {
            let text = serde_json::to_string(&Tenths(tenths)).unwrap();
            assert_eq!(text, Tenths(tenths).to_string());
            assert_eq!(serde_json::from_str::<Tenths>(&text).unwrap(), Tenths(tenths));
        }
    }
}
