//! A whole Arena in this process: a real store, the real doors on a real listener, and a clock that
//! moves only when the test says so.

use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use doors::{CardPress, DoorsConfig, HttpLimits, ServerName};
use duels::{Duels, outside::Outside};
use identity::{
    keys::{self, NewKey},
    people,
};
use kernel::{
    Fault,
    card::Card,
    id::{DerivedIds, Ids, SeededIds},
    tx::{Command, Tx, Verdict},
};
use store::{Store, limits::Limits};
use testkit::{StillClock, TestPlace, TrigramEmbedder};
use tokio::{runtime::Runtime, sync::oneshot, task::JoinHandle};

/// 2026-08-24T14:00:00Z.
const BEGIN_MS: i64 = 1_787_580_000_000;

pub(crate) const SCOPE: &str = duels::SCOPE;

/// The press, as the server's own wiring passes it in.
struct Printer(cards::Press);

impl CardPress for Printer {
    fn mark(&self, card: &Card) -> String {
        self.0.mark(card)
    }

    fn draw(&self, card: &Card) -> Result<Vec<u8>, Fault> {
        self.0.draw(card).map_err(Fault::internal)
    }

    fn size(&self) -> [u32; 2] {
        [cards::WIDTH, cards::HEIGHT]
    }
}

pub(crate) struct House {
    pub(crate) address: String,
    pub(crate) store: Store,
    clock: StillClock,
    ids: Arc<dyn Ids>,
    serving: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    runtime: Runtime,
    drawn: AtomicU64,
    _place: TestPlace,
}

impl House {
    pub(crate) fn open() -> Self {
        let place = TestPlace::sqlite();
        let clock = StillClock::at(BEGIN_MS);
        let ids: Arc<dyn Ids> = Arc::new(SeededIds::new(11));
        let mut options = place.options(&[identity::SCHEMA, duels::SCHEMA]);
        options.clock = Arc::new(clock.clone());
        options.ids = Arc::clone(&ids);
        let store = Store::open(options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let public_url = format!("http://{address}");
        let service = Duels::open(
            &store,
            Arc::clone(&ids),
            &public_url,
            Outside { embedder: Some(Arc::new(TrigramEmbedder)), ..Outside::default() },
        )
        .unwrap();
        let limits = HttpLimits::default();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let entered = runtime.enter();
        let router = doors::router(DoorsConfig {
            limiter: Arc::new(Limits::of(store.engine())),
            store: store.clone(),
            products: vec![duels::product(&service)],
            authenticate: Arc::new(identity::authenticate),
            ids: Arc::clone(&ids),
            clock: Arc::new(clock.clone()),
            server: ServerName { name: "arena".into(), title: "Arena".into(), version: "1".into() },
            public_url: public_url.parse().unwrap(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            loopback_origins: true,
            root_mcp: "duels".to_owned(),
            limits,
            extra: axum::Router::new(),
            cards: Some(Arc::new(Printer(cards::Press::new("Arena", address.clone())))),
            sign_in: None,
            on_request: None,
        })
        .unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(doors::serve(listener, router, limits, async move {
            // The sender is dropped or sends: both end it.
            let _ = stopped.await;
        }));
        drop(entered);
        let serving = Some((stop, serving));
        Self { address, store, clock, ids, serving, runtime, drawn: AtomicU64::new(0), _place: place }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.store.now().unwrap().as_millis()
    }

    pub(crate) fn advance(&self, ms: i64) {
        self.clock.shift(ms);
    }

    /// A person with a duels account; answers a key that can play.
    pub(crate) fn join(&self, nickname: &str, points: i64) -> String {
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&self.drawn.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        let join = Join { id: self.ids.slug(), nickname: nickname.to_owned(), points, seed };
        assert_eq!(self.store.write_blocking(Box::new(join)).unwrap(), Verdict::Done(()));
        self.key(nickname, SCOPE, None)
    }

    /// Another key; a scope that no product has is one that this key cannot play with.
    pub(crate) fn key(&self, nickname: &str, scope: &str, expires_in_days: Option<i64>) -> String {
        let mut key = NewKey::draw(&*self.ids, "test", &[SCOPE.to_owned()], expires_in_days).unwrap();
        key.scopes = vec![scope.to_owned()];
        let token = key.token.clone();
        let add = AddKey { nickname: nickname.to_owned(), key };
        assert_eq!(self.store.write_blocking(Box::new(add)).unwrap(), Verdict::Done(()));
        token
    }

    pub(crate) fn revoke(&self, nickname: &str, token: &str) {
        let prefix = token.chars().take(keys::SHOWN_CHARS).collect();
        let revoke = RevokeKey { nickname: nickname.to_owned(), prefix };
        assert_eq!(self.store.write_blocking(Box::new(revoke)).unwrap(), Verdict::Done(()));
    }

    /// One sweep of the deadline worker, one duel after the other, longest overdue first.
    pub(crate) fn sweep(&self) {
        let ids = Arc::clone(&self.ids);
        let due = self.store.read_blocking(|tx| duels::worker::due(tx)).unwrap();
        for slug in due {
            let ids = Arc::clone(&ids);
            let command = self
                .store
                .read_blocking(move |tx| duels::worker::settle_command(tx, &*ids, &slug))
                .unwrap()
                .unwrap();
            self.store.write_blocking(Box::new(command)).unwrap();
        }
    }

    /// The ledger and everything else that must always hold.
    pub(crate) fn assert_sound(&self) {
        let audit = self.store.read_blocking(|tx| duels::audit::audit(tx)).unwrap();
        assert_eq!(audit.violations, Vec::<String>::new());
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some((stop, serving)) = self.serving.take() {
            drop(stop);
            // A test that fails with a request under way need not wait for it.
            let _ = self
                .runtime
                .block_on(async { tokio::time::timeout(std::time::Duration::from_secs(5), serving).await });
        }
    }
}

struct Join {
    id: String,
    nickname: String,
    points: i64,
    seed: [u8; 16],
}

impl Command for Join {
    type Out = ();

    fn name(&self) -> &'static str {
        "test.join"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let person = people::create(tx, &self.id, &self.nickname)?;
        duels::open_account(tx, &DerivedIds::new(self.seed), &person.id, &person.nickname, self.points)?;
        Ok(Verdict::Done(()))
    }
}

struct AddKey {
    nickname: String,
    key: NewKey,
}

impl Command for AddKey {
    type Out = ();

    fn name(&self) -> &'static str {
        "test.add_key"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        keys::insert(tx, &person, &self.key).map(|_| Verdict::Done(()))
    }
}

struct RevokeKey {
    nickname: String,
    prefix: String,
}

impl Command for RevokeKey {
    type Out = ();

    fn name(&self) -> &'static str {
        "test.revoke_key"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let person = people::get(tx, &self.nickname)?;
        keys::revoke(tx, &person, &self.prefix).map(|_| Verdict::Done(()))
    }
}
