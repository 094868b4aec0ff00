//! Secrets that all nodes share, made by whichever node comes first.

use kernel::{Fault, tx::Tx};

kernel::statements! {
    ADD = "INSERT INTO duel_secret (name, secret) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    GET = "SELECT secret FROM duel_secret WHERE name = $1";
}

/// The stored secret, which is `fresh` only if none was stored before.
pub(crate) fn get_or_add(tx: &mut dyn Tx, name: &str, fresh: &[u8; 32]) -> Result<[u8; 32], Fault> {
    tx.exec(&ADD, &[name.into(), fresh.as_slice().into()])?;
    let row = tx.row(&GET, &[name.into()])?.ok_or_else(|| Fault::internal("a stored secret is missing"))?;
    row.blob(0)?.try_into().map_err(|_| Fault::internal(format_args!("secret {name} is not 32 bytes")))
}
