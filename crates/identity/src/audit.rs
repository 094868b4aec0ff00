//! The book of privileged acts: who did what to whom, and when.

use kernel::{
    Fault, Moment,
    id::Ids,
    tx::{Row, Tx},
};

kernel::statements! {
    ADD = "INSERT INTO audit (id, at_ms, actor, act, subject, detail) VALUES ($1, $2, $3, $4, $5, $6)";
    NEWEST = "SELECT id, at_ms, actor, act, subject, detail FROM audit WHERE id < $1 ORDER BY id DESC LIMIT $2";
}

/// The entries that one listing shows.
pub const LIST_MAX: i64 = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: String,
    pub at: Moment,
    /// `admin` for the command line, else a nickname.
    pub actor: String,
    /// What was done, for example `user.disable`.
    pub act: String,
    /// A nickname, or what else it was done to.
    pub subject: String,
    pub detail: String,
}

/// Writes an act down, in the transaction that does it.
pub fn write(
    tx: &mut dyn Tx,
    ids: &dyn Ids,
    actor: &str,
    act: &'static str,
    subject: &str,
    detail: &str,
) -> Result<(), Fault> {
    let at = Moment::from_millis(tx.real_ms());
    let id = ids.uuid7(at);
    tx.exec(&ADD, &[id.into(), at.into(), actor.into(), act.into(), subject.into(), detail.into()])
        .map(|_| ())
}

/// The newest entries first, those before `before` when it is given.
pub fn newest(tx: &mut dyn Tx, before: Option<&str>, limit: i64) -> Result<Vec<Entry>, Fault> {
    let entry = |row: &Row| {
        Ok(Entry {
            id: row.text(0)?,
            at: row.moment(1)?,
            actor: row.text(2)?,
            act: row.text(3)?,
            subject: row.text(4)?,
            detail: row.text(5)?,
        })
    };
    // Ids are hexadecimal, so that nothing sorts after this.
    let before = before.unwrap_or("g");
    tx.rows(&NEWEST, &[before.into(), limit.clamp(1, LIST_MAX).into()])?.iter().map(entry).collect()
}
