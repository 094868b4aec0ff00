//! A whole duels system in a test: a real store, a clock that stands still, people with accounts.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use duels::{Duels, outside::Outside};
use kernel::{
    Fault, Moment,
    id::{Ids, SeededIds},
    operation::Product,
    principal::{Call, Principal},
    tx::{Command, Tx, Verdict},
};
use semantic::Embedder;
use serde_json::Value;
use store::{Options, Probe, Schema, Store};
use testkit::TestPlace;

use crate::letters::Letters;

pub(crate) const SCHEMAS: &[Schema] = &[identity::SCHEMA, duels::SCHEMA];
pub(crate) const PUBLIC_URL: &str = "https://arena.example";

pub(crate) const fn seconds(n: i64) -> i64 {
    n * 1000
}

pub(crate) const fn minutes(n: i64) -> i64 {
    n * 60_000
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) store: Store,
    service: Arc<Duels>,
    pub(crate) product: Arc<Product>,
    pub(crate) ids: Arc<SeededIds>,
    people: Arc<Mutex<BTreeMap<String, Principal>>>,
}

/// Makes a person with a duels account, as the binary does.
struct Join {
    id: String,
    nickname: String,
    seed: [u8; 16],
    points: i64,
}

impl Command for Join {
    type Out = ();
    fn name(&self) -> &'static str {
        "test.join"
    }
    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let person = identity::people::create(tx, &self.id, &self.nickname)?;
        let ids = kernel::id::DerivedIds::new(self.seed);
        duels::open_account(tx, &ids, &person.id, &person.nickname, self.points)?;
        Ok(Verdict::Done(()))
    }
}

impl World {
    /// A world at a whole second, standing still, with nothing outside of its store.
    pub(crate) fn new(place: &TestPlace) -> Self {
        Self::outside(place, Outside::default())
    }

    /// A world that can search.
    pub(crate) fn searching(place: &TestPlace, embedder: Arc<dyn Embedder>) -> Self {
        Self::outside(place, Outside { embedder: Some(embedder), ..Outside::default() })
    }

    pub(crate) fn outside(place: &TestPlace, outside: Outside) -> Self {
        let store = place.open(SCHEMAS);
        store.set_speed(0).unwrap();
        let world = Self::on(store, 7, outside);
        let past = world.now().as_millis().rem_euclid(1000);
        world.advance(1000 - past);
        world
    }

    fn on(store: Store, seed: u64, outside: Outside) -> Self {
        let ids = Arc::new(SeededIds::new(seed));
        let service = Duels::open(&store, Arc::clone(&ids) as Arc<dyn Ids>, PUBLIC_URL, outside).unwrap();
        let product = Arc::new(duels::product(&service));
        Self { store, service, product, ids, people: Arc::default() }
    }

    /// A world whose every commit calls `probe`.
    pub(crate) fn probed(place: &TestPlace, probe: Probe, embedder: Arc<dyn Embedder>) -> Self {
        let store = Store::open(Options { probe: Some(probe), ..place.options(SCHEMAS) }).unwrap();
        store.set_speed(0).unwrap();
        Self::on(store, 7, Outside { embedder: Some(embedder), ..Outside::default() })
    }

    /// The same people and state through a service that has seen nothing of it yet.
    pub(crate) fn another_node(&self, embedder: &Arc<Letters>) -> Self {
        let seed = u64::from(self.ids.slug().as_bytes()[0]) + 1_000;
        let embedder = Some(Arc::clone(embedder) as Arc<dyn Embedder>);
        let mut node = Self::on(self.store.clone(), seed, Outside { embedder, ..Outside::default() });
        node.people = Arc::clone(&self.people);
        node
    }

    pub(crate) fn service(&self) -> &Arc<Duels> {
        &self.service
    }

    pub(crate) fn product(&self) -> Arc<Product> {
        Arc::clone(&self.product)
    }

    /// One round of the workers of search; how many jobs were tried.
    pub(crate) async fn do_jobs(&self) -> usize {
        let workers = self.service.slow_workers();
        store::jobs::run_once(&self.store, &*self.ids, &workers, store::jobs::LEASE_MS).await.unwrap()
    }

