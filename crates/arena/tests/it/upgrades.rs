//! Data of every earlier state is brought up to date, adds up, and can be gone back from.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use kernel::{
    Fault,
    tx::{Command as StoreCommand, Sql, Tx, Verdict},
};
use serde_json::{Value, json};
use store::{Engine, Options, Schema, Store};
use testkit::TestPlace;

use crate::{
    http::{call, get},
    process::{Home, PATIENCE, Running, Server, names_in, sql},
};

/// What the first version left; its head says what it holds.
const FIRST: &str = include_str!("../fixtures/arena-0.1.0.sql");
const PEOPLE: usize = 3;

fn first_version() -> Home {
    let home = Home::new();
    fs::create_dir(home.data()).unwrap();
    fs::set_permissions(home.data(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    sql(&home.data().join("arena.db"), FIRST);
    home
}

fn copies(home: &Home) -> Vec<PathBuf> {
    let directory = home.data().join("backups");
    names_in(&directory).iter().map(|name| directory.join(name)).collect()
}

fn people(home: &Home) -> usize {
    home.json(&["admin", "user", "list", "--json"]).as_array().unwrap().len()
}

#[test]
fn the_first_versions_data_is_brought_up_to_date_and_can_be_gone_back_to() {
    let home = first_version();
    let mut starting = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut running = Running::start(starting.env("ARENA_METRICS__LISTEN", "off"));
    let copied = running.stderr_line(|line| line.contains("copied the database"));
    assert!(copied.contains("/backups/arena.db.before-"), "{copied}");
    let server = Server::of(running);
    let settled = get(&format!("http://{}/duels/v1/settled", server.address)).json();
    assert!(settled["duels"].as_array().unwrap().len() >= 2, "{settled}");
    // A newcomer plays with somebody whom the first version knew.
    let key = home.person("delta");
    assert_eq!(call(&server.address, "enter_arena", &key, &json!({"pitch": "hi"})).status, 200);
    let old =
        home.json(&["admin", "key", "create", "alpha", "--json"])["apiKey"].as_str().unwrap().to_owned();
    assert_eq!(call(&server.address, "enter_arena", &old, &json!({"pitch": "hi"})).status, 200);
    let begun = call(&server.address, "challenge_agent", &key, &json!({"nickname": "alpha"}));
    assert_eq!(begun.json()["action"], "CREATED_DUEL", "{}", begun.body);
    server.stop();
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
    let copies = copies(&home);
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&copies[0]).unwrap().permissions()) & 0o777,
        0o600
    );
    // The copy is a database as the first version left it, and a restore takes it as it is.
    let back = home.run(&["admin", "restore", "--force", copies[0].to_str().unwrap()]);
    assert_eq!(back.code, 0, "{}", back.stderr);
    assert!(back.stdout.contains("people    3") && back.stdout.contains("adds up"), "{}", back.stdout);
    assert_eq!(people(&home), PEOPLE);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn newer_data_is_refused_with_versions_and_the_way_back() {
    let home = first_version();
    assert_eq!(people(&home), PEOPLE);
    let ours = env!("CARGO_PKG_VERSION");
    let database = home.data().join("arena.db");
    sql(
        &database,
        "UPDATE written_by SET version = '0.3.0'; INSERT INTO migration (product, number, applied_ms) VALUES ('duels', 99, 0);",
    );
    let before = fs::read(&database).unwrap();
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["admin", "user", "list"]] {
        let told = home.run(command);
        assert_eq!(told.code, 1, "{}", told.stderr);
        let lines: Vec<&str> = told.stderr.lines().collect();
        let (error, hint) = (lines[0], lines[1]);
        assert!(
            error.starts_with(&format!("error: this data was written by Arena 0.3.0; this is Arena {ours}")),
            "{error}"
        );
        let copy = copies(&home).pop().unwrap();
        let way = format!(
            "run Arena 0.3.0 or newer, or go back to the copy that the upgrade made: arena admin restore --force {}",
            copy.display()
        );
        assert_eq!((hint, lines.len()), (format!("hint: {way}").as_str(), 2));
    }
    assert_eq!(fs::read(&database).unwrap(), before, "nothing was changed");
    let doctor = home.run(&["doctor", "--json"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("written by Arena 0.3.0"), "{}", doctor.stdout);

    // A backup needs no version; a restore of it does.
    let target = home.path().join("newer.arena").display().to_string();
    assert_eq!(home.run(&["admin", "backup", &target]).code, 0);
    let other = Home::new();
    let told = other.run(&["admin", "restore", &target]);
    assert!(told.code == 1 && told.stderr.contains("written by Arena 0.3.0"), "{}", told.stderr);
    assert_eq!(names_in(&other.data()), ["arena.lock"]);

    let copy = copies(&home).pop().unwrap();
    assert_eq!(home.run(&["admin", "restore", "--force", copy.to_str().unwrap()]).code, 0);
    assert_eq!(people(&home), PEOPLE);
}

#[test]
fn a_migration_that_is_killed_goes_on_at_the_next_start() {
    let mut interrupted = 0;
    for step in 0..14 {
        let home = first_version();
        let child = Running::start(&mut home.command(&["admin", "user", "list"]));
        let (started, delay) = (Instant::now(), Duration::from_millis(step * 4));
        while started.elapsed() < delay {
            std::hint::spin_loop();
        }
        let _ = Command::new("kill").args(["-KILL", &child.id().to_string()]).output();
        let (status, ..) = child.wait();
        interrupted += usize::from(!status.success());
        assert_eq!(people(&home), PEOPLE, "killed after {delay:?}");
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 0, "killed after {delay:?}: {}", doctor.stdout);
        assert!(!copies(&home).is_empty(), "killed after {delay:?}");
    }
    assert!(interrupted > 0, "no run was killed");
}

