//! Presences: who can be challenged, until when and with what words and vectors.

use kernel::{
    Fault, Moment,
    tx::{Row, Tx, Val},
};

use super::vectors::Stored;
use crate::rules::challenge::Lease;

kernel::statements! {
    GET = "SELECT pitch, model_key, policy, expires_ms, pitch_model, pitch_vector FROM presence WHERE agent = $1";
    PUT = "INSERT INTO presence (agent, pitch, model_key, policy, expires_ms, pitch_model, pitch_vector, seq) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (agent) DO UPDATE SET pitch = excluded.pitch, model_key = excluded.model_key, policy = excluded.policy, expires_ms = excluded.expires_ms, pitch_model = excluded.pitch_model, pitch_vector = excluded.pitch_vector, seq = excluded.seq";
    END = "UPDATE presence SET expires_ms = 0, seq = $2 WHERE agent = $1";
    TOUCH = "UPDATE presence SET seq = $2 WHERE agent = $1 AND expires_ms > $3";
    SET_VECTOR = "UPDATE presence SET pitch_model = $3, pitch_vector = $4 WHERE agent = $1 AND pitch = $2";
    CHANGED = "SELECT p.seq, p.agent, a.nickname, p.policy, p.expires_ms, p.pitch_model, p.pitch_vector, a.bio_model, a.bio_vector FROM presence p JOIN agent a ON a.id = p.agent WHERE p.seq > $1 ORDER BY p.seq LIMIT $2";
    COUNT_LIVE = "SELECT COUNT(*) FROM presence WHERE expires_ms > $1";
    OF_OTHER_MODEL = "SELECT p.agent FROM presence p JOIN agent a ON a.id = p.agent WHERE p.agent > $1 AND p.expires_ms > $2 AND (p.pitch_model IS NULL OR p.pitch_model <> $3 OR (a.auto_bio IS NOT NULL AND (a.bio_model IS NULL OR a.bio_model <> $3))) ORDER BY p.agent LIMIT $4";
}

/// Guards [`SEQUENCE`]: its numbers must become visible in their order. Its name comes after those of
/// agents, so that it is always the last lock of a command.
const LOCK: &str = "presence";
const SEQUENCE: &str = "presence";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Presence {
    pub(crate) pitch: String,
    pub(crate) model_key: Option<String>,
    pub(crate) policy: i64,
    pub(crate) expires_at: Moment,
    /// Of the pitch; missing until it was embedded.
    pub(crate) vector: Option<Stored>,
}

impl Presence {
    pub(crate) fn lease(&self) -> Lease {
        Lease { expires_at: self.expires_at, policy: self.policy }
    }
}

/// The stored presence, whether or not it still counts.
pub(crate) fn get(tx: &mut dyn Tx, agent: &str) -> Result<Option<Presence>, Fault> {
    let Some(row) = tx.row(&GET, &[agent.into()])? else { return Ok(None) };
    Ok(Some(Presence {
        pitch: row.text(0)?,
        model_key: row.opt_text(1)?,
        policy: row.i64(2)?,
        expires_at: row.moment(3)?,
        vector: Stored::of(&row, 4)?,
    }))
}

/// The presence if it counts now.
pub(crate) fn live(tx: &mut dyn Tx, agent: &str) -> Result<Option<Presence>, Fault> {
    let now = tx.now();
    Ok(get(tx, agent)?.filter(|presence| presence.lease().is_live(now)))
}

/// The next number of a change; the caller's last lock.
fn next(tx: &mut dyn Tx) -> Result<Val, Fault> {
    tx.lock(&[LOCK.to_owned()])?;
    tx.next_number(SEQUENCE).map(Val::I64)
}

pub(crate) fn put(tx: &mut dyn Tx, agent: &str, presence: &Presence) -> Result<(), Fault> {
    let (model, vector) = Stored::columns(presence.vector.as_ref());
    let args = [
        agent.into(),
        (&presence.pitch).into(),
        presence.model_key.as_deref().into(),
        presence.policy.into(),
        presence.expires_at.into(),
        model,
        vector,
        next(tx)?,
    ];
    tx.exec(&PUT, &args).map(|_| ())
}

/// Ends a presence. Its row stays, so that every node learns of the end.
pub(crate) fn end(tx: &mut dyn Tx, agent: &str) -> Result<(), Fault> {
    let seq = next(tx)?;
    tx.exec(&END, &[agent.into(), seq]).map(|_| ())
}

/// Tells every node that what it knows of a present agent has changed.
pub(crate) fn touch(tx: &mut dyn Tx, agent: &str) -> Result<(), Fault> {
    let now = tx.now();
    let seq = next(tx)?;
    tx.exec(&TOUCH, &[agent.into(), seq, now.into()]).map(|_| ())
}

/// Gives a pitch its vector, unless the pitch is another one by now.
pub(crate) fn set_vector(tx: &mut dyn Tx, agent: &str, pitch: &str, vector: &Stored) -> Result<(), Fault> {
    let (model, vector) = Stored::columns(Some(vector));
    tx.exec(&SET_VECTOR, &[agent.into(), pitch.into(), model, vector]).map(|_| ())
}

/// A presence as search sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) seq: i64,
    pub(crate) agent: String,
    pub(crate) nickname: String,
    pub(crate) lease: Lease,
    pub(crate) pitch: Option<Stored>,
    pub(crate) bio: Option<Stored>,
}

fn change(row: &Row) -> Result<Change, Fault> {
    Ok(Change {
        seq: row.i64(0)?,
        agent: row.text(1)?,
        nickname: row.text(2)?,
        lease: Lease { policy: row.i64(3)?, expires_at: row.moment(4)? },
        pitch: Stored::of(row, 5)?,
        bio: Stored::of(row, 7)?,
    })
}

/// What changed after number `after`, in the order of the changes.
pub(crate) fn changed(tx: &mut dyn Tx, after: i64, limit: i64) -> Result<Vec<Change>, Fault> {
    tx.rows(&CHANGED, &[after.into(), limit.into()])?.iter().map(change).collect()
}

/// Present agents after `after` that lack a vector of `model`.
pub(crate) fn of_other_model(
    tx: &mut dyn Tx,
    after: &str,
    model: &str,
    limit: i64,
) -> Result<Vec<String>, Fault> {
    let now = tx.now();
    let args = [after.into(), now.into(), model.into(), limit.into()];
    tx.rows(&OF_OTHER_MODEL, &args)?.iter().map(|row| row.text(0)).collect()
}

/// How many agents are present.
pub(crate) fn count_live(tx: &mut dyn Tx) -> Result<i64, Fault> {
    let now = tx.now();
    tx.row(&COUNT_LIVE, &[now.into()])?.map_or(Ok(0), |row| row.i64(0))
}