    /// A world whose named agents have entered the arena with 100 points.
    pub(crate) async fn with(place: &TestPlace, nicknames: &[&str]) -> Self {
        let world = Self::new(place);
        for nickname in nicknames {
            world.join(nickname, 100).await;
            world.ok(nickname, "enter_arena", r#"{"pitch":"Here"}"#).await;
        }
        world
    }

    pub(crate) async fn join(&self, nickname: &str, points: i64) {
        let id = self.ids.slug();
        let join = Join { id: id.clone(), nickname: nickname.to_owned(), seed: self.ids.seed(), points };
        assert_eq!(self.store.write(Box::new(join)).await.unwrap(), Verdict::Done(()));
        let principal = Principal {
            person_id: id,
            nickname: nickname.to_owned(),
            scopes: vec!["duels:play".to_owned()],
            provider: "key".to_owned(),
            linked_providers: vec!["key".to_owned()],
            resource: None,
            new_key: None,
        };
        self.people.lock().unwrap().insert(nickname.to_owned(), principal);
    }

    pub(crate) fn id(&self, nickname: &str) -> String {
        self.people.lock().unwrap()[nickname].person_id.clone()
    }

    pub(crate) fn now(&self) -> Moment {
        self.store.now().unwrap()
    }

    pub(crate) fn advance(&self, ms: i64) {
        self.store.advance(ms).unwrap();
    }

    /// Calls a tool as `nickname`; an error comes as its whole body.
    pub(crate) async fn call(&self, nickname: &str, tool: &str, input: &str) -> Result<Value, Value> {
        match self.try_call(nickname, tool, input).await {
            Ok(json) => Ok(serde_json::from_str(&json).unwrap()),
            Err(fault) => Err(self.product.body(&fault, self.now())),
        }
    }

    async fn try_call(&self, nickname: &str, tool: &str, input: &str) -> Result<String, Fault> {
        let principal = self.people.lock().unwrap()[nickname].clone();
        let call = Call { principal, request_id: "test".to_owned() };
        let (product, tool, body) = (Arc::clone(&self.product), tool.to_owned(), input.as_bytes().to_vec());
        let step = self
            .store
            .read(move |tx| product.operation(&tool).expect("a tool of that name").start(tx, &call, &body))
            .await?;
        match self.store.finish(step).await? {
            Verdict::Done(json) => Ok(json),
            Verdict::Refused(fault) => Err(fault),
        }
    }

    /// A call that must succeed.
    pub(crate) async fn ok(&self, nickname: &str, tool: &str, input: &str) -> Value {
        self.call(nickname, tool, input)
            .await
            .unwrap_or_else(|body| panic!("{nickname} {tool} {input} was refused: {body}"))
    }

    /// A call that must be refused; its code.
    pub(crate) async fn refused(&self, nickname: &str, tool: &str, input: &str) -> String {
        let body = match self.call(nickname, tool, input).await {
            Ok(out) => panic!("{nickname} {tool} {input} succeeded: {out}"),
            Err(body) => body,
        };
        body["error"]["code"].as_str().unwrap().to_owned()
    }

    /// One round of the deadline worker.
    pub(crate) async fn settle_due(&self) -> usize {
        let ids = Arc::clone(&self.ids) as Arc<dyn Ids>;
        duels::worker::run_once(&self.store, &ids).await.unwrap()
    }

    /// The deadline worker's work one by one, so that the order of settlements is known.
    pub(crate) async fn sweep(&self) {
        let due = self.store.read(|tx| duels::worker::due(tx)).await.unwrap();
        for slug in due {
            let ids = Arc::clone(&self.ids);
            let command =
                self.store.read(move |tx| duels::worker::settle_command(tx, &*ids, &slug)).await.unwrap();
            self.store.write(Box::new(command.expect("a due duel exists"))).await.unwrap();
        }
    }

    /// One round of the chronicler; how many duels it took in.
    pub(crate) async fn chronicle(&self, batch: i64) -> usize {
        duels::chronicle::run_once(&self.store, batch).await.unwrap()
    }

    /// The markup of a page.
    pub(crate) async fn page(&self, id: &'static str, parameter: &str) -> String {
        let (product, parameter) = (Arc::clone(&self.product), parameter.to_owned());
        let read = move |tx: &mut dyn Tx| {
            let page = product.pages.pages.iter().find(|page| page.id == id).expect("a page of that name");
            (page.read)(tx, &parameter)
        };
        self.store.read(read).await.unwrap().main
    }

    /// Everything that must always hold.
    pub(crate) async fn assert_sound(&self) {
        let audit = self.store.read(|tx| duels::audit::audit(tx)).await.unwrap();
        assert_eq!(audit.violations, Vec::<String>::new());
        assert_eq!(audit.issued - audit.burned, audit.held);
    }

    /// A duel from challenge to settlement by two demands.
    pub(crate) async fn play(&self, a: &str, b: &str, demands: [i64; 2]) {
        self.ok(a, "challenge_agent", &format!(r#"{{"nickname":"{b}","message":"Hello"}}"#)).await;
        self.ok(a, "submit_demand", &format!(r#"{{"nickname":"{b}","count":{}}}"#, demands[0])).await;
        self.ok(b, "submit_demand", &format!(r#"{{"nickname":"{a}","count":{}}}"#, demands[1])).await;
    }
}
