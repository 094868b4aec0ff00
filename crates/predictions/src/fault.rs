//! Everything that the exchange can refuse, as a closed set with stable codes.

use kernel::{Fault, Kind, Moment};

use crate::rules::{
    life::NotNow,
    money::Money,
    order::{Broken, COUNT_MAX},
    price::{Cents, Outcome},
};

/// A refusal by the rules of the exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TradeFault {
    MarketNotFound {
        ticker: String,
    },
    MarketNotOpen {
        ticker: String,
        opens_at: Moment,
    },
    MarketPaused {
        ticker: String,
    },
    MarketClosed {
        ticker: String,
    },
    MarketSettled {
        ticker: String,
    },
    /// A step of a market's life that cannot be taken.
    NotNow {
        ticker: String,
        why: NotNow,
    },
    OrderNotFound {
        id: String,
    },
    Terms(Broken),
    NoLiquidity {
        count: u32,
        available: u64,
    },
    PriceMoved {
        limit: Cents,
        available: u64,
    },
    InsufficientBalance {
        free: Money,
        needed: Money,
    },
    PositionTooSmall {
        side: Outcome,
        free: u32,
        count: u32,
    },
    PostOnlyWouldCross {
        best: Cents,
    },
    SelfTrade,
}

impl From<TradeFault> for Fault {
    fn from(fault: TradeFault) -> Self {
        use TradeFault as T;
        let conflict = |code, message: String| Self::new(code, Kind::Conflict, message);
        match fault {
            T::MarketNotFound { ticker } => Self::new(
                "market_not_found",
                Kind::NotFound,
                format!("no market is called {ticker}; look for one in the list of markets"),
            ),
            T::MarketNotOpen { ticker, opens_at } => {
                conflict("market_closed", format!("{ticker} opens at {opens_at}; come back then"))
            }
            T::MarketPaused { ticker } => conflict(
                "market_paused",
                format!("{ticker} is paused; cancel orders if you want, and try later"),
            ),
            T::MarketClosed { ticker } => {
                conflict("market_closed", format!("{ticker} has closed; wait for its settlement"))
            }
            T::MarketSettled { ticker } => conflict(
                "market_settled",
                format!("{ticker} has ended and its result is known; choose another market"),
            ),
            T::NotNow { ticker, why } => not_now(&ticker, why),
            T::OrderNotFound { id } => Self::new(
                "order_not_found",
                Kind::NotFound,
                format!("you have no order {id}; look at your orders for its id"),
            ),
            T::Terms(Broken::Count) => Self::new(
                "invalid_count",
                Kind::Invalid,
                format!("contracts is a whole number from 1 to {COUNT_MAX}; send one"),
            ),
            T::Terms(Broken::ExpiresInPast) => Self::new(
                "expires_in_past",
                Kind::Invalid,
                "expiresAt has passed; send a later instant or leave it out",
            ),
            T::Terms(Broken::Conflict(words)) => Self::new("tif_conflict", Kind::Invalid, words),
            T::NoLiquidity { count, available } => conflict(
                "no_liquidity",
                format!(
                    "{available} of {count} contracts are on offer, and an order fills whole or not at all; ask for fewer, or rest a limit order"
                ),
            ),
            T::PriceMoved { limit, available } => conflict(
                "price_moved",
                format!(
                    "at {limit} cents or better {available} contracts are on offer; look at the book and send another price"
                ),
            ),
            T::InsufficientBalance { free, needed } => conflict(
                "insufficient_balance",
                format!(
                    "the order needs ${needed} and ${free} is free; ask for fewer contracts or cancel orders"
                ),
            ),
            T::PositionTooSmall { side, free, count } => conflict(
                "position_too_small",
                format!(
                    "you can sell {free} {} contracts and asked for {count}; sell at most that, or cancel offers",
                    side.as_str()
                ),
            ),
            T::PostOnlyWouldCross { best } => conflict(
                "post_only_would_cross",
                format!("the other side is at {best} cents; send a price that does not meet it"),
            ),
            T::SelfTrade => conflict(
                "self_trade",
                "the order would meet one of your own; cancel that one first or choose another price"
                    .to_owned(),
            ),
        }
    }
}

fn not_now(ticker: &str, why: NotNow) -> Fault {
    let conflict = |code, message: String| Fault::new(code, Kind::Conflict, message);
    match why {
        NotNow::Open => {
            conflict("invalid_request", format!("{ticker} still trades; wait until it has closed"))
        }
        NotNow::Said => conflict(
            "market_settled",
            format!("it is said how {ticker} ended; it can be disputed, not said twice"),
        ),
        NotNow::Undisputable => {
            conflict("market_settled", format!("nothing of {ticker} can be disputed now; its result stands"))
        }
        NotNow::Until(at) => {
            conflict("invalid_request", format!("{ticker} may be disputed until {at}; come back then"))
        }
        NotNow::Disputed => conflict(
            "market_settled",
            format!("{ticker} is disputed; its creator has to say anew how it ended"),
        ),
        NotNow::Finalized => {
            conflict("market_settled", format!("{ticker} is paid; nothing about it changes any more"))
        }
    }
}
