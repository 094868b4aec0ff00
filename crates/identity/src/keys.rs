//! Keys: `arena_sk_` and 43 base64url characters, stored as their SHA-256, shown once.

use kernel::{
    Fault, Kind, Moment,
    id::Ids,
    principal::Principal,
    tx::{Row, Tx},
};

use crate::{
    people::Person,
    secret::{self, hash},
};

kernel::statements! {
    CHECK = "SELECT p.id, p.nickname, p.disabled_ms, k.scopes, k.expires_ms, k.revoked_ms, p.providers, k.id, k.first_call_ms FROM api_key k JOIN person p ON p.id = k.person WHERE k.hash = $1";
    ADD = "INSERT INTO api_key (hash, id, person, prefix, label, scopes, created_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING";
    ACTIVE = "SELECT COUNT(*) FROM api_key WHERE person = $1 AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > $2)";
    LIST = "SELECT id, prefix, label, scopes, created_ms, expires_ms, revoked_ms, first_call_ms FROM api_key WHERE person = $1 ORDER BY created_ms DESC, id";
    FIRST_CALL = "UPDATE api_key SET first_call_ms = $2 WHERE id = $1 AND first_call_ms IS NULL";
    REVOKE_ALL = "UPDATE api_key SET revoked_ms = $2 WHERE person = $1 AND revoked_ms IS NULL";
    REVOKE = "UPDATE api_key SET revoked_ms = $3 WHERE person = $1 AND id = $2 AND revoked_ms IS NULL";
}

pub const TOKEN_PREFIX: &str = "arena_sk_";
/// How much of a key its owner sees in lists.
pub const SHOWN_CHARS: usize = 16;
pub const ACTIVE_KEYS_MAX: i64 = 10;
/// The longest name that its owner gives a key.
pub const LABEL_CHARS_MAX: usize = 60;
/// The life of a key that has one, in days.
pub const EXPIRES_IN_DAYS: std::ops::RangeInclusive<i64> = 1..=365;
const DAY_MS: i64 = 86_400_000;

/// Every scope that exists, with what it allows.
pub const SCOPES: &[(&str, &str)] = &[("duels:play", "play duels as you: every duels tool")];

/// A key with its secret, which exists only until it has been shown.
pub struct NewKey {
    pub id: String,
    /// The secret itself.
    pub token: String,
    pub label: String,
    pub scopes: Vec<String>,
    pub expires_in_days: Option<i64>,
}

impl NewKey {
    /// Draws a key; refuses unknown scopes and a life out of bounds.
    pub fn draw(
        ids: &dyn Ids,
        label: &str,
        scopes: &[String],
        expires_in_days: Option<i64>,
    ) -> Result<Self, Fault> {
        if scopes.is_empty() {
            return Err(Fault::invalid("a key needs at least one scope, for example duels:play"));
        }
        if let Some(unknown) = scopes.iter().find(|scope| SCOPES.iter().all(|(known, _)| known != scope)) {
            let known: Vec<&str> = SCOPES.iter().map(|(scope, _)| *scope).collect();
            return Err(Fault::invalid(format!("no scope is called {unknown:?}; use {}", known.join(", "))));
        }
        if expires_in_days.is_some_and(|days| !EXPIRES_IN_DAYS.contains(&days)) {
            return Err(Fault::invalid("a key lives 1 to 365 days, or without end when no number is given"));
        }
        let mut scopes = scopes.to_vec();
        scopes.sort();
        scopes.dedup();
        Ok(Self {
            id: ids.slug(),
            token: secret::draw(ids, TOKEN_PREFIX),
            label: label.to_owned(),
            scopes,
            expires_in_days,
        })
    }
}

/// A key as its owner sees it later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    pub id: String,
    /// The first [`SHOWN_CHARS`] characters.
    pub prefix: String,
    pub label: String,
    pub scopes: Vec<String>,
    pub created_at: Moment,
    pub expires_at: Option<Moment>,
    pub revoked_at: Option<Moment>,
    pub first_call_at: Option<Moment>,
}

impl KeyInfo {
    /// `active`, `expired` or `revoked` at the given real time.
    pub fn status(&self, real: Moment) -> &'static str {
        match (self.revoked_at, self.expires_at) {
            (Some(_), _) => "revoked",
            (None, Some(end)) if end <= real => "expired",
            _ => "active",
        }
    }
}

fn split_scopes(text: &str) -> Vec<String> {
    text.split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
}

fn info(row: &Row) -> Result<KeyInfo, Fault> {
    Ok(KeyInfo {
        id: row.text(0)?,
        prefix: row.text(1)?,
        label: row.text(2)?,
        scopes: split_scopes(&row.text(3)?),
        created_at: row.moment(4)?,
        expires_at: row.opt_moment(5)?,
        revoked_at: row.opt_moment(6)?,
        first_call_at: row.opt_moment(7)?,
    })
}

