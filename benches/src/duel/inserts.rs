//! The smallest command there is: one row, through the same store and with as many callers.

use std::time::{Duration, Instant};

use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};
use store::{Options, Place, Schema, Store};
use tokio::task::JoinSet;

use crate::harness::Outcome;

kernel::statements! {
    ADD = "INSERT INTO bench_row (id, text) VALUES ($1, $2)";
}

const SCHEMA: Schema = Schema {
    product: "bench",
    steps: &["CREATE TABLE bench_row (id INTEGER NOT NULL PRIMARY KEY, text TEXT NOT NULL) STRICT;"],
};

struct AddRow {
    id: i64,
}

impl Command for AddRow {
    type Out = ();

    fn name(&self) -> &'static str {
        "bench.add_row"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        tx.exec(&ADD, &[self.id.into(), "Half each: I will demand what I say I demand.".into()])?;
        Ok(Verdict::Done(()))
    }
}

/// Adds `each` rows from each of `callers` and tells how long it took.
pub(crate) async fn run(place: Place, callers: usize, each: usize) -> Outcome<Duration> {
    let mut options = Options::new(place);
    options.schemas = vec![store::SCHEMA, SCHEMA];
    let store = Store::open(options)?;
    let began = Instant::now();
    let mut adding = JoinSet::new();
    for caller in 0..callers {
        let store = store.clone();
        adding.spawn(async move {
            for row in 0..each {
                store.write(Box::new(AddRow { id: i64::try_from(caller * each + row)? })).await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(added) = adding.join_next().await {
        added??;
    }
    let wall = began.elapsed();
    tokio::task::spawn_blocking(move || store.close()).await?;
    Ok(wall)
}
