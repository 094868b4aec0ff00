//! A server process that a test can trap: the test binary starts itself again, and the test of that
//! name becomes the server. It is wired like the program's own, with a probe and a few routes more.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, State},
    routing::get,
};
use doors::{DoorsConfig, HttpLimits, ServerName};
use duels::{Duels, outside::Outside};
use kernel::{
    id::{Ids, OsIds},
    time::SystemClock,
};
use serde::{Deserialize, Serialize};
use store::{
    Options, Place, Store,
    jobs::{self, Attempt, Job, Worker},
    limits::Limits,
};
use tokio::sync::{Mutex, Notify, watch};

use super::{
    trap::{self, Trap, Trigger},
    truth::{self, Truth},
};
use crate::process::Server;

/// The variable that makes a test become a server.
const ORDER: &str = "ARENA_TEST_FAULT_ORDER";
/// What a killed server had claimed is free again so soon.
const LEASE_SHORT_MS: i64 = 200;
const JOBS_PAUSE: Duration = Duration::from_millis(20);

/// What kind of server is wanted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) directory: Option<PathBuf>,
    pub(crate) database_url: Option<String>,
    pub(crate) speed_milli: i64,
    pub(crate) trigger: Option<Trigger>,
    /// Whether due duels are settled by a worker.
    pub(crate) deadlines: bool,
    pub(crate) jobs: Jobs,
}

/// How this node does jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Jobs {
    Never,
    /// Until the trap is armed.
    UntilArmed,
    Always,
    /// Freezes after it did its first job, before it says so.
    FreezeOnce {
        lease_ms: i64,
    },
    /// Claims, and does nothing until it is released.
    Held {
        lease_ms: i64,
    },
}

/// The order that this process was started with, if it is to be a server.
pub(crate) fn asked() -> Option<Order> {
    let text = std::env::var_os(ORDER)?;
    Some(serde_json::from_str(text.to_str().unwrap()).unwrap())
}

/// Starts the server; `test` is the whole name of the test that becomes it.
pub(crate) fn start(test: &str, order: &Order) -> Server {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("RUST_BACKTRACE", "0")
        .env(ORDER, serde_json::to_string(order).unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .stdin(Stdio::null());
    Server::start(&mut command)
}

struct Inside {
    store: Store,
    trap: Arc<Trap>,
    speed_milli: i64,
    jobs_at_start: i64,
    /// Looks for jobs that have ended.
    looks: Arc<AtomicU64>,
    released: Arc<Notify>,
    stop_jobs: watch::Sender<bool>,
    jobs: Mutex<Option<tokio::task::JoinHandle<()>>>,
    jobs_end_when_armed: bool,
}

/// Serves until it is killed.
#[expect(clippy::print_stderr, reason = "the test that started this process waits for the line")]
pub(crate) fn serve(order: &Order) {
    let place = match (&order.directory, &order.database_url) {
        (Some(path), None) => Place::Directory(path.clone()),
        (None, Some(url)) => Place::Postgres(url.clone()),
        other => panic!("one place is needed: {other:?}"),
    };
    let trap = Arc::new(Trap::new(order.trigger));
    let mut options = Options::new(place);
    options.schemas = vec![store::SCHEMA, identity::SCHEMA, duels::SCHEMA];
    options.writers = 4;
    let probing = Arc::clone(&trap);
    options.probe = Some(Arc::new(move |point| probing.reached(point)));
    let store = Store::open(options).unwrap();
    trap.watch(store.clone());
    if store.anchor().unwrap().speed_milli != order.speed_milli {
        store.set_speed(order.speed_milli).unwrap();
    }
    let jobs_at_start = store.read_blocking(|tx| truth::pending_jobs(tx)).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());

    let ids: Arc<dyn Ids> = Arc::new(OsIds);
    let service = Duels::open(&store, Arc::clone(&ids), &base, Outside::default()).unwrap();
    let (stop_jobs, _) = watch::channel(false);
    let inside = Arc::new(Inside {
        store: store.clone(),
        trap,
        speed_milli: order.speed_milli,
        jobs_at_start,
        looks: Arc::default(),
        released: Arc::default(),
        stop_jobs,
        jobs: Mutex::new(None),
        jobs_end_when_armed: order.jobs == Jobs::UntilArmed,
    });
    let limits = HttpLimits::default();
    let router = doors::router(DoorsConfig {
        limiter: Arc::new(Limits::of(store.engine())),
        store: store.clone(),
        products: vec![duels::product(&service)],
        authenticate: Arc::new(identity::authenticate),
        ids: Arc::clone(&ids),
        clock: Arc::new(SystemClock),
        server: ServerName { name: "arena".into(), title: "Arena".into(), version: "0".into() },
        public_url: base.parse().unwrap(),
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
        loopback_origins: true,
        root_mcp: "duels".to_owned(),
        limits,
        extra: routes(&inside),
        cards: None,
        sign_in: None,
        on_request: None,
    })
    .unwrap();
    let (deadlines, kind) = (order.deadlines, order.jobs);
    testkit::engines::block_on(async move {
        let (_stop, stopping) = watch::channel(false);
        if deadlines {
            tokio::spawn(duels::worker::run(store, service, stopping));
        }
        if kind != Jobs::Never {
            *inside.jobs.lock().await = Some(tokio::spawn(do_jobs(Arc::clone(&inside), ids, kind)));
        }
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        eprintln!("ready on {base}");
        doors::serve(listener, router, limits, std::future::pending()).await;
    });
}

