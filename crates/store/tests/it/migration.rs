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
static NOTED: kernel::tx::Sql =
    kernel::tx::Sql { name: "noted", text: "SELECT version FROM written_by WHERE id = 1" };
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
        assert!(matches!(error, OpenError::Newer { ref product, found: 3, known: 1, .. } if product == "grown"));
        let words = error.to_string();
        assert!(words.starts_with("this data was written by a newer Arena than this "), "{words}");
        // A build without the product leaves its tables alone.
        place.open(&[]).close();
    }

    async fn a_build_that_is_too_old_names_the_version_that_wrote_last(place: TestPlace) {
        let of_version = |schema, version| {
            let mut options = options(&place, schema);
            options.version = version;
            options
        };
        Store::open(of_version(ONE, "0.1.0")).unwrap().close();
        Store::open(of_version(THREE, "0.2.0")).unwrap().close();
        Store::open(of_version(THREE, "0.3.0")).unwrap().close();
        let Err(error) = Store::open(of_version(ONE, "0.1.0")) else { panic!("newer data was opened") };
        let words = error.to_string();
        assert!(words.starts_with("this data was written by Arena 0.3.0; this is Arena 0.1.0 (schema grown"), "{words}");
        let (_, next) = words.rsplit_once("; ").unwrap();
        assert!(next.starts_with("run Arena 0.3.0 or newer, or "), "{next}");
        match place.directory() {
            // The tables changed once, so there is one copy, made by the version that changed them.
            Some(directory) => {
                let copies: Vec<_> = std::fs::read_dir(directory.join("backups")).unwrap().flatten().collect();
                assert_eq!(copies.len(), 1);
                let copy = copies[0].path();
                assert!(copy.file_name().unwrap().to_str().unwrap().starts_with("arena.db.before-0.2.0-"));
                assert!(next.ends_with(&format!("arena admin restore --force {}", copy.display())), "{next}");
                let mut back = options(&place, ONE);
                back.keeps_copies = false;
                let schemas = store::schemas(&copy).unwrap();
                assert_eq!(schemas["grown"], 1);
                assert!(store::inspect(&copy, &back).is_ok());
            }
            None => assert!(next.ends_with("or restore a backup made before the upgrade"), "{next}"),
        }
        let noted = Store::open(of_version(THREE, "0.3.0")).unwrap();
        assert_eq!(noted.read(|tx| tx.row(&NOTED, &[])?.unwrap().text(0)).await.unwrap(), "0.3.0");
    }

    async fn every_state_that_the_stores_tables_ever_had_is_brought_up_to_date(place: TestPlace) {
        for applied in 1..=store::STEPS.len() {
            let place = place.another();
            let mut old = Options::new(place.place());
            old.schemas = vec![Schema { product: "store", steps: &store::STEPS[..applied] }];
            (old.readers, old.writers) = (1, 1);
            Store::open(old).unwrap().close();
            let store = place.open(&[]);
            for &sql in &store::statements() {
                if let Err(fault) = store.prepare_all(vec![sql]) {
                    panic!("from step {applied}, {} does not fit: {fault:?}", sql.name);
                }
            }
            assert_eq!(store.read(|tx| tx.row(&NOTED, &[])?.unwrap().text(0)).await.unwrap(), env!("CARGO_PKG_VERSION"));
        }
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
