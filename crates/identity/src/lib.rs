//! People with a permanent nickname, how they sign in, and what they let programs do in their name: keys,
//! sessions of browsers, and the state of our own authorization server.
//!
//! Knows no product and no door: a product opens its own account for a person in the same transaction,
//! composed by the binary.

use kernel::{Fault, principal::Principal, tx::Tx};

pub mod act;
pub mod audit;
pub mod ceremonies;
pub mod entry_links;
pub mod keys;
pub mod logins;
pub mod oauth;
pub mod pairings;
pub mod passkeys;
pub mod passwords;
pub mod people;
pub mod secret;
pub mod sessions;

/// The tables of this crate.
pub const SCHEMA: store::Schema = store::Schema {
    product: "identity",
    steps: &[
        include_str!("../migrations/0001_people_keys.sql"),
        include_str!("../migrations/0002_sign_in.sql"),
        include_str!("../migrations/0003_first_call.sql"),
        include_str!("../migrations/0004_passkeys.sql"),
        include_str!("../migrations/0005_entry_links.sql"),
    ],
};

/// Every statement, for the test that prepares them on both engines.
pub fn statements() -> Vec<&'static kernel::tx::Sql> {
    [
        people::ALL,
        keys::ALL,
        logins::ALL,
        passwords::ALL,
        passkeys::ALL,
        ceremonies::ALL,
        entry_links::ALL,
        sessions::ALL,
        oauth::clients::ALL,
        oauth::requests::ALL,
        oauth::grants::ALL,
        oauth::tokens::ALL,
        pairings::ALL,
        audit::ALL,
    ]
    .concat()
}

/// Who presents a key or an access token.
pub fn authenticate(tx: &mut dyn Tx, token: &str) -> Result<Principal, Fault> {
    if token.starts_with(oauth::ACCESS_PREFIX) {
        oauth::tokens::authenticate(tx, token)
    } else {
        keys::authenticate(tx, token)
    }
}

/// Deletes what is past its time; answers how many rows.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let parts = [
        sessions::prune,
        logins::prune,
        ceremonies::prune,
        entry_links::prune,
        oauth::requests::prune,
        oauth::tokens::prune,
        oauth::grants::prune,
        oauth::clients::prune,
        pairings::prune,
    ];
    parts.into_iter().try_fold(0, |sum, part| Ok(sum + part(tx)?))
}
