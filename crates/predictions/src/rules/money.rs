//! Paper dollars, in whole units of $0.0001. No binary fraction takes part in any sum.

use std::{fmt, iter::Sum};

use super::price::Cents;

/// An amount in units of $0.0001, negative for a loss.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(i64);

/// Why a text is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoMoney {
    /// It is not a plain decimal number, such as `6.3`.
    NotANumber,
    /// It has more digits after the point than may be given.
    TooFine,
    /// It is greater than any amount here.
    TooLarge,
}

const UNITS_A_CENT: i64 = 100;
const UNITS_A_DOLLAR: i64 = 100 * UNITS_A_CENT;
/// The digits after the point that a unit has.
const UNIT_DIGITS: usize = 4;
/// The digits after the point that people and programs may send.
pub const SENT_DIGITS: usize = 2;
/// No amount is greater: every number up to here passes through any JSON reader unharmed.
const LARGEST: i64 = 1_000_000_000_000 * UNITS_A_DOLLAR;

impl Money {
    pub const ZERO: Self = Self(0);

    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    pub const fn units(self) -> i64 {
        self.0
    }

    pub const fn from_dollars(dollars: i64) -> Option<Self> {
        match dollars.checked_mul(UNITS_A_DOLLAR) {
            Some(units) if units <= LARGEST && units >= -LARGEST => Some(Self(units)),
            _ => None,
        }
    }

    /// What `count` contracts cost at `price`. Exact for every count there is.
    #[must_use]
    pub const fn of(count: u32, price: Cents) -> Self {
        Self(count as i64 * price.get() as i64 * UNITS_A_CENT)
    }

    /// What `count` contracts pay whose side came true.
    #[must_use]
    pub const fn payout(count: u32) -> Self {
        Self(count as i64 * UNITS_A_DOLLAR)
    }

    /// How many contracts at `price` this buys.
    pub const fn buys(self, price: Cents) -> i64 {
        if self.0 <= 0 { 0 } else { self.0 / (price.get() as i64 * UNITS_A_CENT) }
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(units) => Some(Self(units)),
            None => None,
        }
    }

    #[must_use]
    pub const fn minus(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(units) => Some(Self(units)),
            None => None,
        }
    }

    /// Whole cents; half a cent goes away from zero.
    pub const fn cents(self) -> i64 {
        let half = if self.0 < 0 { -UNITS_A_CENT / 2 } else { UNITS_A_CENT / 2 };
        (self.0 + half) / UNITS_A_CENT
    }

    /// Reads what somebody sent: at most two digits after the point, no exponent, no sign but a minus. It is
    /// refused rather than rounded.
    pub fn sent(text: &str) -> Result<Self, NoMoney> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, part) = match digits.split_once('.') {
            Some((_, "")) => return Err(NoMoney::NotANumber),
            Some((whole, part)) => (whole, part),
            None => (digits, ""),
        };
        let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_plain(whole) || !is_plain(part) {
            return Err(NoMoney::NotANumber);
        }
        // A zero at the end is no finer amount.
        let part = part.trim_end_matches('0');
        if part.len() > SENT_DIGITS {
            return Err(NoMoney::TooFine);
        }
        let dollars: i64 =
            whole.trim_start_matches('0').parse().or_else(|error: std::num::ParseIntError| {
                match error.kind() {
                    std::num::IntErrorKind::Empty => Ok(0),
                    _ => Err(NoMoney::TooLarge),
                }
            })?;
        let mut units = 0;
        for at in 0..UNIT_DIGITS {
            units = units * 10 + part.as_bytes().get(at).map_or(0, |digit| i64::from(digit - b'0'));
        }
        let sum = Self::from_dollars(dollars).and_then(|whole| whole.plus(Self(units)));
        let amount = sum.filter(|sum| sum.0 <= LARGEST).ok_or(NoMoney::TooLarge)?;
        Ok(if is_negative { Self(-amount.0) } else { amount })
    }
}

/// As a JSON number: at most two digits after the point and no zero at the end, such as `984.3`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.cents();
        if cents < 0 {
            f.write_str("-")?;
        }
        let (dollars, rest) = (cents.unsigned_abs() / 100, cents.unsigned_abs() % 100);
        match rest {
            0 => write!(f, "{dollars}"),
            tens if tens % 10 == 0 => write!(f, "{dollars}.{}", tens / 10),
            both => write!(f, "{dollars}.{both:02}"),
        }
    }
}

impl Sum for Money {
    /// # Panics
    /// When the sum is no amount any more, which conserved money cannot reach.
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, |sum, next| match sum.plus(next) {
            Some(sum) => sum,
            None => panic!("a sum of money beyond every amount"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_exact_or_refused() {
        let table = [
            ("0", Ok(0)),
            ("6.3", Ok(63_000)),
            ("6.30", Ok(63_000)),
            ("6.3000000", Ok(63_000)),
            ("16.90", Ok(169_000)),
            ("0.01", Ok(100)),
            ("007", Ok(70_000)),
            ("-3.70", Ok(-37_000)),
            ("1000000000000", Ok(LARGEST)),
            ("0.001", Err(NoMoney::TooFine)),
            ("16.901", Err(NoMoney::TooFine)),
            ("0.10000000000000001", Err(NoMoney::TooFine)),
            ("1000000000000.01", Err(NoMoney::TooLarge)),
            ("99999999999999999999999", Err(NoMoney::TooLarge)),
            ("", Err(NoMoney::NotANumber)),
            ("-", Err(NoMoney::NotANumber)),
            (".5", Err(NoMoney::NotANumber)),
            ("5.", Err(NoMoney::NotANumber)),
            ("1e3", Err(NoMoney::NotANumber)),
            ("+1", Err(NoMoney::NotANumber)),
            ("1,5", Err(NoMoney::NotANumber)),
            (" 1", Err(NoMoney::NotANumber)),
            ("NaN", Err(NoMoney::NotANumber)),
            ("1.-5", Err(NoMoney::NotANumber)),
        ];
        for (text, units) in table {
            assert_eq!(Money::sent(text).map(Money::units), units, "{text}");
        }
    }

    #[test]
    fn it_is_shown_with_two_digits_at_most() {
        let table = [
            (0, "0"),
            (9_843_000, "984.3"),
            (26_838_400, "2683.84"),
            (400_000, "40"),
            (500, "0.05"),
            (-63_000, "-6.3"),
            (49, "0"),
            (50, "0.01"),
            (-50, "-0.01"),
            (-49, "0"),
            (LARGEST, "1000000000000"),
        ];
        for (units, text) in table {
            assert_eq!(Money::from_units(units).to_string(), text, "{units}");
        }
    }

    #[test]
    fn contracts_cost_exactly_their_price() {
        let price = |cents| Cents::new(cents).unwrap();
        assert_eq!(Money::of(7, price(90)).to_string(), "6.3");
        assert_eq!(Money::of(1_000_000_000, price(99)).to_string(), "990000000");
        assert_eq!(Money::of(3, price(41)).plus(Money::of(3, price(59))), Some(Money::payout(3)));
        let ten = Money::from_dollars(10).unwrap();
        assert_eq!(
            (ten.buys(price(33)), ten.buys(price(99)), Money::from_units(-1).buys(price(1))),
            (30, 10, 0)
        );
    }
}
