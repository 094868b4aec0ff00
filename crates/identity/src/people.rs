//! People: a permanent nickname and when they came.

use kernel::{
    Fault, Kind, Moment,
    text::{NICKNAME_RULE, nickname},
    tx::{Row, Tx},
};

kernel::statements! {
    ADD = "INSERT INTO person (id, nickname, created_ms) VALUES ($1, $2, $3) ON CONFLICT (nickname) DO NOTHING RETURNING id";
    FIND = "SELECT id, nickname, created_ms, disabled_ms FROM person WHERE nickname = $1";
    BY_ID = "SELECT id, nickname, created_ms, disabled_ms FROM person WHERE id = $1";
    DISABLE = "UPDATE person SET disabled_ms = $2 WHERE id = $1 AND disabled_ms IS NULL";
    ENABLE = "UPDATE person SET disabled_ms = NULL WHERE id = $1";
    COUNT = "SELECT COUNT(*) FROM person";
    LIST = "SELECT id, nickname, created_ms, disabled_ms FROM person ORDER BY nickname LIMIT $1";
}

/// The most people that one listing returns.
pub const LIST_MAX: i64 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// 24 hex characters.
    pub id: String,
    pub nickname: String,
    /// Real time.
    pub created_at: Moment,
    pub disabled_at: Option<Moment>,
}

fn person(row: &Row) -> Result<Person, Fault> {
    Ok(Person {
        id: row.text(0)?,
        nickname: row.text(1)?,
        created_at: row.moment(2)?,
        disabled_at: row.opt_moment(3)?,
    })
}

/// The nickname in its normal form, or what a nickname looks like.
pub fn parse_nickname(raw: &str) -> Result<String, Fault> {
    nickname(raw).ok_or_else(|| Fault::invalid(format!("that cannot be a nickname; use {NICKNAME_RULE}")))
}

/// Adds a person under a nickname that must be free. `id` was drawn before the command.
pub fn create(tx: &mut dyn Tx, id: &str, raw_nickname: &str) -> Result<Person, Fault> {
    let nickname = parse_nickname(raw_nickname)?;
    let created = Moment::from_millis(tx.real_ms());
    match tx.row(&ADD, &[id.into(), (&nickname).into(), created.into()])? {
        Some(_) => Ok(Person { id: id.to_owned(), nickname, created_at: created, disabled_at: None }),
        None => Err(Fault::of(Kind::Conflict, format!("the nickname {nickname} is taken; choose another"))),
    }
}

/// How many people there are.
pub fn count(tx: &mut dyn Tx) -> Result<i64, Fault> {
    tx.row(&COUNT, &[])?.map_or(Ok(0), |row| row.i64(0))
}

pub fn find(tx: &mut dyn Tx, nickname: &str) -> Result<Option<Person>, Fault> {
    tx.row(&FIND, &[nickname.into()])?.as_ref().map(person).transpose()
}

/// Like [`find`], for callers that name a person who must exist.
pub fn get(tx: &mut dyn Tx, raw_nickname: &str) -> Result<Person, Fault> {
    let nickname = parse_nickname(raw_nickname)?;
    find(tx, &nickname)?
        .ok_or_else(|| Fault::of(Kind::NotFound, format!("nobody is called {nickname}; check the spelling")))
}

/// Everybody by nickname, at most [`LIST_MAX`].
pub fn list(tx: &mut dyn Tx) -> Result<Vec<Person>, Fault> {
    tx.rows(&LIST, &[LIST_MAX.into()])?.iter().map(person).collect()
}

/// The person of an id.
pub fn by_id(tx: &mut dyn Tx, id: &str) -> Result<Option<Person>, Fault> {
    tx.row(&BY_ID, &[id.into()])?.as_ref().map(person).transpose()
}

/// Shuts a person out at once: keys, sessions and tokens are looked up with the person.
pub fn disable(tx: &mut dyn Tx, person: &Person) -> Result<(), Fault> {
    let real = tx.real_ms();
    tx.exec(&DISABLE, &[(&person.id).into(), real.into()]).map(|_| ())
}

pub fn enable(tx: &mut dyn Tx, person: &Person) -> Result<(), Fault> {
    tx.exec(&ENABLE, &[(&person.id).into()]).map(|_| ())
}
