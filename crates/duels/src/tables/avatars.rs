//! The images of agents: which are shown, which are being made, and which have to go.

use kernel::{Fault, tx::Tx};

kernel::statements! {
    NOTE = "INSERT INTO avatar_object (name, agent, state, since_ms) VALUES ($1, $2, 'PENDING', $3)";
    DOOM_LIVE = "UPDATE avatar_object SET state = 'DOOMED', since_ms = $2 WHERE agent = $1 AND state = 'LIVE'";
    RAISE = "UPDATE avatar_object SET state = 'LIVE', since_ms = $3 WHERE name = $1 AND agent = $2 AND state = 'PENDING'";
    DOOM_STALE = "UPDATE avatar_object SET state = 'DOOMED' WHERE state = 'PENDING' AND since_ms < $1";
    DOOMED = "SELECT name FROM avatar_object WHERE state = 'DOOMED' ORDER BY since_ms, name LIMIT $1";
    LIVE = "SELECT name FROM avatar_object WHERE state = 'LIVE' ORDER BY name";
    FORGET = "DELETE FROM avatar_object WHERE name = $1 AND state = 'DOOMED'";
}

/// Notes an image that is about to be made.
pub(crate) fn note(tx: &mut dyn Tx, name: &str, agent: &str) -> Result<(), Fault> {
    let now = tx.real_ms();
    tx.exec(&NOTE, &[name.into(), agent.into(), now.into()]).map(|_| ())
}

/// The agent's image, if it has one, is not shown any more and will be removed.
pub(crate) fn doom_live(tx: &mut dyn Tx, agent: &str) -> Result<(), Fault> {
    let now = tx.real_ms();
    tx.exec(&DOOM_LIVE, &[agent.into(), now.into()]).map(|_| ())
}

/// A noted image becomes the agent's; `false` when it took so long that it is to be removed by now.
pub(crate) fn raise(tx: &mut dyn Tx, name: &str, agent: &str) -> Result<bool, Fault> {
    let now = tx.real_ms();
    Ok(tx.exec(&RAISE, &[name.into(), agent.into(), now.into()])? == 1)
}

/// Images that were noted before `before` and never became anybody's will be removed.
pub(crate) fn doom_stale(tx: &mut dyn Tx, before: i64) -> Result<u64, Fault> {
    tx.exec(&DOOM_STALE, &[before.into()])
}

/// Names of images to remove, longest doomed first.
pub(crate) fn doomed(tx: &mut dyn Tx, limit: i64) -> Result<Vec<String>, Fault> {
    tx.rows(&DOOMED, &[limit.into()])?.iter().map(|row| row.text(0)).collect()
}

/// An image is gone.
pub(crate) fn forget(tx: &mut dyn Tx, name: &str) -> Result<(), Fault> {
    tx.exec(&FORGET, &[name.into()]).map(|_| ())
}

/// Names of the images that agents show.
pub(crate) fn live(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    tx.rows(&LIVE, &[])?.iter().map(|row| row.text(0)).collect()
}
