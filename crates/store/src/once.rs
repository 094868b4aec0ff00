//! Idempotency: a command under a key runs once, and its answer is replayed.
//!
//! The row is written in the command's own transaction, so an answer exists exactly if its effect
//! does. Refusals and failures are not kept: the same key may try again.

use kernel::{
    Fault,
    operation::Json,
    tx::{Command, Sql, Tx, Verdict},
};

/// How long an answer is replayed at least, in real time.
pub const ANSWER_KEPT_MS: i64 = 24 * 3600 * 1000;
/// How long the mark of a commit stays to be looked up, in real time.
pub const MARK_KEPT_MS: i64 = 3600 * 1000;
/// The scope of the marks of commits; callers' scopes cannot take it.
pub(crate) const MARK_SCOPE: &str = "#command";
/// The longest scope or key.
pub const KEY_BYTES_MAX: usize = 512;
/// Rows that one pruning transaction deletes.
pub(crate) const PRUNED_ROWS_MAX: i64 = 1000;

kernel::statements! {
    CLAIM = "INSERT INTO once (scope, key, hash, answer, created_ms) VALUES ($1, $2, $3, NULL, $4) ON CONFLICT (scope, key) DO NOTHING";
    MARK = "INSERT INTO once (scope, key, hash, answer, created_ms) VALUES ($1, $2, $3, NULL, $4)";
    FIND = "SELECT hash, answer FROM once WHERE scope = $1 AND key = $2";
    KEEP = "UPDATE once SET answer = $3 WHERE scope = $1 AND key = $2";
    FORGET = "DELETE FROM once WHERE scope = $1 AND key = $2";
    PRUNE_ANSWERS = "DELETE FROM once WHERE (scope, key) IN (SELECT o.scope, o.key FROM once o WHERE o.created_ms < $1 AND o.scope <> $2 ORDER BY o.created_ms LIMIT $3)";
    PRUNE_MARKS = "DELETE FROM once WHERE (scope, key) IN (SELECT o.scope, o.key FROM once o WHERE o.created_ms < $1 AND o.scope = $2 ORDER BY o.created_ms LIMIT $3)";
}

/// Marks a commit (hash [`COMMITTED`]) where a mark that is there already must fail it.
pub(crate) fn marking() -> &'static Sql {
    &MARK
}

/// Puts a fence (hash [`FENCED`]) where no mark is.
pub(crate) fn claiming() -> &'static Sql {
    &CLAIM
}

pub(crate) fn finding() -> &'static Sql {
    &FIND
}

pub(crate) const COMMITTED: &[u8] = &[1];
pub(crate) const FENCED: &[u8] = &[0];

/// What a repeat is recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceKey {
    /// Whose key it is, and for which operation: keys of two scopes never meet.
    pub scope: String,
    /// The caller's own.
    pub key: String,
    /// Of the request's body: the same key with another body is a mistake of the caller's.
    pub hash: [u8; 32],
}

/// How a command under a key ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Once {
    Ran(Verdict<Json>),
    /// The answer of the first run.
    Replayed(Json),
    /// The key was used for another request.
    KeyReused,
}

/// The refusal of a key that was used for another request.
pub fn key_reused() -> Fault {
    Fault::invalid("the idempotency key was used with another body; use a new key for a new request")
}

pub(crate) struct UnderKey {
    pub(crate) key: OnceKey,
    pub(crate) command: Box<dyn Command<Out = Json>>,
}

impl Command for UnderKey {
    type Out = Once;

    fn name(&self) -> &'static str {
        self.command.name()
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Once>, Fault> {
        let OnceKey { scope, key, hash } = &self.key;
        if scope.starts_with('#') || scope.len() > KEY_BYTES_MAX || key.len() > KEY_BYTES_MAX {
            return Err(Fault::invalid(format!(
                "an idempotency key has at most {KEY_BYTES_MAX} bytes; send a shorter one"
            )));
        }
        // Claiming first makes a concurrent repeat wait for this transaction instead of running too.
        let claim = [scope.into(), key.into(), hash.as_slice().into(), tx.real_ms().into()];
        if tx.exec(&CLAIM, &claim)? == 0 {
            // A row that was there for the claim and is gone for the look was refused or pruned just now.
            let gone = || Fault::unavailable("an idempotency row went away while it was read");
            return known(tx, &self.key)?.ok_or_else(gone).map(Verdict::Done);
        }
        let verdict = self.command.run(tx)?;
        match &verdict {
            Verdict::Done(answer) => tx.exec(&KEEP, &[scope.into(), key.into(), answer.into()])?,
            Verdict::Refused(_) => tx.exec(&FORGET, &[scope.into(), key.into()])?,
        };
        Ok(Verdict::Done(Once::Ran(verdict)))
    }
}

/// What a repeat of `key` is answered, if its first run is committed.
pub(crate) fn known(tx: &mut dyn Tx, key: &OnceKey) -> Result<Option<Once>, Fault> {
    let Some(row) = tx.row(&FIND, &[(&key.scope).into(), (&key.key).into()])? else { return Ok(None) };
    Ok(Some(if row.blob(0)? == key.hash { Once::Replayed(row.text(1)?) } else { Once::KeyReused }))
}

/// Deletes what is past its time, at most [`PRUNED_ROWS_MAX`] rows of each sort, and counts them.
pub(crate) struct Prune;

impl Command for Prune {
    type Out = u64;

    fn name(&self) -> &'static str {
        "once.prune"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<u64>, Fault> {
        let mut pruned = 0;
        for (sql, kept_ms) in [(&PRUNE_ANSWERS, ANSWER_KEPT_MS), (&PRUNE_MARKS, MARK_KEPT_MS)] {
            let before = tx.real_ms() - kept_ms;
            pruned += tx.exec(sql, &[before.into(), MARK_SCOPE.into(), PRUNED_ROWS_MAX.into()])?;
        }
        Ok(Verdict::Done(pruned))
    }
}
