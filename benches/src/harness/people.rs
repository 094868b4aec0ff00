//! People with a duels account, a key, and a name that load can be checked by.

use std::sync::Arc;

use kernel::{
    Fault,
    id::{DerivedIds, Ids, OsIds},
    principal::Principal,
    tx::{Command, Tx, Verdict},
};
use store::{Options, Place, Schema, Store};

use super::Outcome;

/// What a person starts with: enough for as many duels as a run has.
const OPENING_POINTS: i64 = 1_000_000;
const SCOPE: &str = "duels:play";

/// The tables of an Arena.
pub(crate) const SCHEMAS: [Schema; 3] = [store::SCHEMA, identity::SCHEMA, duels::SCHEMA];

#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) principal: Principal,
    pub(crate) token: String,
}

struct Join {
    id: String,
    nickname: String,
    key: identity::keys::NewKey,
    seed: [u8; 16],
}

impl Command for Join {
    type Out = ();

    fn name(&self) -> &'static str {
        "bench.join"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let person = identity::people::create(tx, &self.id, &self.nickname)?;
        let ids = DerivedIds::new(self.seed);
        duels::open_account(tx, &ids, &person.id, &person.nickname, OPENING_POINTS)?;
        identity::keys::insert(tx, &person, &self.key)?;
        Ok(Verdict::Done(()))
    }
}

/// A store as the server opens it, with these probes.
pub(crate) fn open(place: Place, probe: Option<store::Probe>) -> Outcome<Store> {
    let mut options = Options::new(place);
    options.schemas = SCHEMAS.to_vec();
    options.probe = probe;
    Ok(Store::open(options)?)
}

/// Makes `count` people called after `stem`.
pub(crate) async fn join(store: &Store, stem: &str, count: usize) -> Outcome<Vec<Arc<Person>>> {
    let ids = OsIds;
    let mut waiting = Vec::new();
    for number in 0..count {
        let nickname = format!("{stem}-{number:03}");
        let key = identity::keys::NewKey::draw(&ids, "bench", &[SCOPE.to_owned()], None)?;
        let person = Person {
            principal: Principal {
                person_id: ids.slug(),
                nickname: nickname.clone(),
                scopes: vec![SCOPE.to_owned()],
                provider: "key".to_owned(),
                linked_providers: vec!["key".to_owned()],
                resource: None,
                new_key: None,
            },
            token: key.token.clone(),
        };
        let join = Join { id: person.principal.person_id.clone(), nickname, key, seed: ids.seed() };
        let store = store.clone();
        waiting.push((person, tokio::spawn(async move { store.write(Box::new(join)).await })));
    }
    let mut people = Vec::with_capacity(count);
    for (person, joined) in waiting {
        match joined.await?? {
            Verdict::Done(()) => people.push(Arc::new(person)),
            Verdict::Refused(fault) => return Err(fault.into()),
        }
    }
    Ok(people)
}
