//! Schemas grow step by step, on one opener's turn, and newer data is refused.

use store::{OpenError, Options, Schema, Store};
use testkit::TestPlace;

use crate::commands::{SCHEMA, add, counter, done};

const ONE: Schema = Schema { product: "grown", steps: &["CREATE TABLE grown (a TEXT NOT NULL) STRICT;"] };
const THREE: Schema = Schema {
    product: "grown",
    steps: &[
        ONE.steps[0],
        "ALTER TABLE grown ADD COLUMN b INTEGER; INSERT INTO grown (a, b) VALUES ('x', 7);",
        "CREATE UNIQUE INDEX grown_a ON grown (a); UPDATE grown SET b = b + 1;",
    ],
};
const BROKEN: Schema = Schema {
    product: "grown",
    steps: &[ONE.steps[0], "INSERT INTO grown (a) VALUES ('kept?'); CREATE TABLE;"],
};

static READ: kernel::tx::Sql = kernel::tx::Sql { name: "grown", text: "SELECT b FROM grown WHERE a = $1" };
static ROWS: kernel::tx::Sql = kernel::tx::Sql { name: "rows", text: "SELECT COUNT(*) FROM grown" };

fn options(place: &TestPlace, schema: Schema) -> Options {
    let mut options = place.options(&[]);
    options.schemas.push(schema);
    options
}

testkit::both_engines! {
    async fn versions_may_be_skipped_and_never_go_back(place: TestPlace) {
        Store::open(options(&place, ONE)).unwrap().close();
        let store = Store::open(options(&place, THREE)).unwrap();
        let value = store.read(|tx| tx.row(&READ, &["x".into()])?.unwrap().i64(0)).await;
        assert_eq!(value, Ok(8));
        store.close();
        Store::open(options(&place, THREE)).unwrap().close();
        let Err(error) = Store::open(options(&place, ONE)) else { panic!("newer data was opened") };
        assert!(matches!(error, OpenError::Newer { ref product, found: 3, known: 1 } if product == "grown"));
        let words = error.to_string();
        assert!(words.contains("newer Arena") && words.contains("restore a backup"), "{words}");
        // A build without the product leaves its tables alone.
        place.open(&[]).close();
    }

    async fn a_step_that_fails_leaves_nothing(place: TestPlace) {
        Store::open(options(&place, ONE)).unwrap().close();
        let Err(error) = Store::open(options(&place, BROKEN)) else { panic!("a broken step was applied") };
        assert!(matches!(error, OpenError::Migration { product: "grown", number: 2, .. }), "{error}");
        let store = Store::open(options(&place, ONE)).unwrap();
        assert_eq!(store.read(|tx| tx.row(&ROWS, &[])?.unwrap().i64(0)).await, Ok(0));
    }

    async fn openers_at_once_do_not_meet(place: TestPlace) {
        let fresh = place.place();
        let opened: Vec<_> = std::thread::scope(|scope| {
            let openers: Vec<_> = (0..4).map(|_| {
                let mut options = Options::new(fresh.clone());
                options.schemas.extend([SCHEMA, THREE]);
                (options.readers, options.writers) = (1, 2);
                scope.spawn(|| Store::open(options))
            }).collect();
            openers.into_iter().map(|opener| opener.join().unwrap()).collect()
        });
        let mut stores = Vec::new();
        for result in opened {
            match result {
                Ok(store) => stores.push(store),
                // A directory has one holder; a server has any number.
                Err(error) => assert!(matches!(error, OpenError::Held { .. }), "{error}"),
            }
        }
        assert_eq!(stores.len(), if place.directory().is_some() { 1 } else { 4 });
        for store in &stores {
            done(store.write(add("opened", 1)).await);
        }
        assert_eq!(counter(&stores[0], "opened").await, i64::try_from(stores.len()).unwrap());
        let value = stores[0].read(|tx| tx.row(&READ, &["x".into()])?.unwrap().i64(0)).await;
        assert_eq!(value, Ok(8), "each step ran once");
    }

    async fn every_statement_of_the_store_compiles(place: TestPlace) {
        testkit::prepare_all(&place, &[], &store::statements());
    }
}
