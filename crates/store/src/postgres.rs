//! The PostgreSQL engine: writer and reader threads, each with one connection and a small runtime of
//! its own, so that no future ever holds a transaction.
//!
//! A command is a transaction. Batching several would hold all their locks until the last one ends, in
//! no global order, and gains little: the server groups the commits of its connections by itself.

mod address;
mod link;
mod pipeline;
mod reader;
mod session;
mod setup;
mod value;
mod writer;

use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicUsize};
use std::thread::JoinHandle;

use address::Address;
use kernel::id::Ids;

use crate::{
    OpenError, Options, Probe,
    clock::HighWater,
    options::THREADS_MAX,
    queue::{Queue, Rejected},
    sqlite::{QUEUE_MAX, join, start},
    work::{Read, Write},
};

/// What the threads of one store share.
struct Shared {
    address: Address,
    high: HighWater,
    ids: Arc<dyn Ids>,
    probe: Option<Probe>,
    writes: Queue<Box<dyn Write>>,
    reads: Queue<Box<dyn Read>>,
    writers_alive: AtomicUsize,
    readers_alive: AtomicUsize,
}

pub(crate) struct Postgres {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Postgres {
    pub(crate) fn open(url: &str, options: Options) -> Result<Self, OpenError> {
        let address = Address::parse(url)?;
        setup::run(&address, &options, options.clock.real_ms())?;
        let writers = options.writers.clamp(1, THREADS_MAX);
        let readers = options.readers.clamp(1, THREADS_MAX);
        let shared = Arc::new(Shared {
            address,
            high: HighWater::default(),
            ids: options.ids,
            probe: options.probe,
            writes: Queue::new(QUEUE_MAX),
            reads: Queue::new(QUEUE_MAX),
            writers_alive: AtomicUsize::new(writers),
            readers_alive: AtomicUsize::new(readers),
        });
        let this = Self { shared, threads: Mutex::default() };
        for number in 0..writers {
            let (runtime, shared) = (link::runtime()?, Arc::clone(&this.shared));
            this.keep(start(format!("store-write-{number}"), move || writer::run(&runtime, &shared))?);
        }
        for number in 0..readers {
            let (runtime, shared) = (link::runtime()?, Arc::clone(&this.shared));
            this.keep(start(format!("store-read-{number}"), move || reader::run(&runtime, &shared))?);
        }
        Ok(this)
    }

    fn keep(&self, thread: JoinHandle<()>) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }

    pub(crate) fn push_write(&self, work: Box<dyn Write>) -> Result<(), Rejected<Box<dyn Write>>> {
        self.shared.writes.push(work)
    }

    pub(crate) fn push_read(&self, work: Box<dyn Read>) -> Result<(), Rejected<Box<dyn Read>>> {
        self.shared.reads.push(work)
    }

    pub(crate) fn depth(&self) -> usize {
        self.shared.writes.len()
    }

    pub(crate) fn close(&self) {
        self.shared.writes.close();
        self.shared.reads.close();
        join(std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

/// The statements of this engine that are written in the shared subset.
pub(crate) fn statements() -> &'static [&'static kernel::tx::Sql] {
    session::ALL
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.close();
    }
}
