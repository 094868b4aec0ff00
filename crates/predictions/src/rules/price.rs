//! Prices of contracts, and which way an order leans.

use std::fmt;

/// A price in whole cents, 1 to 99. What pays a dollar costs more than nothing and less than a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cents(u8);

impl Cents {
    pub const MIN: Self = Self(1);
    pub const MAX: Self = Self(99);

    pub const fn new(cents: i64) -> Option<Self> {
        if cents < Self::MIN.0 as i64 || cents > Self::MAX.0 as i64 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 99")]
        Some(Self(cents as u8))
    }

    pub const fn get(self) -> u8 {
        self.0
    }

    /// What the other side costs where this side costs `self`.
    #[must_use]
    pub const fn other_side(self) -> Self {
        Self(100 - self.0)
    }
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The side of a market: what its question is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    Yes,
    No,
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Yes, Self::No].into_iter().find(|side| side.as_str() == text)
    }
}

/// Whoever buys opens a trade; whoever sells ends what was bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Buy,
    Sell,
}

impl Action {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Buy, Self::Sell].into_iter().find(|action| action.as_str() == text)
    }
}

/// Where an order stands in the book, which has one scale: the price of YES.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    Bid,
    Ask,
}

impl Side {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bid => "bid",
            Self::Ask => "ask",
        }
    }

    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Bid => Self::Ask,
            Self::Ask => Self::Bid,
        }
    }

    /// To buy YES and to sell NO are the same wish, and so are their opposites.
    pub const fn of(action: Action, outcome: Outcome) -> Self {
        match (action, outcome) {
            (Action::Buy, Outcome::Yes) | (Action::Sell, Outcome::No) => Self::Bid,
            (Action::Sell, Outcome::Yes) | (Action::Buy, Outcome::No) => Self::Ask,
        }
    }

    /// The limit that takes any price.
    pub const fn any_price(self) -> Cents {
        match self {
            Self::Bid => Cents::MAX,
            Self::Ask => Cents::MIN,
        }
    }

    /// Whether an order of this side and limit accepts `price`.
    pub const fn accepts(self, limit: Cents, price: Cents) -> bool {
        match self {
            Self::Bid => price.0 <= limit.0,
            Self::Ask => price.0 >= limit.0,
        }
    }
}

/// A price of one side of a market on the scale of the book, and back: the mirror is its own inverse.
#[must_use]
pub const fn on_yes_scale(outcome: Outcome, price: Cents) -> Cents {
    match outcome {
        Outcome::Yes => price,
        Outcome::No => price.other_side(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_1_to_99_whole_cents() {
        for (cents, is_price) in [(-1, false), (0, false), (1, true), (99, true), (100, false), (257, false)]
        {
            assert_eq!(Cents::new(cents).is_some(), is_price, "{cents}");
        }
        assert_eq!(Cents::MIN.other_side(), Cents::MAX);
    }

    #[test]
    fn buying_one_side_is_selling_the_other() {
        use {Action::*, Outcome::*};
        let table =
            [(Buy, Yes, Side::Bid), (Sell, No, Side::Bid), (Sell, Yes, Side::Ask), (Buy, No, Side::Ask)];
        for (action, outcome, side) in table {
            assert_eq!(Side::of(action, outcome), side);
        }
        let price = Cents::new(30).unwrap();
        assert_eq!(on_yes_scale(No, price).get(), 70);
        assert_eq!(on_yes_scale(No, on_yes_scale(No, price)), price);
    }
}
