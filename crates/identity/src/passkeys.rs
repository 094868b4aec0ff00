//! Passkeys of local accounts: whose they are, and what is kept to check them. The check itself is no part of
//! this crate.

use kernel::{
    Fault, Kind, Moment,
    text::shown_only,
    tx::{Row, Tx},
};

use crate::{logins, people::Person};

kernel::statements! {
    ADD = "INSERT INTO passkey (credential, id, person, public_key, label, made_ms) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (credential) DO NOTHING";
    FIND = "SELECT p.id, p.nickname, p.created_ms, p.disabled_ms, k.label, k.public_key FROM passkey k JOIN person p ON p.id = k.person WHERE k.credential = $1";
    USE = "UPDATE passkey SET public_key = $3, used_ms = $4 WHERE credential = $1 AND public_key = $2";
    OF_PERSON = "SELECT id, label, made_ms, used_ms, credential FROM passkey WHERE person = $1 ORDER BY made_ms, id LIMIT $2";
    NAME = "UPDATE passkey SET label = $3 WHERE person = $1 AND id = $2";
    LABEL = "SELECT label FROM passkey WHERE person = $1 AND id = $2";
    REMOVE = "DELETE FROM passkey WHERE person = $1 AND id = $2";
}

/// The passkeys of one person.
pub const PASSKEYS_MAX: i64 = 20;
pub const LABEL_CHARS_MAX: usize = 60;

/// A passkey that was made and is not stored yet.
#[derive(Debug, Clone)]
pub struct NewPasskey {
    /// A slug, drawn before the command.
    pub id: String,
    pub credential: Vec<u8>,
    pub key: String,
    pub label: String,
}

/// A passkey as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyInfo {
    pub id: String,
    pub label: String,
    pub made_at: Moment,
    pub used_at: Option<Moment>,
    pub credential: Vec<u8>,
}

/// A passkey with whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub person: Person,
    pub label: String,
    pub key: String,
}

/// What a passkey may be called.
pub fn label(typed: &str) -> Result<String, Fault> {
    let label = shown_only(typed).trim().to_owned();
    if label.is_empty() || label.chars().count() > LABEL_CHARS_MAX {
        return Err(Fault::invalid(format!(
            "a passkey's name has 1 to {LABEL_CHARS_MAX} characters; choose another"
        )));
    }
    Ok(label)
}

/// Adds a passkey to a person. One that is known already is refused, whoever has it.
pub fn add(tx: &mut dyn Tx, person: &str, passkey: &NewPasskey) -> Result<(), Fault> {
    tx.lock(&[format!("logins:{person}")])?;
    if i64::try_from(of(tx, person)?.len()).map_err(Fault::internal)? >= PASSKEYS_MAX {
        return Err(Fault::of(
            Kind::Conflict,
            format!("you have {PASSKEYS_MAX} passkeys, the most allowed; remove one first"),
        ));
    }
    let real = tx.real_ms();
    let args = [
        passkey.credential.clone().into(),
        (&passkey.id).into(),
        person.into(),
        (&passkey.key).into(),
        (&passkey.label).into(),
        real.into(),
    ];
    if tx.exec(&ADD, &args)? != 1 {
        return Err(Fault::of(
            Kind::Conflict,
            "this passkey belongs to an account already; make another one",
        ));
    }
    logins::note_providers(tx, person)
}

/// The passkey that authenticators call by this credential.
pub fn find(tx: &mut dyn Tx, credential: &[u8]) -> Result<Option<Held>, Fault> {
    let held = |row: &Row| {
        Ok(Held {
            person: Person {
                id: row.text(0)?,
                nickname: row.text(1)?,
                created_at: row.moment(2)?,
                disabled_at: row.opt_moment(3)?,
            },
            label: row.text(4)?,
            key: row.text(5)?,
        })
    };
    tx.row(&FIND, &[credential.into()])?.as_ref().map(held).transpose()
}

/// Writes down that a passkey was used; whether it was still as it was when the signature was checked. Of two
/// uses that were checked against one counter only the first counts.
pub fn note_use(tx: &mut dyn Tx, credential: &[u8], checked: &str, now: &str) -> Result<bool, Fault> {
    let real = tx.real_ms();
    Ok(tx.exec(&USE, &[credential.into(), checked.into(), now.into(), real.into()])? == 1)
}

/// The passkeys of a person, the oldest first.
pub fn of(tx: &mut dyn Tx, person: &str) -> Result<Vec<PasskeyInfo>, Fault> {
    let info = |row: &Row| {
        Ok(PasskeyInfo {
            id: row.text(0)?,
            label: row.text(1)?,
            made_at: row.moment(2)?,
            used_at: row.opt_moment(3)?,
            credential: row.blob(4)?,
        })
    };
    tx.rows(&OF_PERSON, &[person.into(), PASSKEYS_MAX.into()])?.iter().map(info).collect()
}

/// Calls a passkey something else.
pub fn rename(tx: &mut dyn Tx, person: &str, id: &str, label: &str) -> Result<(), Fault> {
    match tx.exec(&NAME, &[person.into(), id.into(), label.into()])? {
        1 => Ok(()),
        _ => Err(gone()),
    }
}

/// Removes a passkey, unless it is the last way in; answers what it was called.
pub fn remove(tx: &mut dyn Tx, person: &str, id: &str) -> Result<String, Fault> {
    tx.lock(&[format!("logins:{person}")])?;
    let label = tx.row(&LABEL, &[person.into(), id.into()])?.ok_or_else(gone)?.text(0)?;
    tx.exec(&REMOVE, &[person.into(), id.into()])?;
    logins::keep_a_way(tx, person)?;
    Ok(label)
}

fn gone() -> Fault {
    Fault::of(Kind::NotFound, "you have no such passkey; reload the page")
}
