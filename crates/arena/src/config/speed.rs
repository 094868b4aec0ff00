//! The speed of Arena time: a positive decimal with at most three places, kept in thousandths.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, de};

/// The fastest clock, in thousandths: 100,000 times real time.
pub(crate) const SPEED_MILLI_MAX: i64 = 100_000_000;

/// What a speed looks like, for messages.
const RULE: &str = "a decimal above 0 and up to 100000, with at most three places, for example 60 or 0.5";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Speed {
    milli: i64,
}

impl Speed {
    pub(crate) const fn milli(self) -> i64 {
        self.milli
    }

    pub(crate) const fn of_milli(milli: i64) -> Self {
        Self { milli }
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a clock speed; use {RULE}");
        let (whole, places) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 6 || places.len() > 3 || !digits(whole) || !digits(places) {
            return Err(wrong());
        }
        let milli: i64 = format!("{whole}{places:0<3}").parse().map_err(|_| wrong())?;
        if milli == 0 || milli > SPEED_MILLI_MAX { Err(wrong()) } else { Ok(Self { milli }) }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.milli / 1000, self.milli % 1000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl<'de> Deserialize<'de> for Speed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl de::Visitor<'_> for Reader {
            type Value = Speed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(RULE)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Speed, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Speed, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Speed, E> {
                self.visit_str(&value.to_string())
            }
            // The shortest decimal that reads back as this float is what the person wrote.
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Speed, E> {
                self.visit_str(&value.to_string())
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_exact_in_thousandths() {
        for (text, milli) in
            [("1", 1000), ("0.5", 500), ("60", 60_000), ("0.001", 1), ("100000", SPEED_MILLI_MAX)]
        {
            let speed: Speed = text.parse().unwrap();
            assert_eq!(speed.milli(), milli, "{text}");
            assert_eq!(speed.to_string(), text);
        }
        for text in
            ["0", "0.0", "-1", "1e3", "", ".5", "0.0001", "100000.001", "100001", "NaN", "1.5.5", "+1"]
        {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
