//! Paper trading of event contracts. A contract is of one market and one side, and pays $1 when that side
//! comes true.
//!
//! `rules` decides and is pure; `tables` is SQL; `floor` is the one place that changes orders, positions and cash.

use kernel::{
    Fault,
    id::Ids,
    tx::{Sql, Tx},
};
use store::ledger::{self, Account, Post};

pub mod audit;
pub mod fault;
pub mod floor;
pub mod rules;
mod tables;

pub use tables::{
    markets::NewMarket,
    orders::{Order, Reason, State},
};

use rules::money::Money;

/// The ledger of paper dollars, in units of $0.0001.
pub const LEDGER: &str = "paper";

/// The tables of this crate.
pub const SCHEMA: store::Schema =
    store::Schema { product: "predictions", steps: &[include_str!("../migrations/0001_exchange.sql")] };

/// Every statement, for the test that prepares them on both engines.
pub fn statements() -> Vec<&'static Sql> {
    use tables::{fills, markets, orders, positions, traders, trades};
    [fills::ALL, markets::ALL, orders::ALL, positions::ALL, traders::ALL, trades::ALL].concat()
}

/// The pool that holds what a market owes.
pub(crate) fn escrow(ticker: &str) -> String {
    format!("escrow:{ticker}")
}

/// Opens the account of a new person with its first dollars, in the transaction that made the person.
pub fn open_account(tx: &mut dyn Tx, ids: &dyn Ids, person: &str, start: Money) -> Result<(), Fault> {
    let id = ids.uuid7(tx.now());
    tables::traders::add(tx, person, &id)?;
    ledger::open(tx, LEDGER, person)?;
    if start > Money::ZERO {
        let opening = Post {
            debit: Account::Issuance,
            credit: Account::Available(person.to_owned()),
            amount: start.units(),
            kind: "opening",
        };
        ledger::post(tx, LEDGER, ids, person, &[opening])?;
    }
    Ok(())
}

/// Makes a market.
pub fn create_market(tx: &mut dyn Tx, new: &NewMarket) -> Result<(), Fault> {
    tables::markets::add(tx, new)
}
