//! Seasons: calendar months in New York, whose clocks change twice a year.

use std::fmt;

use jiff::{
    civil::{Date, Time},
    tz::TimeZone,
};
use kernel::Moment;

/// The zone in which months begin.
const ZONE: &str = "America/New_York";

/// A calendar month in New York; prints as `2026-09`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Season {
    year: i16,
    month: i8,
}

/// The zone's rules are in the program, so this fails on no machine.
fn zone() -> TimeZone {
    static KEPT: std::sync::OnceLock<TimeZone> = std::sync::OnceLock::new();
    let find = || match TimeZone::get(ZONE) {
        Ok(zone) => zone,
        Err(error) => panic!("{ZONE} is built in: {error}"),
    };
    KEPT.get_or_init(find).clone()
}

impl Season {
    /// The season of an instant.
    pub fn of(at: Moment) -> Self {
        let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or(jiff::Timestamp::MAX);
        let date = zone().to_datetime(at).date();
        Self { year: date.year(), month: date.month() }
    }

    /// Its first instant.
    pub fn start(self) -> Moment {
        let midnight = Date::new(self.year, self.month, 1)
            .and_then(|first| zone().to_timestamp(first.to_datetime(Time::midnight())));
        match midnight {
            Ok(midnight) => Moment::from_millis(midnight.as_millisecond()),
            // Beyond the calendar nothing happens any more.
            Err(_) => Moment::from_millis(i64::MAX),
        }
    }

    /// The first instant that belongs to it no more.
    pub fn end(self) -> Moment {
        self.next().start()
    }

    #[must_use]
    pub const fn next(self) -> Self {
        match self.month {
            12 => Self { year: self.year + 1, month: 1 },
            month => Self { year: self.year, month: month + 1 },
        }
    }

    #[must_use]
    pub const fn before(self) -> Self {
        match self.month {
            1 => Self { year: self.year - 1, month: 12 },
            month => Self { year: self.year, month: month - 1 },
        }
    }
}

impl fmt::Display for Season {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl std::str::FromStr for Season {
    type Err = ();

    /// Reads `YYYY-MM` and nothing else.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (year, month) = text.split_once('-').ok_or(())?;
        let is_plain = |text: &str, len| text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain(year, 4) || !is_plain(month, 2) {
            return Err(());
        }
        let (year, month) = (year.parse().map_err(|_| ())?, month.parse().map_err(|_| ())?);
        if !(1..=12).contains(&month) || year == 0 { Err(()) } else { Ok(Self { year, month }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        text.parse().unwrap()
    }

    #[test]
    fn months_begin_at_midnight_in_new_york() {
        let table = [
            ("2026-03", "2026-03-01T05:00:00Z", "2026-04-01T04:00:00Z", 743),
            ("2026-09", "2026-09-01T04:00:00Z", "2026-10-01T04:00:00Z", 720),
            ("2026-11", "2026-11-01T04:00:00Z", "2026-12-01T05:00:00Z", 721),
            ("2026-12", "2026-12-01T05:00:00Z", "2027-01-01T05:00:00Z", 744),
        ];
        for (name, start, end, hours) in table {
            let season: Season = name.parse().unwrap();
            assert_eq!((season.start(), season.end()), (moment(start), moment(end)), "{name}");
            assert_eq!(season.end().ms_since(season.start()), hours * 3_600_000, "{name}");
            assert_eq!(season.to_string(), name);
        }
    }

    #[test]
    fn an_instant_is_of_one_season() {
        let table = [
            ("2026-10-01T03:59:59Z", "2026-09"),
            ("2026-10-01T03:59:59.999Z", "2026-09"),
            ("2026-10-01T04:00:00Z", "2026-10"),
            ("2027-01-01T04:59:59Z", "2026-12"),
            ("2027-01-01T05:00:00Z", "2027-01"),
            ("2026-11-01T05:30:00Z", "2026-11"),
            ("2026-11-01T06:30:00Z", "2026-11"),
            ("2026-03-08T07:00:00Z", "2026-03"),
        ];
        for (at, season) in table {
            assert_eq!(Season::of(moment(at)).to_string(), season, "{at}");
        }
        let mut season: Season = "1999-11".parse().unwrap();
        for _ in 0..600 {
            assert_eq!(Season::of(season.start()), season);
            assert_eq!(Season::of(season.start().plus_ms(-1)), season.before());
            assert_eq!(season.next().before(), season);
            season = season.next();
        }
        assert_eq!(season.to_string(), "2049-11");
    }

    #[test]
    fn a_name_is_a_year_and_a_month() {
        for text in [
            "",
            "2026",
            "2026-00",
            "2026-13",
            "2026-9",
            "26-09",
            "0000-01",
            "2026-09-01",
            "2026-+9",
            "２０２６-09",
        ] {
            assert!(text.parse::<Season>().is_err(), "{text}");
        }
    }
}
