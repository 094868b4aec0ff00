//! Passwords of local accounts: argon2id, checked with the same work whether or not there is one.

use std::sync::LazyLock;

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use kernel::{Fault, Kind, id::Ids, tx::Tx};

use crate::logins;

kernel::statements! {
    GET = "SELECT hash FROM password WHERE person = $1";
    SET = "INSERT INTO password (person, hash, set_ms) VALUES ($1, $2, $3) ON CONFLICT (person) DO UPDATE SET hash = excluded.hash, set_ms = excluded.set_ms";
    REMOVE = "DELETE FROM password WHERE person = $1";
}

/// Length is what makes a password hard to guess; no other rule is asked of it.
pub const CHARS: std::ops::RangeInclusive<usize> = 10..=200;
/// OWASP's second recommended setting: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

fn argon2() -> Result<Argon2<'static>, Fault> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(Fault::internal)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Whether people may choose this password.
pub fn check(password: &str) -> Result<(), Fault> {
    if CHARS.contains(&password.chars().count()) {
        return Ok(());
    }
    Err(Fault::invalid(format!(
        "a password has {} to {} characters; choose a longer sentence or let a manager draw one",
        CHARS.start(),
        CHARS.end()
    )))
}

/// The stored form. It takes tens of milliseconds and is never called inside a transaction.
pub fn hash(ids: &dyn Ids, password: &str) -> Result<String, Fault> {
    check(password)?;
    let mut salt = [0; SALT_BYTES];
    ids.fill(&mut salt);
    let hashed = argon2()?.hash_password_with_salt(password.as_bytes(), &salt).map_err(Fault::internal)?;
    Ok(hashed.to_string())
}

/// Compared against when there is nothing to compare with, so that the time tells nobody who has an account.
static NOBODYS: LazyLock<String> = LazyLock::new(|| {
    let hashed = argon2().ok().and_then(|argon2| {
        argon2.hash_password_with_salt(b"nobody has this password", &[7; SALT_BYTES]).ok()
    });
    hashed.map(|hashed| hashed.to_string()).unwrap_or_default()
});

/// Whether `password` is the one that `stored` is of. As slow without a stored one.
pub fn matches(stored: Option<&str>, password: &str) -> bool {
    let Ok(argon2) = argon2() else { return false };
    let text = stored.unwrap_or(&NOBODYS);
    let Ok(hash) = PasswordHash::new(text) else { return false };
    // An over-long text is no password of ours and must not cost more than one.
    let password: String = password.chars().take(CHARS.end() + 1).collect();
    argon2.verify_password(password.as_bytes(), &hash).is_ok() && stored.is_some()
}

pub fn get(tx: &mut dyn Tx, person: &str) -> Result<Option<String>, Fault> {
    tx.row(&GET, &[person.into()])?.map(|row| row.text(0)).transpose()
}

pub fn set(tx: &mut dyn Tx, person: &str, hash: &str) -> Result<(), Fault> {
    let real = tx.real_ms();
    tx.exec(&SET, &[person.into(), hash.into(), real.into()])?;
    logins::note_providers(tx, person)
}

/// Removes a password, unless it is the last way in.
pub fn remove(tx: &mut dyn Tx, person: &str) -> Result<(), Fault> {
    tx.lock(&[format!("logins:{person}")])?;
    match tx.exec(&REMOVE, &[person.into()])? {
        1 => logins::keep_a_way(tx, person),
        _ => Err(Fault::of(Kind::NotFound, "you have no password; reload the page")),
    }
}

#[cfg(test)]
mod tests {
    use kernel::id::SeededIds;

    use super::*;

    #[test]
    fn only_the_password_matches_its_hash() {
        let stored = hash(&SeededIds::new(3), "correct horse battery").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(matches(Some(&stored), "correct horse battery"));
        for wrong in ["", "correct horse batterY", "correct horse battery ", &"x".repeat(100_000)] {
            assert!(!matches(Some(&stored), wrong), "{}", wrong.len());
        }
        assert!(!matches(None, "nobody has this password"), "nobody signs in where nothing is stored");
        assert!(!matches(Some("broken"), "correct horse battery"));
        assert_ne!(stored, hash(&SeededIds::new(4), "correct horse battery").unwrap(), "salted");
    }

    #[test]
    fn length_is_counted_in_characters() {
        for (password, ok) in [("123456789", false), ("1234567890", true), ("谈判的艺术在于倾听对方", true)]
        {
            assert_eq!(check(password).is_ok(), ok, "{password}");
        }
        assert!(check(&"x".repeat(201)).is_err());
    }
}
