//! People with a permanent nickname, and the keys by which their agents prove who they are.
//!
//! Knows no product: a product opens its own account for a person in the same transaction, composed
//! by the binary. Sign-in through other issuers is not here yet.

pub mod keys;
pub mod people;

pub use keys::authenticate;

/// The tables of this crate.
pub const SCHEMA: store::Schema =
    store::Schema { product: "identity", steps: &[include_str!("../migrations/0001_people_keys.sql")] };

/// Every statement, for the test that prepares them on both engines.
pub fn statements() -> Vec<&'static kernel::tx::Sql> {
    [people::ALL, keys::ALL].concat()
}
