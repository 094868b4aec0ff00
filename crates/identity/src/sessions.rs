//! Browsers that are signed in.

use kernel::{
    Fault, Moment,
    id::Ids,
    tx::{Row, Tx},
};

use crate::{people::Person, secret};

kernel::statements! {
    ADD = "INSERT INTO session (hash, id, person, provider, label, created_ms, seen_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $6, $7)";
    FIND = "SELECT s.id, s.person, p.nickname, p.created_ms, p.disabled_ms, s.provider, s.seen_ms, s.expires_ms FROM session s JOIN person p ON p.id = s.person WHERE s.hash = $1";
    SEE = "UPDATE session SET seen_ms = $2, expires_ms = $3 WHERE hash = $1";
    END = "DELETE FROM session WHERE hash = $1";
    END_ONE = "DELETE FROM session WHERE person = $1 AND id = $2";
    END_ALL = "DELETE FROM session WHERE person = $1";
    LIST = "SELECT id, provider, label, created_ms, seen_ms FROM session WHERE person = $1 AND expires_ms > $2 ORDER BY created_ms, id LIMIT $3";
    EXPIRED = "DELETE FROM session WHERE expires_ms <= $1";
}

/// What a session is called that began with a password or a passkey of this server.
pub const LOCAL: &str = "local";
/// How long a session lasts without being used.
pub const IDLE_MS: i64 = 30 * 24 * 3_600_000;
/// How often its use is written down at most.
const SEEN_EVERY_MS: i64 = 3_600_000;
/// The sessions that a list shows.
pub const LIST_MAX: i64 = 100;
/// What a browser says of itself, cut to this.
pub const LABEL_CHARS_MAX: usize = 120;

/// A session that was drawn and is not stored yet.
#[derive(Debug, Clone)]
pub struct NewSession {
    pub id: String,
    /// What the browser keeps.
    pub secret: String,
    pub provider: String,
    pub label: String,
}

impl NewSession {
    pub fn draw(ids: &dyn Ids, provider: &str, label: &str) -> Self {
        let label = label.chars().filter(|scalar| !scalar.is_control()).take(LABEL_CHARS_MAX).collect();
        Self { id: ids.slug(), secret: secret::draw(ids, ""), provider: provider.to_owned(), label }
    }
}

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    pub person: Person,
    pub provider: String,
    /// Whether its use should be written down now.
    pub is_stale: bool,
}

/// A session as its owner sees it in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    pub id: String,
    pub provider: String,
    pub label: String,
    pub created_at: Moment,
    pub seen_at: Moment,
}

pub fn insert(tx: &mut dyn Tx, person: &str, session: &NewSession) -> Result<(), Fault> {
    let real = tx.real_ms();
    let args = [
        secret::hash(&session.secret).as_slice().into(),
        (&session.id).into(),
        person.into(),
        (&session.provider).into(),
        (&session.label).into(),
        real.into(),
        (real + IDLE_MS).into(),
    ];
    tx.exec(&ADD, &args).map(|_| ())
}

/// The session of a cookie's value; `None` for one that does not hold.
pub fn find(tx: &mut dyn Tx, secret: &str) -> Result<Option<Session>, Fault> {
    if !secret::is_shaped(secret, "") {
        return Ok(None);
    }
    let real = tx.real_ms();
    let Some(row) = tx.row(&FIND, &[secret::hash(secret).as_slice().into()])? else { return Ok(None) };
    if row.opt_i64(4)?.is_some() || row.i64(7)? <= real {
        return Ok(None);
    }
    Ok(Some(Session {
        id: row.text(0)?,
        person: Person {
            id: row.text(1)?,
            nickname: row.text(2)?,
            created_at: row.moment(3)?,
            disabled_at: None,
        },
        provider: row.text(5)?,
        is_stale: row.i64(6)? + SEEN_EVERY_MS <= real,
    }))
}

/// Writes down that a session was used, which makes it last.
pub fn see(tx: &mut dyn Tx, secret: &str) -> Result<(), Fault> {
    let real = tx.real_ms();
    tx.exec(&SEE, &[secret::hash(secret).as_slice().into(), real.into(), (real + IDLE_MS).into()]).map(|_| ())
}

pub fn end(tx: &mut dyn Tx, secret: &str) -> Result<(), Fault> {
    tx.exec(&END, &[secret::hash(secret).as_slice().into()]).map(|_| ())
}

/// Ends another session of the same person; whether there was one.
pub fn end_one(tx: &mut dyn Tx, person: &str, id: &str) -> Result<bool, Fault> {
    Ok(tx.exec(&END_ONE, &[person.into(), id.into()])? == 1)
}

pub fn end_all(tx: &mut dyn Tx, person: &str) -> Result<u64, Fault> {
    tx.exec(&END_ALL, &[person.into()])
}

pub fn list(tx: &mut dyn Tx, person: &str) -> Result<Vec<SessionInfo>, Fault> {
    let real = tx.real_ms();
    let info = |row: &Row| {
        Ok(SessionInfo {
            id: row.text(0)?,
            provider: row.text(1)?,
            label: row.text(2)?,
            created_at: row.moment(3)?,
            seen_at: row.moment(4)?,
        })
    };
    tx.rows(&LIST, &[person.into(), real.into(), LIST_MAX.into()])?.iter().map(info).collect()
}

/// Deletes what is over; answers how many.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&EXPIRED, &[real.into()])
}