/// Refuses a person who has as many active keys as are allowed.
pub fn room(tx: &mut dyn Tx, person: &Person) -> Result<(), Fault> {
    let real = tx.real_ms();
    let active = tx.row(&ACTIVE, &[(&person.id).into(), real.into()])?.map_or(Ok(0), |row| row.i64(0))?;
    if active >= ACTIVE_KEYS_MAX {
        return Err(Fault::of(
            Kind::Conflict,
            format!(
                "the account {} has {ACTIVE_KEYS_MAX} active keys, the most allowed; revoke one first, at /account/keys",
                person.nickname
            ),
        ));
    }
    Ok(())
}

/// Stores a drawn key for a person who has fewer than [`ACTIVE_KEYS_MAX`] active ones.
pub fn insert(tx: &mut dyn Tx, person: &Person, key: &NewKey) -> Result<KeyInfo, Fault> {
    tx.lock(&[format!("keys:{}", person.id)])?;
    room(tx, person)?;
    let real = tx.real_ms();
    let expires = key.expires_in_days.map(|days| real + days * DAY_MS);
    let prefix: String = key.token.chars().take(SHOWN_CHARS).collect();
    let scopes = key.scopes.join(" ");
    let args = [
        hash(&key.token).as_slice().into(),
        (&key.id).into(),
        (&person.id).into(),
        (&prefix).into(),
        (&key.label).into(),
        (&scopes).into(),
        real.into(),
        expires.into(),
    ];
    if tx.exec(&ADD, &args)? == 0 {
        return Err(Fault::of(
            Kind::Conflict,
            "this key was made already, and its secret is not kept; make another one if you lost it",
        ));
    }
    Ok(KeyInfo {
        id: key.id.clone(),
        prefix,
        label: key.label.clone(),
        scopes: key.scopes.clone(),
        created_at: Moment::from_millis(real),
        expires_at: expires.map(Moment::from_millis),
        revoked_at: None,
        first_call_at: None,
    })
}

/// All keys of a person, newest first, ended ones included.
pub fn list(tx: &mut dyn Tx, person: &Person) -> Result<Vec<KeyInfo>, Fault> {
    tx.rows(&LIST, &[(&person.id).into()])?.iter().map(info).collect()
}

/// Revokes the person's active key that `named` names by id or by the start that lists show.
/// The next request that presents the key is refused.
pub fn revoke(tx: &mut dyn Tx, person: &Person, named: &str) -> Result<KeyInfo, Fault> {
    let now = Moment::from_millis(tx.real_ms());
    let keys = list(tx, person)?;
    let mut matching = keys.into_iter().filter(|key| key.id == named || key.prefix == named);
    let (Some(mut key), None) = (matching.next(), matching.next()) else {
        return Err(Fault::of(
            Kind::NotFound,
            format!("{} has no single key named {named:?}; list the keys and use an id", person.nickname),
        ));
    };
    if key.revoked_at.is_none() {
        tx.exec(&REVOKE, &[(&person.id).into(), (&key.id).into(), now.into()])?;
        key.revoked_at = Some(now);
    }
    Ok(key)
}

/// Revokes every key of a person; answers how many were left.
pub fn revoke_all(tx: &mut dyn Tx, person: &str) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&REVOKE_ALL, &[person.into(), real.into()])
}

/// Notes that a key has called, once.
pub fn note_first_call(tx: &mut dyn Tx, id: &str) -> Result<(), Fault> {
    let real = tx.real_ms();
    tx.exec(&FIRST_CALL, &[id.into(), real.into()]).map(|_| ())
}

fn refuse(message: &str) -> Fault {
    Fault::of(Kind::Unauthenticated, message)
}

/// Who presents `token`. The holder of a real key learns why it no longer works; anyone else learns
/// only that it is unknown.
pub fn authenticate(tx: &mut dyn Tx, token: &str) -> Result<Principal, Fault> {
    if !token.starts_with(TOKEN_PREFIX) {
        return Err(refuse(
            "the credential is not an Arena key; send Authorization: Bearer arena_sk_ and 43 characters",
        ));
    }
    if !secret::is_shaped(token, TOKEN_PREFIX) {
        return Err(refuse("the key is cut off or altered; it is arena_sk_ and exactly 43 characters"));
    }
    let row = tx
        .row(&CHECK, &[hash(token).as_slice().into()])?
        .ok_or_else(|| refuse("the key is unknown here; check the server's address or ask for a new key"))?;
    if row.opt_i64(2)?.is_some() {
        return Err(refuse("the account of this key is disabled; ask the operator"));
    }
    if row.opt_i64(5)?.is_some() {
        return Err(refuse("the key was revoked; ask for a new one"));
    }
    if row.opt_i64(4)?.is_some_and(|end| end <= tx.real_ms()) {
        return Err(refuse("the key has expired; ask for a new one"));
    }
    // A person who never signed in by anything else is known by keys alone.
    let mut linked_providers = split_scopes(&row.text(6)?);
    if linked_providers.is_empty() {
        linked_providers.push("key".to_owned());
    }
    Ok(Principal {
        person_id: row.text(0)?,
        nickname: row.text(1)?,
        scopes: split_scopes(&row.text(3)?),
        provider: "key".to_owned(),
        linked_providers,
        resource: None,
        new_key: if row.opt_i64(8)?.is_none() { Some(row.text(7)?) } else { None },
    })
}