/// The rows of the dump, one statement each, people before their keys.
fn rows(engine: Engine) -> Vec<String> {
    let mut statements = Vec::new();
    let mut open = String::new();
    for line in FIRST.lines() {
        if open.is_empty() && !line.starts_with("INSERT INTO ") {
            continue;
        }
        open.push_str(line);
        // A text may go on in the next line.
        if line.ends_with(';') && open.matches('\'').count().is_multiple_of(2) {
            statements.push(std::mem::take(&mut open));
        } else {
            open.push('\n');
        }
    }
    // What the opening of a store writes itself, and counters that each engine has in its own way.
    let made = ["migration", "arena_clock", "sequence", "duel_secret", "guard"];
    statements.retain(|text| !made.iter().any(|table| text.starts_with(&format!("INSERT INTO \"{table}\""))));
    statements.sort_by_key(|text| !text.starts_with("INSERT INTO \"person\""));
    if engine == Engine::Postgres {
        for text in &mut statements {
            *text = text.replace("(X'", "('\\x").replace(",X'", ",'\\x");
        }
    }
    statements
}

struct Insert(Vec<&'static Sql>);

impl StoreCommand for Insert {
    type Out = ();

    fn name(&self) -> &'static str {
        "test.insert"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        self.0.iter().try_for_each(|sql| tx.exec(sql, &[]).map(|_| ()))?;
        Ok(Verdict::Done(()))
    }
}

fn cut(schema: Schema, steps: usize) -> Schema {
    Schema { product: schema.product, steps: &schema.steps[..steps.min(schema.steps.len())] }
}

fn open(place: &TestPlace, schemas: &[Schema]) -> Store {
    // A child that another test is just starting has our lock until it becomes its program.
    let begun = Instant::now();
    loop {
        let mut options = Options::new(place.place());
        options.schemas = schemas.to_vec();
        (options.readers, options.writers) = (1, 1);
        match Store::open(options) {
            Err(store::OpenError::Held { .. }) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
            }
            opened => return opened.unwrap(),
        }
    }
}

const ALL: [Schema; 3] = [store::SCHEMA, identity::SCHEMA, duels::SCHEMA];

async fn is_up_to_date(store: Store, what: &str) {
    let statements = [store::statements(), identity::statements(), duels::statements()].concat();
    for sql in statements {
        if let Err(fault) = store.prepare_all(vec![sql]) {
            panic!("{what}: {} does not fit: {fault:?}", sql.name);
        }
    }
    let audit = store.read(|tx| duels::audit::audit(tx)).await.unwrap();
    assert_eq!(audit.violations, Vec::<String>::new(), "{what}");
    store.close();
}

testkit::both_engines! {
    async fn data_of_the_first_version_adds_up_after_every_way_of_upgrading(place: TestPlace) {
        let last = ALL.iter().map(|schema| schema.steps.len()).max().unwrap();
        // Every version between the first and this one may have been run in between, or skipped.
        for between in 1..=last {
            let place = place.another();
            let store = open(&place, &[cut(ALL[0], 2), cut(ALL[1], 1), cut(ALL[2], 1)]);
            let leaked: Vec<&'static Sql> = rows(store.engine())
                .into_iter()
                .map(|text| &*Box::leak(Box::new(Sql { name: "row", text: text.leak() })))
                .collect();
            assert!(leaked.len() > 40);
            assert_eq!(store.write_blocking(Box::new(Insert(leaked))).unwrap(), Verdict::Done(()));
            store.close();
            open(&place, &[cut(ALL[0], 2.max(between)), cut(ALL[1], between), cut(ALL[2], between)]).close();
            let store = open(&place, &ALL);
            let people = store.read(|tx| identity::people::count(tx)).await.unwrap();
            assert_eq!(people, i64::try_from(PEOPLE).unwrap());
            let settled = store.read(|tx| duels::audit::settled(tx)).await.unwrap();
            assert_eq!(settled, 2);
            is_up_to_date(store, &format!("by way of {between}")).await;
        }
    }

    async fn every_state_of_every_part_is_brought_up_to_date(place: TestPlace) {
        for part in 0..ALL.len() {
            for steps in 1..=ALL[part].steps.len() {
                let place = place.another();
                let mut schemas = ALL.to_vec();
                schemas[part] = cut(ALL[part], steps);
                open(&place, &schemas).close();
                let store = open(&place, &ALL);
                is_up_to_date(store, &format!("{} at {steps}", ALL[part].product)).await;
            }
        }
    }
}

#[test]
fn the_dump_is_of_the_first_steps() {
    let home = first_version();
    let target = home.path().join("first.arena").display().to_string();
    // A backup does not migrate, and tells what it found.
    let made: Value = home.json(&["admin", "backup", &target, "--json"]);
    for (schema, steps) in [("store", 2), ("identity", 1), ("duels", 1)] {
        assert_eq!(made["schemas"][schema].as_i64(), Some(steps), "{schema}");
    }
    let restored = Home::new();
    assert_eq!(restored.run(&["admin", "restore", &target]).code, 0);
    assert_eq!(people(&restored), PEOPLE);
}
