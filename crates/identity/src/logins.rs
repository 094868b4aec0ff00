//! Accounts of other issuers: linked to people, under way, or proven by somebody without a nickname yet.

use kernel::{
    Fault, Kind, Moment,
    tx::{Row, Tx},
};

use crate::{people::Person, secret};

kernel::statements! {
    PERSON = "SELECT p.id, p.nickname, p.created_ms, p.disabled_ms FROM login l JOIN person p ON p.id = l.person WHERE l.provider = $1 AND l.subject = $2";
    ADD = "INSERT INTO login (provider, subject, person, label, linked_ms) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (provider, subject) DO NOTHING";
    RELABEL = "UPDATE login SET label = $3 WHERE provider = $1 AND subject = $2";
    OF_PERSON = "SELECT provider, subject, label, linked_ms FROM login WHERE person = $1 ORDER BY provider, subject LIMIT $2";
    REMOVE = "DELETE FROM login WHERE person = $1 AND provider = $2 AND subject = $3";
    IS_LOCAL = "SELECT person FROM password WHERE person = $1 UNION SELECT person FROM passkey WHERE person = $1";
    WAYS = "SELECT (SELECT COUNT(*) FROM login WHERE person = $1) + (SELECT COUNT(*) FROM password WHERE person = $1) + (SELECT COUNT(*) FROM passkey WHERE person = $1)";
    SET_PROVIDERS = "UPDATE person SET providers = $2 WHERE id = $1";
    DEPART = "INSERT INTO departure (hash, browser, provider, nonce, verifier, back, person, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    RETURN = "DELETE FROM departure WHERE hash = $1 RETURNING browser, provider, nonce, verifier, back, person, expires_ms";
    LOST = "DELETE FROM departure WHERE expires_ms <= $1";
    COME = "INSERT INTO newcomer (hash, provider, subject, label, suggested, back, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    NEWCOMER = "SELECT provider, subject, label, suggested, back, expires_ms FROM newcomer WHERE hash = $1";
    WENT = "DELETE FROM newcomer WHERE hash = $1";
    GONE = "DELETE FROM newcomer WHERE expires_ms <= $1";
}

/// How long a sign-in may take at the other issuer.
pub const DEPARTURE_MS: i64 = 15 * 60_000;
/// How long a proven newcomer may think about a nickname.
pub const NEWCOMER_MS: i64 = 60 * 60_000;
/// Accounts of other issuers that one person may link.
pub const LINKS_MAX: i64 = 20;

/// An account that another issuer vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// `google`, `github`, `apple`, or `oidc:` and its name.
    pub provider: String,
    /// What the issuer calls it, for ever.
    pub subject: String,
    /// What people see of it.
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub account: Account,
    pub linked_at: Moment,
}

fn person(row: &Row) -> Result<Person, Fault> {
    Ok(Person {
        id: row.text(0)?,
        nickname: row.text(1)?,
        created_at: row.moment(2)?,
        disabled_at: row.opt_moment(3)?,
    })
}

/// Whose account it is.
pub fn person_of(tx: &mut dyn Tx, account: &Account) -> Result<Option<Person>, Fault> {
    tx.row(&PERSON, &[(&account.provider).into(), (&account.subject).into()])?
        .as_ref()
        .map(person)
        .transpose()
}

/// Links an account to a person. One that is somebody else's is refused; linking again changes its label.
pub fn link(tx: &mut dyn Tx, to: &Person, account: &Account) -> Result<(), Fault> {
    let name = [account.provider.as_str().into(), account.subject.as_str().into()];
    if let Some(holder) = person_of(tx, account)? {
        if holder.id != to.id {
            return Err(Fault::of(
                Kind::Conflict,
                "that account belongs to another person here; sign in with it, unlink it there, and link it again",
            ));
        }
        let [provider, subject] = name;
        return tx.exec(&RELABEL, &[provider, subject, (&account.label).into()]).map(|_| ());
    }
    if i64::try_from(of(tx, &to.id)?.len()).map_err(Fault::internal)? >= LINKS_MAX {
        return Err(Fault::of(
            Kind::Conflict,
            format!("{LINKS_MAX} accounts are linked, the most allowed; unlink one first"),
        ));
    }
    let real = tx.real_ms();
    let [provider, subject] = name;
    let added = tx.exec(&ADD, &[provider, subject, (&to.id).into(), (&account.label).into(), real.into()])?;
    if added != 1 {
        return Err(Fault::unavailable("the account was linked by another request"));
    }
    note_providers(tx, &to.id)
}

/// The accounts of a person.
pub fn of(tx: &mut dyn Tx, person: &str) -> Result<Vec<Link>, Fault> {
    let link = |row: &Row| {
        Ok(Link {
            account: Account { provider: row.text(0)?, subject: row.text(1)?, label: row.text(2)? },
            linked_at: row.moment(3)?,
        })
    };
    tx.rows(&OF_PERSON, &[person.into(), LINKS_MAX.into()])?.iter().map(link).collect()
}

