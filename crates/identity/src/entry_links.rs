//! Links by which an operator lets a person in once: whom an operator made has no password yet, and passwords
//! and devices get lost.

use kernel::{Fault, Moment, id::Ids, tx::Tx};

use crate::{
    people::{self, Person},
    secret, sessions,
};

kernel::statements! {
    ADD = "INSERT INTO entry_link (hash, person, expires_ms) VALUES ($1, $2, $3)";
    FIND = "SELECT person, expires_ms FROM entry_link WHERE hash = $1";
    TAKE = "DELETE FROM entry_link WHERE hash = $1";
    FORGET = "DELETE FROM entry_link WHERE person = $1";
    EXPIRED = "DELETE FROM entry_link WHERE expires_ms <= $1";
    SETTLE = "UPDATE session SET provider = $3 WHERE id = $1 AND provider = $2";
}

/// How long a link waits for its person.
pub const LINK_MS: i64 = 24 * 3_600_000;
/// What a session is called that such a link began. It may set a password once without knowing the one before.
pub const PROVIDER: &str = "link";

/// Draws the secret of a link.
pub fn draw(ids: &dyn Ids) -> String {
    secret::draw(ids, "")
}

/// Keeps a link for a person, in the place of an earlier one; answers when it ends.
pub fn insert(tx: &mut dyn Tx, person: &Person, link: &str) -> Result<Moment, Fault> {
    tx.lock(&[format!("entry-link:{}", person.id)])?;
    let expires = tx.real_ms() + LINK_MS;
    forget(tx, &person.id)?;
    tx.exec(&ADD, &[secret::hash(link).as_slice().into(), (&person.id).into(), expires.into()])?;
    Ok(Moment::from_millis(expires))
}

/// Whom a link lets in; nobody when it is used, over or replaced, or when the person is shut out.
pub fn find(tx: &mut dyn Tx, link: &str) -> Result<Option<Person>, Fault> {
    if !secret::is_shaped(link, "") {
        return Ok(None);
    }
    let real = tx.real_ms();
    let Some(row) = tx.row(&FIND, &[secret::hash(link).as_slice().into()])? else { return Ok(None) };
    if row.i64(1)? <= real {
        return Ok(None);
    }
    Ok(people::by_id(tx, &row.text(0)?)?.filter(|person| person.disabled_at.is_none()))
}

/// Uses a link up; of two who try at once, one finds somebody.
pub fn take(tx: &mut dyn Tx, link: &str) -> Result<Option<Person>, Fault> {
    let Some(person) = find(tx, link)? else { return Ok(None) };
    let was_there = tx.exec(&TAKE, &[secret::hash(link).as_slice().into()])? == 1;
    Ok(was_there.then_some(person))
}

/// Makes a session that a link began one like any other, now that its person has a way in of their own;
/// answers whether a link began it and nothing settled it before.
pub fn settle(tx: &mut dyn Tx, session: &str) -> Result<bool, Fault> {
    Ok(tx.exec(&SETTLE, &[session.into(), PROVIDER.into(), sessions::LOCAL.into()])? == 1)
}

/// Ends the link of a person, if there is one.
pub fn forget(tx: &mut dyn Tx, person: &str) -> Result<(), Fault> {
    tx.exec(&FORGET, &[person.into()]).map(|_| ())
}

/// Deletes what nobody used; answers how many.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&EXPIRED, &[real.into()])
}
