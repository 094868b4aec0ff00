//! What an order may ask for.

use kernel::Moment;

use super::{
    money::Money,
    price::{Action, Cents, Outcome, Side, on_yes_scale},
};

/// The most contracts of one order: at 99 cents they cost $990,000,000.
pub const COUNT_MAX: u32 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// At whatever price there is.
    Market,
    /// At this price of its own side or better.
    Limit(Cents),
}

/// How long an order that is not filled stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeInForce {
    /// Good till canceled.
    Gtc,
    /// Immediate or cancel. As nothing is filled in part, the same as `Fok`.
    Ioc,
    /// Fill or kill.
    Fok,
}

/// What somebody asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    pub action: Action,
    pub side: Outcome,
    pub kind: Kind,
    pub count: u32,
    pub tif: TimeInForce,
    pub post_only: bool,
    pub reduce_only: bool,
    pub expires_at: Option<Moment>,
}

/// Why terms are no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    Count,
    ExpiresInPast,
    /// Two terms that exclude each other, in words.
    Conflict(&'static str),
}

impl Terms {
    pub fn check(&self, now: Moment) -> Result<(), Broken> {
        if self.count == 0 || self.count > COUNT_MAX {
            return Err(Broken::Count);
        }
        let is_brief = self.tif != TimeInForce::Gtc;
        let conflicts = [
            (
                self.kind == Kind::Market && !is_brief,
                "a market order never rests; use timeInForce ioc or a limit price",
            ),
            (
                is_brief && self.expires_at.is_some(),
                "ioc and fok orders never rest, so they cannot expire; leave expiresAt out or use gtc",
            ),
            (is_brief && self.post_only, "a postOnly order only rests; use timeInForce gtc"),
            (
                self.action == Action::Buy && self.reduce_only,
                "a buy opens a position; sell to reduce one, or leave reduceOnly out",
            ),
        ];
        if let Some((_, words)) = conflicts.iter().find(|(is_broken, _)| *is_broken) {
            return Err(Broken::Conflict(words));
        }
        match self.expires_at {
            Some(at) if at <= now => Err(Broken::ExpiresInPast),
            _ => Ok(()),
        }
    }

    /// Where it stands in the book.
    pub const fn book_side(&self) -> Side {
        Side::of(self.action, self.side)
    }

    /// Its limit on the scale of the book.
    pub const fn book_limit(&self) -> Cents {
        match self.kind {
            Kind::Market => self.book_side().any_price(),
            Kind::Limit(price) => on_yes_scale(self.side, price),
        }
    }

    /// Its limit on the scale of its own side.
    pub const fn own_limit(&self) -> Cents {
        on_yes_scale(self.side, self.book_limit())
    }
}

/// What an order for `count` promises while it rests: a buy its price, a sell nothing but the contracts.
pub const fn held(action: Action, count: u32, own_limit: Cents) -> Money {
    match action {
        Action::Buy => Money::of(count, own_limit),
        Action::Sell => Money::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        Terms {
            action: Action::Buy,
            side: Outcome::Yes,
            kind: Kind::Limit(Cents::MIN),
            count: 1,
            tif: TimeInForce::Gtc,
            post_only: false,
            reduce_only: false,
            expires_at: None,
        }
    }

    #[test]
    fn terms_that_exclude_each_other_are_refused() {
        use {Action::*, Kind::*, TimeInForce::*};
        let now = Moment::from_millis(1000);
        let later = Some(Moment::from_millis(1001));
        let conflict = |terms: Terms| matches!(terms.check(now), Err(Broken::Conflict(_)));
        for tif in [Ioc, Fok] {
            assert!(conflict(Terms { tif, expires_at: later, ..terms() }));
            assert!(conflict(Terms { tif, post_only: true, ..terms() }));
            assert_eq!(Terms { tif, kind: Market, ..terms() }.check(now), Ok(()));
            assert_eq!(Terms { tif, ..terms() }.check(now), Ok(()));
        }
        assert!(conflict(Terms { kind: Market, ..terms() }));
        assert!(conflict(Terms { reduce_only: true, ..terms() }));
        assert_eq!(Terms { reduce_only: true, action: Sell, ..terms() }.check(now), Ok(()));
        assert_eq!(Terms { post_only: true, expires_at: later, ..terms() }.check(now), Ok(()));
        for at in [999, 1000] {
            let expires_at = Some(Moment::from_millis(at));
            assert_eq!(Terms { expires_at, ..terms() }.check(now), Err(Broken::ExpiresInPast), "{at}");
        }
        for (count, is_count) in [(0, false), (1, true), (COUNT_MAX, true), (COUNT_MAX + 1, false)] {
            assert_eq!(Terms { count, ..terms() }.check(now).is_ok(), is_count, "{count}");
        }
    }

    #[test]
    fn limits_are_of_their_own_side() {
        let price = Cents::new(30).unwrap();
        let no = Terms { side: Outcome::No, kind: Kind::Limit(price), ..terms() };
        assert_eq!((no.book_side(), no.book_limit().get(), no.own_limit().get()), (Side::Ask, 70, 30));
        for (action, side, worst) in [
            (Action::Buy, Outcome::Yes, 99),
            (Action::Buy, Outcome::No, 99),
            (Action::Sell, Outcome::Yes, 1),
            (Action::Sell, Outcome::No, 1),
        ] {
            let market = Terms { action, side, kind: Kind::Market, ..terms() };
            assert_eq!(market.own_limit().get(), worst, "{action:?} {side:?}");
        }
        assert_eq!(held(Action::Buy, 7, price).to_string(), "2.1");
        assert_eq!(held(Action::Sell, 7, price), Money::ZERO);
    }
}
