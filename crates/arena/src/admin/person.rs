//! What an administrator does to people, each act in one transaction with its line in the audit book.

use identity::{
    audit, entry_links,
    keys::{self, KeyInfo, NewKey},
    oauth::grants,
    people::{self, Person},
    sessions,
};
use kernel::{
    Fault, Kind, Moment,
    id::{DerivedIds, Ids},
    tx::{Command, Tx, Verdict},
};

use super::request::SignedOut;

/// Who acts on the command line, in the audit book.
const ADMIN: &str = "admin";

/// Everything random is drawn before the command runs, so that it can run again.
pub(crate) struct CreatePerson {
    id: String,
    nickname: String,
    key: NewKey,
    opening_points: i64,
    seed: [u8; 16],
}

impl CreatePerson {
    pub(crate) fn new(ids: &dyn Ids, nickname: &str, key: NewKey, opening_points: i64) -> Self {
        Self { id: ids.slug(), nickname: nickname.to_owned(), key, opening_points, seed: ids.seed() }
    }
}

impl Command for CreatePerson {
    type Out = (Person, KeyInfo);

    fn name(&self) -> &'static str {
        "arena.create_person"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Self::Out>, Fault> {
        let person = people::create(tx, &self.id, &self.nickname)?;
        let ids = DerivedIds::new(self.seed);
        duels::open_account(tx, &ids, &person.id, &person.nickname, self.opening_points)?;
        let key = keys::insert(tx, &person, &self.key)?;
        audit::write(tx, &ids, ADMIN, "user.create", &person.nickname, &key.prefix)?;
        Ok(Verdict::Done((person, key)))
    }
}

/// Another key for a person who exists.
pub(crate) struct CreateKey {
    pub(crate) nickname: String,
    pub(crate) key: NewKey,
    pub(crate) seed: [u8; 16],
}

impl Command for CreateKey {
    type Out = (Person, KeyInfo);

    fn name(&self) -> &'static str {
        "arena.create_key"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Self::Out>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        let key = keys::insert(tx, &person, &self.key)?;
        let ids = DerivedIds::new(self.seed);
        audit::write(tx, &ids, ADMIN, "key.create", &person.nickname, &key.prefix)?;
        Ok(Verdict::Done((person, key)))
    }
}

pub(crate) struct RevokeKey {
    pub(crate) nickname: String,
    /// An id, or the start that lists show.
    pub(crate) key: String,
    pub(crate) seed: [u8; 16],
}

impl Command for RevokeKey {
    type Out = KeyInfo;

    fn name(&self) -> &'static str {
        "arena.revoke_key"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<KeyInfo>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        let key = keys::revoke(tx, &person, &self.key)?;
        let ids = DerivedIds::new(self.seed);
        audit::write(tx, &ids, ADMIN, "key.revoke", &person.nickname, &key.prefix)?;
        Ok(Verdict::Done(key))
    }
}

/// Shuts a person out of everything at once, or lets it in again. What the person owns stays.
pub(crate) struct SwitchPerson {
    pub(crate) nickname: String,
    pub(crate) disabled: bool,
    pub(crate) seed: [u8; 16],
}

impl Command for SwitchPerson {
    type Out = Person;

    fn name(&self) -> &'static str {
        "arena.switch_person"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Person>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        let act = if self.disabled {
            people::disable(tx, &person)?;
            "user.disable"
        } else {
            people::enable(tx, &person)?;
            "user.enable"
        };
        audit::write(tx, &DerivedIds::new(self.seed), ADMIN, act, &person.nickname, "")?;
        people::get(tx, &self.nickname).map(Verdict::Done)
    }
}

/// Ends every way in that a person has now; it may sign in again.
pub(crate) struct SignOutPerson {
    pub(crate) nickname: String,
    pub(crate) seed: [u8; 16],
}

impl Command for SignOutPerson {
    type Out = SignedOut;

    fn name(&self) -> &'static str {
        "arena.sign_out_person"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<SignedOut>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        let out = SignedOut {
            nickname: person.nickname.clone(),
            keys: keys::revoke_all(tx, &person.id)?,
            sessions: sessions::end_all(tx, &person.id)?,
            grants: grants::revoke_all(tx, &person.id)?,
        };
        entry_links::forget(tx, &person.id)?;
        audit::write(tx, &DerivedIds::new(self.seed), ADMIN, "user.sign_out", &person.nickname, "")?;
        Ok(Verdict::Done(out))
    }
}

/// Makes a link that lets a person in once. An earlier one ends.
pub(crate) struct LinkPerson {
    pub(crate) nickname: String,
    pub(crate) link: String,
    pub(crate) seed: [u8; 16],
}

impl Command for LinkPerson {
    type Out = (Person, Moment);

    fn name(&self) -> &'static str {
        "arena.link_person"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Self::Out>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        if person.disabled_at.is_some() {
            return Err(Fault::of(
                Kind::Conflict,
                format!("{0} is disabled; first run: arena admin user enable {0}", person.nickname),
            ));
        }
        let ends = entry_links::insert(tx, &person, &self.link)?;
        audit::write(tx, &DerivedIds::new(self.seed), ADMIN, "user.link", &person.nickname, "")?;
        Ok(Verdict::Done((person, ends)))
    }
}
