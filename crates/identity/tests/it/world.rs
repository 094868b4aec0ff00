//! A store with people.

use identity::{
    act::Act,
    people::{self, Person},
};
use kernel::{
    Fault,
    id::{Ids, SeededIds},
    tx::{Sql, Tx, Verdict},
};
use store::Store;
use testkit::TestPlace;

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) ids: SeededIds,
}

impl World {
    pub(crate) fn new(place: &TestPlace) -> Self {
        Self { store: place.open(&[identity::SCHEMA]), ids: SeededIds::new(11) }
    }

    /// Runs a change that is not refused.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        run: impl Fn(&mut dyn Tx) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let act = Act::new("test.change", run);
        match self.store.write(Box::new(act)).await? {
            Verdict::Done(out) => Ok(out),
            Verdict::Refused(fault) => Err(fault),
        }
    }

    pub(crate) async fn person(&self, nickname: &'static str) -> Person {
        let id = self.ids.slug();
        self.change(move |tx| people::create(tx, &id, nickname)).await.unwrap()
    }

    /// Runs a statement without parameters, to let rows grow old.
    pub(crate) async fn sql(&self, sql: &'static Sql) {
        self.change(move |tx| tx.exec(sql, &[])).await.unwrap();
    }
}
