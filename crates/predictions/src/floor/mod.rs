//! The trading floor: the one place that changes orders, positions and cash.
//!
//! A command takes the lock of its market, then those of the traders whom it may touch, all in one order, so
//! that no two commands wait for each other. The book is kept in memory between commands and read anew
//! whenever the market's row says that it is another one.

mod books;
mod cancel;
mod changes;
mod place;
mod session;
mod settle;

pub use books::Books;
pub use cancel::{Canceled, cancel, sweep};
pub use place::{NewOrder, Receipt, place};
pub use settle::{determine, dispute, finalize, pause};
