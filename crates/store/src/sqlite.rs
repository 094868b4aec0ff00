//! The SQLite engine: one writer thread with group commit, and reader threads that each read a
//! snapshot. One process holds a directory; a lock file refuses the second.

mod connect;
mod copy;
mod directory;
mod fresh;
mod kept;
mod reader;
mod session;
mod shape;
mod solo;
mod writer;

use std::{
    fs::File,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

pub(crate) use connect::SQLITE_MIN;
pub use copy::{Hold, copy, hold, inspect, look, schemas};
pub use solo::{Solo, solo};

use crate::{
    OpenError, Options, Place,
    clock::LocalClock,
    options::THREADS_MAX,
    queue::{Queue, Rejected},
    work::{Read, Write},
};

/// Commands and queries that may wait, each.
pub(crate) const QUEUE_MAX: usize = 4096;

/// What a thread finds in the writer's queue. Without a file, queries go there too: an in-memory
/// database has one connection.
pub(crate) enum Work {
    Write(Box<dyn Write>),
    Read(Box<dyn Read>),
}

pub(crate) struct Sqlite {
    writer: Arc<Queue<Work>>,
    /// `None` in memory.
    readers: Option<Arc<Queue<Box<dyn Read>>>>,
    pub(crate) clock: Arc<LocalClock>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Released after the threads have ended.
    lock: Mutex<Option<File>>,
}

impl Sqlite {
    pub(crate) fn open(options: Options) -> Result<Self, OpenError> {
        connect::check_version(rusqlite::version_number(), rusqlite::version())?;
        let (path, lock) = match &options.place {
            Place::Directory(directory) => {
                let lock = directory::hold(directory)?;
                (Some(directory.join(crate::FILE_NAME)), Some(lock))
            }
            Place::Memory | Place::Postgres(_) => (None, None),
        };
        let mut conn = connect::writer(path.as_deref())?;
        let real_ms = options.clock.real_ms();
        let shown = path.clone().unwrap_or_default();
        connect::migrate(&mut conn, &options, real_ms, &shown)?;
        let failed = |cause| OpenError::Sqlite { path: shown.clone(), cause };
        let (anchor, high_ms) = connect::anchor(&conn).map_err(failed)?;
        let clock = Arc::new(LocalClock::new(options.clock, anchor, high_ms));

        let mut this = Self {
            writer: Arc::new(Queue::new(QUEUE_MAX)),
            readers: path.is_some().then(|| Arc::new(Queue::new(QUEUE_MAX))),
            clock,
            threads: Mutex::default(),
            lock: Mutex::new(lock),
        };
        if let (Some(path), Some(queue)) = (&path, &this.readers) {
            let mut readers = Vec::new();
            for number in 0..options.readers.clamp(1, THREADS_MAX) {
                let conn = connect::reader(path)?;
                let (queue, clock) = (Arc::clone(queue), Arc::clone(&this.clock));
                readers
                    .push(start(format!("store-read-{number}"), move || reader::run(&conn, &queue, &clock))?);
            }
            this.threads = Mutex::new(readers);
        }
        let (queue, clock) = (Arc::clone(&this.writer), Arc::clone(&this.clock));
        let on_disk = path.is_some();
        let writer = start("store-write".to_owned(), move || {
            writer::Writer { conn: &conn, queue: &queue, clock: &clock, probe: options.probe, on_disk }.run();
        })?;
        this.threads.lock().unwrap_or_else(PoisonError::into_inner).push(writer);
        Ok(this)
    }

    pub(crate) fn push_write(&self, work: Box<dyn Write>) -> Result<(), Rejected<Box<dyn Write>>> {
        let back = |work| match work {
            Work::Write(work) => Some(work),
            Work::Read(_) => None,
        };
        self.writer.push(Work::Write(work)).or_else(|rejected| match rejected {
            Rejected::Full(work) => back(work).map_or(Ok(()), |work| Err(Rejected::Full(work))),
            Rejected::Closed(work) => back(work).map_or(Ok(()), |work| Err(Rejected::Closed(work))),
        })
    }

    pub(crate) fn push_read(&self, work: Box<dyn Read>) -> Result<(), Rejected<Box<dyn Read>>> {
        if let Some(readers) = &self.readers {
            return readers.push(work);
        }
        let back = |work| match work {
            Work::Read(work) => Some(work),
            Work::Write(_) => None,
        };
        self.writer.push(Work::Read(work)).or_else(|rejected| match rejected {
            Rejected::Full(work) => back(work).map_or(Ok(()), |work| Err(Rejected::Full(work))),
            Rejected::Closed(work) => back(work).map_or(Ok(()), |work| Err(Rejected::Closed(work))),
        })
    }

    pub(crate) fn depth(&self) -> usize {
        self.writer.len()
    }

    /// Readers end first, so that the writer's last checkpoint finds nobody in the log.
    pub(crate) fn close(&self) {
        if let Some(readers) = &self.readers {
            readers.close();
        }
        let mut threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let writer = threads.pop();
        join(threads);
        self.writer.close();
        join(writer);
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.close();
    }
}

pub(crate) fn start(name: String, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, OpenError> {
    thread::Builder::new().name(name).spawn(run).map_err(|cause| OpenError::Thread { cause })
}

/// Waits for threads; a command that holds the last handle cannot wait for its own thread.
pub(crate) fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for handle in threads {
        if handle.thread().id() != thread::current().id() && handle.join().is_err() {
            tracing::error!("a thread of the store ended by a panic");
        }
    }
}
