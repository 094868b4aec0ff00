//! An exchange in a test: a real store, a clock that stands still, people with $100 each.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use kernel::{
    Fault, Moment,
    id::{DerivedIds, Ids, SeededIds},
    tx::{Command, Tx, Verdict},
};
use predictions::{
    NewMarket,
    floor::{self, Books, Canceled, NewOrder, Receipt},
    rules::{
        money::Money,
        order::{Kind, Terms, TimeInForce},
        price::{Action, Cents, Outcome},
    },
};
use store::{Schema, Store, ledger};
use testkit::TestPlace;

pub(crate) const SCHEMAS: &[Schema] = &[identity::SCHEMA, predictions::SCHEMA];
pub(crate) const MARKET: &str = "RAIN-26";
/// How long the market is open, and may then be disputed.
pub(crate) const OPEN_MS: i64 = 3_600_000;
pub(crate) const DISPUTE_MS: i64 = 60_000;

type Act<T> = dyn Fn(&mut dyn Tx, &dyn Ids) -> Result<Verdict<T>, Fault> + Send;

/// A closure as a command, with ids that are the same in each of its attempts.
struct Run<T> {
    seed: [u8; 16],
    act: Box<Act<T>>,
}

impl<T: Send> Command for Run<T> {
    type Out = T;
    fn name(&self) -> &'static str {
        "test.run"
    }
    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<T>, Fault> {
        (self.act)(tx, &DerivedIds::new(self.seed))
    }
}

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) ids: Arc<SeededIds>,
    pub(crate) books: Arc<Books>,
    people: Arc<Mutex<BTreeMap<String, String>>>,
}

/// Buys YES at up to 50 cents, and whatever a test changes of that.
pub(crate) fn terms(action: Action, side: Outcome, price: i64, count: u32) -> Terms {
    let kind = Kind::Limit(Cents::new(price).unwrap());
    let tif = TimeInForce::Gtc;
    Terms { action, side, kind, count, tif, post_only: false, reduce_only: false, expires_at: None }
}

impl World {
    pub(crate) async fn new(place: &TestPlace, nicknames: &[&str]) -> Self {
        let store = place.open(SCHEMAS);
        store.set_speed(0).unwrap();
        let ids = Arc::new(SeededIds::new(11));
        let books = Arc::new(Books::new(&*ids));
        let world = Self { store, ids, books, people: Arc::default() };
        for nickname in nicknames {
            world.join(nickname, 100).await;
        }
        world.market(MARKET).await;
        world
    }

    /// The same exchange as another node sees it.
    pub(crate) fn another_node(&self) -> Self {
        Self {
            store: self.store.clone(),
            ids: Arc::clone(&self.ids),
            books: Arc::new(Books::new(&*self.ids)),
            people: Arc::clone(&self.people),
        }
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        act: impl Fn(&mut dyn Tx, &dyn Ids) -> Result<Verdict<T>, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        match self.store.write(Box::new(Run { seed: self.ids.seed(), act: Box::new(act) })).await? {
            Verdict::Done(out) => Ok(out),
            Verdict::Refused(fault) => Err(fault),
        }
    }

    pub(crate) async fn join(&self, nickname: &str, dollars: i64) {
        let (id, name) = (self.ids.slug(), nickname.to_owned());
        self.people.lock().unwrap().insert(name.clone(), id.clone());
        let start = Money::from_dollars(dollars).unwrap();
        self.run(move |tx, ids| {
            let person = identity::people::create(tx, &id, &name)?;
            predictions::open_account(tx, ids, &person.id, start).map(Verdict::Done)
        })
        .await
        .unwrap();
    }

    pub(crate) async fn market(&self, ticker: &str) {
        let now = self.now();
        let new = NewMarket {
            ticker: ticker.to_owned(),
            instrument: format!("ins_{:0>12}", ticker.len()),
            title: "Does it rain?".to_owned(),
            rules: "YES if it rains.".to_owned(),
            source: "the window".to_owned(),
            creator: "nobody".to_owned(),
            opens_at: now,
            closes_at: now.plus_ms(OPEN_MS),
            dispute_ms: DISPUTE_MS,
        };
        self.run(move |tx, _| predictions::create_market(tx, &new).map(Verdict::Done)).await.unwrap();
    }

    pub(crate) fn id(&self, nickname: &str) -> String {
        self.people.lock().unwrap()[nickname].clone()
    }

    pub(crate) fn now(&self) -> Moment {
        self.store.now().unwrap()
    }

    pub(crate) fn order(&self, nickname: &str, terms: Terms) -> NewOrder {
        let now = self.now();
        let trade = (terms.action == Action::Buy).then(|| self.ids.uuid7(now));
        let (id, person, ticker) = (self.ids.uuid7(now), self.id(nickname), MARKET.to_owned());
        NewOrder { id, person, ticker, terms, trade, client: Some("test/1.0.0".to_owned()) }
    }

    pub(crate) async fn place(&self, new: NewOrder) -> Result<Receipt, Fault> {
        let books = Arc::clone(&self.books);
        self.run(move |tx, ids| floor::place(tx, &books, ids, &new)).await
    }

    pub(crate) async fn send(&self, nickname: &str, terms: Terms) -> Result<Receipt, Fault> {
        self.place(self.order(nickname, terms)).await
    }

    pub(crate) async fn cancel(&self, nickname: &str, id: &str) -> Result<Canceled, Fault> {
        let (books, person, id) = (Arc::clone(&self.books), self.id(nickname), id.to_owned());
        self.run(move |tx, ids| floor::cancel(tx, &books, ids, &person, &id)).await
    }

    /// Says how the market ended, waits until nobody may dispute it, and pays.
    pub(crate) async fn settle(&self, ticker: &'static str, result: Outcome) {
        let books = Arc::clone(&self.books);
        self.run(move |tx, _| floor::determine(tx, &books, ticker, result)).await.unwrap();
        self.store.advance(DISPUTE_MS).unwrap();
        loop {
            let books = Arc::clone(&self.books);
            let (_, is_last) =
                self.run(move |tx, ids| floor::finalize(tx, &books, ids, ticker)).await.unwrap();
            if is_last {
                return;
            }
        }
    }

    /// Cash as shown, such as `94`.
    pub(crate) async fn cash(&self, nickname: &str) -> String {
        let person = self.id(nickname);
        let balance =
            self.store.read(move |tx| ledger::balance(tx, predictions::LEDGER, &person)).await.unwrap();
        Money::from_units(balance.available).to_string()
    }

    /// Nothing contradicts anything; answers all cash and all escrow in units.
    pub(crate) async fn check(&self) -> i64 {
        let audit = self.store.read(|tx| predictions::audit::audit(tx)).await.unwrap();
        assert_eq!(audit.violations, Vec::<String>::new());
        audit.held + audit.pools.values().sum::<i64>()
    }
}

/// What a refusal is called.
pub(crate) fn code<T: std::fmt::Debug>(refused: Result<T, Fault>) -> &'static str {
    refused.unwrap_err().code.unwrap_or("none")
}