/// Unlinks an account, unless it is the last way in.
pub fn unlink(tx: &mut dyn Tx, person: &str, provider: &str, subject: &str) -> Result<(), Fault> {
    tx.lock(&[format!("logins:{person}")])?;
    match tx.exec(&REMOVE, &[person.into(), provider.into(), subject.into()])? {
        1 => keep_a_way(tx, person),
        _ => Err(Fault::of(Kind::NotFound, "that account is not linked to you; reload the page")),
    }
}

/// In how many ways a person can sign in: accounts of other issuers, a password, passkeys.
pub fn ways(tx: &mut dyn Tx, person: &str) -> Result<i64, Fault> {
    tx.row(&WAYS, &[person.into()])?.map_or(Ok(0), |row| row.i64(0))
}

/// Refuses to have taken the last way in away; the caller holds the lock of the person's logins.
pub(crate) fn keep_a_way(tx: &mut dyn Tx, person: &str) -> Result<(), Fault> {
    if ways(tx, person)? == 0 {
        return Err(Fault::of(
            Kind::Conflict,
            "this is your only way to sign in; add a passkey, set a password or link another account first",
        ));
    }
    note_providers(tx, person)
}

/// Every way by which a person can sign in, ascending and once each.
pub fn providers(tx: &mut dyn Tx, person: &str) -> Result<Vec<String>, Fault> {
    let mut providers: Vec<String> = of(tx, person)?.into_iter().map(|link| link.account.provider).collect();
    if tx.row(&IS_LOCAL, &[person.into()])?.is_some() {
        providers.push("local".to_owned());
    }
    providers.sort();
    providers.dedup();
    Ok(providers)
}

/// Writes down by which ways a person can sign in, after one came or went.
pub(crate) fn note_providers(tx: &mut dyn Tx, person: &str) -> Result<(), Fault> {
    let providers = providers(tx, person)?.join(" ");
    tx.exec(&SET_PROVIDERS, &[person.into(), providers.into()]).map(|_| ())
}

/// A sign-in that leaves for another issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// The hash of what the browser keeps.
    pub browser: [u8; 32],
    pub provider: String,
    pub nonce: String,
    pub verifier: String,
    /// Where it leads in the end.
    pub back: String,
    /// Who links the account; `None` for a sign-in.
    pub person: Option<String>,
}

pub fn depart(tx: &mut dyn Tx, state: &str, departure: &Departure) -> Result<(), Fault> {
    let expires = tx.real_ms() + DEPARTURE_MS;
    let args = [
        secret::hash(state).as_slice().into(),
        departure.browser.as_slice().into(),
        (&departure.provider).into(),
        (&departure.nonce).into(),
        (&departure.verifier).into(),
        (&departure.back).into(),
        departure.person.as_deref().into(),
        expires.into(),
    ];
    tx.exec(&DEPART, &args).map(|_| ())
}

/// The departure that a state names. It counts once, and only for the browser that began it.
pub fn arrive(tx: &mut dyn Tx, state: &str, browser: &[u8; 32]) -> Result<Option<Departure>, Fault> {
    let real = tx.real_ms();
    let Some(row) = tx.row(&RETURN, &[secret::hash(state).as_slice().into()])? else { return Ok(None) };
    let departure = Departure {
        browser: row
            .blob(0)?
            .try_into()
            .map_err(|_| Fault::internal("a browser's hash has another length"))?,
        provider: row.text(1)?,
        nonce: row.text(2)?,
        verifier: row.text(3)?,
        back: row.text(4)?,
        person: row.opt_text(5)?,
    };
    Ok((row.i64(6)? > real && departure.browser == *browser).then_some(departure))
}

/// Somebody new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newcomer {
    pub account: Account,
    /// A nickname that the other issuer knows.
    pub suggested: Option<String>,
    pub back: String,
}

pub fn come(tx: &mut dyn Tx, ticket: &str, newcomer: &Newcomer) -> Result<(), Fault> {
    let expires = tx.real_ms() + NEWCOMER_MS;
    let args = [
        secret::hash(ticket).as_slice().into(),
        (&newcomer.account.provider).into(),
        (&newcomer.account.subject).into(),
        (&newcomer.account.label).into(),
        newcomer.suggested.as_deref().into(),
        (&newcomer.back).into(),
        expires.into(),
    ];
    tx.exec(&COME, &args).map(|_| ())
}

pub fn newcomer(tx: &mut dyn Tx, ticket: &str) -> Result<Option<Newcomer>, Fault> {
    let real = tx.real_ms();
    let Some(row) = tx.row(&NEWCOMER, &[secret::hash(ticket).as_slice().into()])? else { return Ok(None) };
    let newcomer = Newcomer {
        account: Account { provider: row.text(0)?, subject: row.text(1)?, label: row.text(2)? },
        suggested: row.opt_text(3)?,
        back: row.text(4)?,
    };
    Ok((row.i64(5)? > real).then_some(newcomer))
}

/// A newcomer has become a person.
pub fn went(tx: &mut dyn Tx, ticket: &str) -> Result<(), Fault> {
    tx.exec(&WENT, &[secret::hash(ticket).as_slice().into()]).map(|_| ())
}

/// Deletes what was never ended; answers how many.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    Ok(tx.exec(&LOST, &[real.into()])? + tx.exec(&GONE, &[real.into()])?)
}
