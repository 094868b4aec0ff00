//! A command line that a person lets in: it shows a short code, the person types it in a browser (RFC 8628).

use kernel::{Fault, id::Ids, tx::Tx};

use crate::{keys::LABEL_CHARS_MAX, secret};

kernel::statements! {
    ADD = "INSERT INTO pairing (hash, code, label, refused, expires_ms) VALUES ($1, $2, $3, 0, $4) ON CONFLICT (code) DO NOTHING";
    BY_CODE = "SELECT label, person, refused, expires_ms FROM pairing WHERE code = $1";
    DECIDE = "UPDATE pairing SET person = $2, provider = $3, refused = $4 WHERE code = $1 AND person IS NULL AND refused = 0";
    STATE = "SELECT person, provider, refused, expires_ms, label FROM pairing WHERE hash = $1";
    TAKE = "DELETE FROM pairing WHERE hash = $1";
    EXPIRED = "DELETE FROM pairing WHERE expires_ms <= $1";
}

pub const PAIRING_MS: i64 = 10 * 60_000;
/// How often the command line asks.
pub const INTERVAL_SECONDS: i64 = 2;
/// Letters that are not mistaken for one another and spell no word.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const CODE_LETTERS: usize = 8;

#[derive(Clone)]
pub struct NewPairing {
    /// What the command line asks with.
    pub secret: String,
    /// What the person types, for example `BCDF-GHJK`.
    pub code: String,
    pub label: String,
}

impl NewPairing {
    pub fn draw(ids: &dyn Ids, label: &str) -> Self {
        let mut code = String::new();
        while code.len() < CODE_LETTERS {
            let mut byte = [0];
            ids.fill(&mut byte);
            // 240 is the greatest multiple of 20 in a byte, so that no letter is likelier than another.
            if byte[0] < 240 {
                code.push(char::from(LETTERS[usize::from(byte[0]) % LETTERS.len()]));
            }
        }
        let (left, right) = code.split_at(CODE_LETTERS / 2);
        let label = label.chars().filter(|scalar| !scalar.is_control()).take(LABEL_CHARS_MAX).collect();
        Self { secret: secret::draw(ids, ""), code: format!("{left}-{right}"), label }
    }
}

/// A code as people type it: in small letters, without the dash.
pub fn written(typed: &str) -> Option<String> {
    let letters: String =
        typed.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_uppercase()).collect();
    if letters.len() != CODE_LETTERS || !letters.bytes().all(|letter| LETTERS.contains(&letter)) {
        return None;
    }
    let (left, right) = letters.split_at(CODE_LETTERS / 2);
    Some(format!("{left}-{right}"))
}

/// Whether the code was free.
pub fn insert(tx: &mut dyn Tx, pairing: &NewPairing) -> Result<bool, Fault> {
    let expires = tx.real_ms() + PAIRING_MS;
    let args = [
        secret::hash(&pairing.secret).as_slice().into(),
        (&pairing.code).into(),
        (&pairing.label).into(),
        expires.into(),
    ];
    Ok(tx.exec(&ADD, &args)? == 1)
}

/// The label of the command line that waits under a code.
pub fn waiting(tx: &mut dyn Tx, code: &str) -> Result<Option<String>, Fault> {
    let real = tx.real_ms();
    let Some(row) = tx.row(&BY_CODE, &[code.into()])? else { return Ok(None) };
    let is_open = row.opt_text(1)?.is_none() && row.i64(2)? == 0 && row.i64(3)? > real;
    is_open.then(|| row.text(0)).transpose()
}

/// Lets it in or refuses it; whether it was still waiting.
pub fn decide(tx: &mut dyn Tx, code: &str, person: Option<&str>, provider: &str) -> Result<bool, Fault> {
    if waiting(tx, code)?.is_none() {
        return Ok(false);
    }
    let refused = i64::from(person.is_none());
    Ok(tx.exec(&DECIDE, &[code.into(), person.into(), provider.into(), refused.into()])? == 1)
}

/// How a pairing stands for the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Waiting,
    Refused,
    /// Expired, taken already, or never made.
    Gone,
    LetIn {
        person: String,
        provider: String,
        /// What the command line calls itself.
        label: String,
    },
}

pub fn standing(tx: &mut dyn Tx, secret: &str) -> Result<Standing, Fault> {
    let real = tx.real_ms();
    let Some(row) = tx.row(&STATE, &[secret::hash(secret).as_slice().into()])? else {
        return Ok(Standing::Gone);
    };
    if row.i64(3)? <= real {
        return Ok(Standing::Gone);
    }
    if row.i64(2)? != 0 {
        return Ok(Standing::Refused);
    }
    Ok(match (row.opt_text(0)?, row.opt_text(1)?) {
        (Some(person), Some(provider)) => Standing::LetIn { person, provider, label: row.text(4)? },
        _ => Standing::Waiting,
    })
}

/// Takes a pairing away; whether it was still there. It lets in once.
pub fn take(tx: &mut dyn Tx, secret: &str) -> Result<bool, Fault> {
    Ok(tx.exec(&TAKE, &[secret::hash(secret).as_slice().into()])? == 1)
}

/// Deletes what nobody answered; answers how many.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&EXPIRED, &[real.into()])
}

#[cfg(test)]
mod tests {
    use kernel::id::SeededIds;

    use super::*;

    #[test]
    fn codes_are_read_as_people_type_them() {
        let drawn = NewPairing::draw(&SeededIds::new(5), "a\u{1b}rena on host");
        assert_eq!(drawn.label, "arena on host");
        assert_eq!(written(&drawn.code).as_deref(), Some(drawn.code.as_str()));
        assert_eq!(
            written(&drawn.code.to_lowercase().replace('-', " ")).as_deref(),
            Some(drawn.code.as_str())
        );
        for wrong in ["", "BCDF", "BCDF-GHJA", "BCDF-GHJKL", "1234-5678"] {
            assert_eq!(written(wrong), None, "{wrong}");
        }
    }
}
