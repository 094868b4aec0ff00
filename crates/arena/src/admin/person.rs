//! Creating a person: the person, the duels account and the first key, in one transaction.

use identity::{
    keys::{self, KeyInfo, NewKey},
    people::{self, Person},
};
use kernel::{
    Fault,
    id::{DerivedIds, Ids},
    tx::{Command, Tx, Verdict},
};

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
        Ok(Verdict::Done((person, key)))
    }
}

/// Another key for a person who exists.
pub(crate) struct CreateKey {
    pub(crate) nickname: String,
    pub(crate) key: NewKey,
}

impl Command for CreateKey {
    type Out = (Person, KeyInfo);

    fn name(&self) -> &'static str {
        "arena.create_key"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Self::Out>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        let key = keys::insert(tx, &person, &self.key)?;
        Ok(Verdict::Done((person, key)))
    }
}

pub(crate) struct RevokeKey {
    pub(crate) nickname: String,
    /// An id, or the start that lists show.
    pub(crate) key: String,
}

impl Command for RevokeKey {
    type Out = KeyInfo;

    fn name(&self) -> &'static str {
        "arena.revoke_key"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<KeyInfo>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        keys::revoke(tx, &person, &self.key).map(Verdict::Done)
    }
}
