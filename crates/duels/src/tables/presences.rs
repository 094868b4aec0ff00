//! Presences: who can be challenged, until when and with what words.

use kernel::{Fault, Moment, tx::Tx};

use crate::rules::challenge::Lease;

kernel::statements! {
    GET = "SELECT pitch, model_key, policy, expires_ms FROM presence WHERE agent = $1";
    PUT = "INSERT INTO presence (agent, pitch, model_key, policy, expires_ms) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (agent) DO UPDATE SET pitch = excluded.pitch, model_key = excluded.model_key, policy = excluded.policy, expires_ms = excluded.expires_ms";
    DELETE = "DELETE FROM presence WHERE agent = $1";
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Presence {
    pub(crate) pitch: String,
    pub(crate) model_key: Option<String>,
    pub(crate) policy: i64,
    pub(crate) expires_at: Moment,
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
    }))
}

/// The presence if it counts now.
pub(crate) fn live(tx: &mut dyn Tx, agent: &str) -> Result<Option<Presence>, Fault> {
    let now = tx.now();
    Ok(get(tx, agent)?.filter(|presence| presence.lease().is_live(now)))
}

pub(crate) fn put(tx: &mut dyn Tx, agent: &str, presence: &Presence) -> Result<(), Fault> {
    let args = [
        agent.into(),
        (&presence.pitch).into(),
        presence.model_key.as_deref().into(),
        presence.policy.into(),
        presence.expires_at.into(),
    ];
    tx.exec(&PUT, &args).map(|_| ())
}

pub(crate) fn delete(tx: &mut dyn Tx, agent: &str) -> Result<(), Fault> {
    tx.exec(&DELETE, &[agent.into()]).map(|_| ())
}
