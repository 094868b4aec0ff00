//! The store as the rest of the house sees it: reads, commands, the clock. It hands work to the
//! engine's threads and waits; it holds no connection and runs no SQL itself.

use std::sync::{Arc, Mutex, PoisonError, mpsc};

use kernel::{
    Fault, Moment,
    operation::Json,
    time::Anchor,
    tx::{Command, Sql, Tx, Verdict},
};
use tokio::sync::oneshot;

use crate::{
    Engine, Once, OnceKey, OpenError, Options, Place,
    clock::{self, Change},
    once::{self, PRUNED_ROWS_MAX, Prune, UnderKey},
    postgres::Postgres,
    queue::Rejected,
    sqlite::Sqlite,
    work::{Asked, EngineTx, Read, Reply, Submitted, Write},
};

/// A handle; clones share one engine. The engine ends when the last one is dropped.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Backend,
    /// Held while the anchor changes, so that the engine learns of changes in their order.
    anchor_change: Mutex<()>,
}

enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Store {
    /// Opens the place, migrates it, and starts the threads.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let backend = match &options.place {
            Place::Memory | Place::Directory(_) => Backend::Sqlite(Sqlite::open(options)?),
            Place::Postgres(url) => Backend::Postgres(Postgres::open(&url.clone(), options)?),
        };
        Ok(Self { inner: Arc::new(Inner { backend, anchor_change: Mutex::new(()) }) })
    }

    /// Runs a query in a read-only snapshot on a reader thread.
    pub async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut dyn Tx) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (reply, answer) = oneshot::channel();
        self.submit_read(Box::new(Asked::new(|tx: &mut dyn EngineTx| query(tx), Reply::Future(reply))));
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Runs a command in a transaction on a writer thread. Dropping the future does not stop it.
    pub async fn write<T: Send + 'static>(
        &self,
        command: Box<dyn Command<Out = T>>,
    ) -> Result<Verdict<T>, Fault> {
        let (reply, answer) = oneshot::channel();
        self.submit_write(Submitted::new(command, Reply::Future(reply)));
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    /// [`Self::read`] for a thread that may wait.
    pub fn read_blocking<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut dyn Tx) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.ask_blocking(|tx| query(tx))
    }

    /// [`Self::write`] for a thread that may wait.
    pub fn write_blocking<T: Send + 'static>(
        &self,
        command: Box<dyn Command<Out = T>>,
    ) -> Result<Verdict<T>, Fault> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.submit_write(Submitted::new(command, Reply::Thread(reply)));
        answer.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// Runs a command under an idempotency key: the first run keeps its `Done` answer in the same
    /// transaction, later calls with the same key and hash get that answer and change nothing.
    pub async fn write_once(
        &self,
        key: OnceKey,
        command: Box<dyn Command<Out = Json>>,
    ) -> Result<Once, Fault> {
        match self.write(Box::new(UnderKey { key, command })).await? {
            Verdict::Done(once) => Ok(once),
            Verdict::Refused(fault) => Err(fault),
        }
    }

    /// What a repeat of `key` would be answered now; `None` while no run of it is committed.
    pub async fn once_known(&self, key: &OnceKey) -> Result<Option<Once>, Fault> {
        let key = key.clone();
        self.read(move |tx| once::known(tx, &key)).await
    }

    /// Deletes idempotency answers and commit marks that are past their time; for housekeeping.
    pub async fn prune(&self) -> Result<u64, Fault> {
        let mut pruned = 0;
        loop {
            let Verdict::Done(rows) = self.write(Box::new(Prune)).await? else { return Ok(pruned) };
            pruned += rows;
            if rows < PRUNED_ROWS_MAX.unsigned_abs() {
                return Ok(pruned);
            }
        }
    }

    /// Changes the speed of Arena time, which goes on from where it is. In thousandths. Waits for the
    /// commit, as do the other calls that are not `async`.
    pub fn set_speed(&self, speed_milli: i64) -> Result<(), Fault> {
        self.change_anchor(Change::SpeedMilli(speed_milli))
    }

    /// Moves Arena time forward.
    pub fn advance(&self, ms: i64) -> Result<(), Fault> {
        self.change_anchor(Change::AdvanceMs(ms))
    }

    pub fn anchor(&self) -> Result<Anchor, Fault> {
        self.ask_blocking(|tx| clock::load(tx))
    }

    /// Arena time.
    pub fn now(&self) -> Result<Moment, Fault> {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => Ok(sqlite.clock.read().0),
            Backend::Postgres(_) => self.ask_blocking(|tx| Ok(tx.now())),
        }
    }

    /// For doctor, metrics and the choice of limits; never to choose SQL by.
    pub fn engine(&self) -> Engine {
        match self.inner.backend {
            Backend::Sqlite(_) => Engine::Sqlite,
            Backend::Postgres(_) => Engine::Postgres,
        }
    }

    /// Commands that wait for a writer.
    pub fn queue_depth(&self) -> usize {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.depth(),
            Backend::Postgres(postgres) => postgres.depth(),
        }
    }

    /// Compiles the statements without running them; for doctor and tests.
    pub fn prepare_all(&self, statements: Vec<&'static Sql>) -> Result<(), Fault> {
        self.ask_blocking(move |tx| statements.into_iter().try_for_each(|sql| tx.prepare(sql)))
    }

    /// Finishes what is queued, ends the threads and folds SQLite's log into its file. Other clones of
    /// this handle answer "unavailable" from then on.
    pub fn close(self) {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.close(),
            Backend::Postgres(postgres) => postgres.close(),
        }
    }

    fn change_anchor(&self, change: Change) -> Result<(), Fault> {
        let _in_order = self.inner.anchor_change.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.write_blocking(Box::new(change))?, &self.inner.backend) {
            (Verdict::Done(anchor), Backend::Sqlite(sqlite)) => sqlite.clock.reanchor(anchor),
            // PostgreSQL reads its anchor in each transaction.
            (Verdict::Done(_), Backend::Postgres(_)) => {}
            (Verdict::Refused(fault), _) => return Err(fault),
        }
        Ok(())
    }

    fn ask_blocking<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut dyn EngineTx) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.submit_read(Box::new(Asked::new(query, Reply::Thread(reply))));
        answer.recv().unwrap_or_else(|_| Err(ended()))
    }

    fn submit_write(&self, work: Box<dyn Write>) {
        let pushed = match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.push_write(work),
            Backend::Postgres(postgres) => postgres.push_write(work),
        };
        match pushed {
            Ok(()) => {}
            Err(Rejected::Full(work)) => work.answer(Some(full())),
            Err(Rejected::Closed(work)) => work.answer(Some(closed())),
        }
    }

    fn submit_read(&self, work: Box<dyn Read>) {
        let pushed = match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.push_read(work),
            Backend::Postgres(postgres) => postgres.push_read(work),
        };
        match pushed {
            Ok(()) => {}
            Err(Rejected::Full(work)) => work.refuse(full()),
            Err(Rejected::Closed(work)) => work.refuse(closed()),
        }
    }
}

fn full() -> Fault {
    Fault::unavailable("the store's queue is full")
}

fn closed() -> Fault {
    Fault::unavailable("the store is closed")
}

/// A thread of the store ended before it answered; a command's effect is then unknown.
fn ended() -> Fault {
    Fault::of(
        kernel::Kind::Unavailable,
        "the server stopped before it could answer; look at the state before you repeat a change",
    )
    .with_retry_after(1)
    .with_context("a thread of the store ended before it answered")
}
