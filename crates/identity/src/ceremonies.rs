//! Ceremonies of passkeys that were begun: what the second half needs, kept where every node finds it. Whether
//! an answer holds is checked elsewhere.

use kernel::{Fault, tx::Tx};

use crate::secret;

kernel::statements! {
    BEGIN = "INSERT INTO ceremony (hash, browser, purpose, person, nickname, state, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    TAKE = "DELETE FROM ceremony WHERE hash = $1 RETURNING browser, purpose, person, nickname, state, expires_ms";
    EXPIRED = "DELETE FROM ceremony WHERE expires_ms <= $1";
}

/// How long somebody may look for the device, the finger or the PIN.
pub const CEREMONY_MS: i64 = 10 * 60_000;

/// What a ceremony is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    SignIn,
    /// The id of a person who is not made yet, and the nickname that was chosen.
    SignUp {
        person: String,
        nickname: String,
    },
    /// A further passkey of a person.
    Add {
        person: String,
    },
}

impl Purpose {
    const fn name(&self) -> &'static str {
        match self {
            Self::SignIn => "SIGN_IN",
            Self::SignUp { .. } => "SIGN_UP",
            Self::Add { .. } => "ADD",
        }
    }

    fn of(name: &str, person: Option<String>, nickname: Option<String>) -> Result<Self, Fault> {
        match (name, person, nickname) {
            ("SIGN_IN", None, None) => Ok(Self::SignIn),
            ("SIGN_UP", Some(person), Some(nickname)) => Ok(Self::SignUp { person, nickname }),
            ("ADD", Some(person), None) => Ok(Self::Add { person }),
            _ => Err(Fault::internal(format_args!("a ceremony is for {name:?}"))),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceremony {
    /// The hash of what the browser keeps.
    pub browser: [u8; 32],
    pub purpose: Purpose,
    /// What the answer is checked against.
    pub state: String,
}

pub fn begin(tx: &mut dyn Tx, ticket: &str, ceremony: &Ceremony) -> Result<(), Fault> {
    let expires = tx.real_ms() + CEREMONY_MS;
    let (person, nickname) = match &ceremony.purpose {
        Purpose::SignIn => (None, None),
        Purpose::SignUp { person, nickname } => (Some(person.as_str()), Some(nickname.as_str())),
        Purpose::Add { person } => (Some(person.as_str()), None),
    };
    let args = [
        secret::hash(ticket).as_slice().into(),
        ceremony.browser.as_slice().into(),
        ceremony.purpose.name().into(),
        person.into(),
        nickname.into(),
        (&ceremony.state).into(),
        expires.into(),
    ];
    tx.exec(&BEGIN, &args).map(|_| ())
}

/// The ceremony of a ticket. It counts once, whether or not what follows holds, and only for the browser that
/// began it.
pub fn take(tx: &mut dyn Tx, ticket: &str, browser: &[u8; 32]) -> Result<Option<Ceremony>, Fault> {
    let real = tx.real_ms();
    let Some(row) = tx.row(&TAKE, &[secret::hash(ticket).as_slice().into()])? else { return Ok(None) };
    let ceremony = Ceremony {
        browser: row
            .blob(0)?
            .try_into()
            .map_err(|_| Fault::internal("a browser's hash has another length"))?,
        purpose: Purpose::of(&row.text(1)?, row.opt_text(2)?, row.opt_text(3)?)?,
        state: row.text(4)?,
    };
    Ok((row.i64(5)? > real && ceremony.browser == *browser).then_some(ceremony))
}

/// Deletes what was never ended; answers how many.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&EXPIRED, &[real.into()])
}