fn routes(inside: &Arc<Inside>) -> Router {
    Router::new()
        .route("/fault/truth", get(tell))
        .route("/fault/arm/{hits}", get(arm))
        .route("/fault/looks", get(looks))
        .route("/fault/release", get(release))
        .with_state(Arc::clone(inside))
}

async fn tell(State(inside): State<Arc<Inside>>) -> Json<Truth> {
    let late_ms = inside.speed_milli;
    let mut truth = inside.store.read(move |tx| truth::read(tx, late_ms)).await.unwrap();
    truth.jobs_at_start = inside.jobs_at_start;
    Json(truth)
}

async fn arm(State(inside): State<Arc<Inside>>, Path(hits): Path<i64>) -> &'static str {
    if inside.jobs_end_when_armed
        && let Some(task) = inside.jobs.lock().await.take()
    {
        inside.stop_jobs.send_replace(true);
        task.await.unwrap();
    }
    tokio::task::spawn_blocking(move || inside.trap.arm(hits)).await.unwrap();
    "armed"
}

async fn looks(State(inside): State<Arc<Inside>>) -> String {
    inside.looks.load(Ordering::SeqCst).to_string()
}

async fn release(State(inside): State<Arc<Inside>>) -> &'static str {
    // A permit is kept for a worker that waits later.
    inside.released.notify_one();
    "released"
}

async fn do_jobs(inside: Arc<Inside>, ids: Arc<dyn Ids>, kind: Jobs) {
    let (lease_ms, workers) = match kind {
        Jobs::Never => return,
        Jobs::UntilArmed | Jobs::Always => (LEASE_SHORT_MS, duels::behaviour::workers(&Outside::default())),
        Jobs::FreezeOnce { lease_ms } => (lease_ms, Odd::workers(&inside, OddWay::FreezeOnce)),
        Jobs::Held { lease_ms } => (lease_ms, Odd::workers(&inside, OddWay::Hold)),
    };
    while !*inside.stop_jobs.borrow() {
        let tried = jobs::run_once(&inside.store, &*ids, &workers, lease_ms).await.unwrap();
        inside.looks.fetch_add(1, Ordering::SeqCst);
        if tried == 0 {
            tokio::time::sleep(JOBS_PAUSE).await;
        }
    }
}

#[derive(Clone, Copy)]
enum OddWay {
    FreezeOnce,
    Hold,
}

/// A worker of the product's that is late in an odd way.
struct Odd {
    inner: Arc<dyn Worker>,
    way: OddWay,
    frozen: AtomicBool,
    released: Arc<Notify>,
}

impl Odd {
    fn workers(inside: &Inside, way: OddWay) -> Vec<Arc<dyn Worker>> {
        let odd = |inner| -> Arc<dyn Worker> {
            let released = Arc::clone(&inside.released);
            Arc::new(Self { inner, way, frozen: AtomicBool::new(false), released })
        };
        duels::behaviour::workers(&Outside::default()).into_iter().map(odd).collect()
    }
}

impl Worker for Odd {
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn perform<'a>(&'a self, store: &'a Store, job: &'a Job) -> Attempt<'a> {
        Box::pin(async move {
            if matches!(self.way, OddWay::Hold) {
                self.released.notified().await;
                self.released.notify_one();
            }
            self.inner.perform(store, job).await?;
            if matches!(self.way, OddWay::FreezeOnce) && !self.frozen.swap(true, Ordering::SeqCst) {
                trap::freeze();
            }
            Ok(())
        })
    }
}
