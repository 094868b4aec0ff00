//! The writer thread: what is queued becomes one transaction with a savepoint a command, and nobody
//! is answered before it is durable. There is no delay to make batches larger: while one is synced,
//! the next one gathers.

use std::{collections::VecDeque, time::Duration};

use kernel::{Fault, tx::Sql};
use rusqlite::Connection;

use super::{
    Work,
    reader::answer,
    session::{Access, Session},
};
use crate::{
    Point, Probe,
    clock::{self, LocalClock},
    dialect,
    queue::{Popped, Queue},
    work::Write,
};

/// Commands that share a commit at most; they also share its fate.
const BATCH_MAX: usize = 256;
/// After so long without work the log is folded into the file.
const IDLE: Duration = Duration::from_secs(1);
const IDLE_FOR_EVER: Duration = Duration::from_hours(1);
/// How long an idle checkpoint waits for readers, and so may hold up the next command.
const CHECKPOINT_PATIENCE: Duration = Duration::from_millis(20);

static BEGIN: Sql = Sql { name: "store::begin_write", text: dialect::BEGIN_WRITE.sqlite };
static SAVE: Sql = Sql { name: "store::savepoint", text: "SAVEPOINT command" };
static KEEP: Sql = Sql { name: "store::release", text: "RELEASE command" };
static UNDO: Sql = Sql { name: "store::rollback_to", text: "ROLLBACK TO command" };
static COMMIT: Sql = Sql { name: "store::commit", text: "COMMIT" };
static ROLLBACK: Sql = Sql { name: "store::rollback", text: "ROLLBACK" };
static CHECKPOINT: Sql = Sql { name: "store::checkpoint", text: "PRAGMA wal_checkpoint(TRUNCATE)" };

pub(super) struct Writer<'c> {
    pub(super) conn: &'c Connection,
    pub(super) queue: &'c Queue<Work>,
    pub(super) clock: &'c LocalClock,
    pub(super) probe: Option<Probe>,
    pub(super) on_disk: bool,
}

/// A command that has run, with the fault that replaces its own answer.
struct Settled {
    work: Box<dyn Write>,
    instead: Option<Fault>,
}

impl Writer<'_> {
    pub(super) fn run(self) {
        // If this thread ever ends by a panic, callers get an answer instead of waiting for ever.
        let _abandon = Abandon(self.queue);
        let mut session = Session::new(self.conn, self.clock, Access::ReadWrite);
        let mut unfolded = false;
        loop {
            let patience = if unfolded { IDLE } else { IDLE_FOR_EVER };
            match self.queue.pop(BATCH_MAX, patience) {
                Popped::Items(items) => unfolded |= self.work_off(&mut session, items),
                Popped::Idle => {
                    self.fold(&mut session);
                    unfolded = false;
                }
                Popped::Closed => break,
            }
        }
        self.mark_last(&mut session);
        self.fold(&mut session);
    }

    /// Batches commands up to the next query, which must see only what is committed. Tells whether
    /// anything was written.
    fn work_off(&self, session: &mut Session<'_>, items: VecDeque<Work>) -> bool {
        let mut batch = Vec::with_capacity(items.len());
        let mut wrote = false;
        for item in items {
            match item {
                Work::Write(work) => batch.push(work),
                Work::Read(work) => {
                    self.commit_batch(session, std::mem::take(&mut batch));
                    answer(session, work);
                    continue;
                }
            }
            wrote = true;
        }
        self.commit_batch(session, batch);
        wrote
    }

    fn commit_batch(&self, session: &mut Session<'_>, batch: Vec<Box<dyn Write>>) {
        if batch.is_empty() {
            return;
        }
        session.begin(Access::ReadWrite);
        if let Err(fault) = session.control(&BEGIN, &[]) {
            return refuse_all(batch, &fault);
        }
        let mut settled = Vec::with_capacity(batch.len());
        let mut waiting = batch.into_iter();
        while let Some(work) = waiting.next() {
            match self.run_one(session, work) {
                Ok(one) => settled.push(one),
                Err((work, fault)) => {
                    // The transaction is gone, and with it every command before this one.
                    let lost = settled.into_iter().map(|one: Settled| one.work);
                    return self.give_up(session, lost.chain([work]).chain(waiting), &fault);
                }
            }
            if waiting.len() > 0 {
                self.probe(Point::InBatch { done: settled.len() });
            }
        }
        let finished = self.mark(session).and_then(|marked| {
            self.probe(Point::BeforeCommit);
            session.control(&COMMIT, &[]).map(|()| marked)
        });
        match finished {
            Ok(marked) => {
                if let Some(real_ms) = marked {
                    self.clock.high.marked(real_ms);
                }
                self.probe(Point::AfterCommit);
                for one in settled {
                    one.work.answer(one.instead);
                }
            }
            Err(fault) => self.give_up(session, settled.into_iter().map(|one| one.work), &fault),
        }
    }

    /// Runs a command in its savepoint; `Err` when the whole transaction is gone.
    fn run_one(
        &self,
        session: &mut Session<'_>,
        mut work: Box<dyn Write>,
    ) -> Result<Settled, (Box<dyn Write>, Fault)> {
        session.begin(Access::ReadWrite);
        if let Err(fault) = session.control(&SAVE, &[]) {
            return Err((work, fault));
        }
        let wanted = work.run(session);
        let failure = session.take_failure();
        if self.conn.is_autocommit() {
            let gone = || Fault::unavailable("SQLite rolled the transaction back");
            return Err((work, failure.unwrap_or_else(gone)));
        }
        // A command that went on after an error of its transaction is rolled back all the same.
        let keep = wanted && failure.is_none();
        let undone = if keep { Ok(()) } else { session.control(&UNDO, &[]) };
        match undone.and_then(|()| session.control(&KEEP, &[])) {
            Ok(()) if wanted => Ok(Settled { work, instead: failure }),
            Ok(()) => Ok(Settled { work, instead: None }),
            Err(fault) => Err((work, fault)),
        }
    }

    /// Writes the clock's high-water mark when it is due.
    fn mark(&self, session: &mut Session<'_>) -> Result<Option<i64>, Fault> {
        let (_, real_ms) = self.clock.read();
        let Some(high_ms) = self.clock.high.due(real_ms) else { return Ok(None) };
        session.control(clock::marking(), &[high_ms.into()]).map(|()| Some(real_ms))
    }

    fn mark_last(&self, session: &mut Session<'_>) {
        session.begin(Access::ReadWrite);
        let (high, _) = self.clock.read();
        if let Err(fault) = session.control(clock::marking(), &[high.into()]) {
            tracing::warn!(context = fault.context(), "the clock's mark was not written at the end");
        }
    }

    fn give_up(&self, session: &mut Session<'_>, lost: impl Iterator<Item = Box<dyn Write>>, fault: &Fault) {
        if !self.conn.is_autocommit()
            && let Err(fault) = session.control(&ROLLBACK, &[])
        {
            tracing::error!(context = fault.context(), "a failed batch could not be rolled back");
        }
        refuse_all(lost, fault);
    }

    fn fold(&self, session: &mut Session<'_>) {
        if !self.on_disk {
            return;
        }
        session.begin(Access::ReadWrite);
        let before = self.conn.busy_timeout(CHECKPOINT_PATIENCE);
        let folded = session.control(&CHECKPOINT, &[]);
        if let (Err(fault), Ok(())) = (folded, before) {
            tracing::warn!(context = fault.context(), "the log could not be folded into the database file");
        }
        if let Err(error) = self.conn.busy_timeout(super::connect::BUSY) {
            tracing::warn!(%error, "the busy time-out could not be restored");
        }
    }

    fn probe(&self, point: Point) {
        if let Some(probe) = &self.probe {
            probe(point);
        }
    }
}

/// Tells every command of a lost batch that nothing was changed. The cause is for the log.
fn refuse_all(lost: impl IntoIterator<Item = Box<dyn Write>>, fault: &Fault) {
    let cause = fault.context().unwrap_or("no cause given");
    let mut count = 0_usize;
    for work in lost {
        tracing::debug!(command = work.name(), "lost with its batch");
        work.answer(Some(Fault::unavailable(cause)));
        count += 1;
    }
    tracing::error!(commands = count, cause, "a batch was not committed; its commands were refused");
}

struct Abandon<'q>(&'q Queue<Work>);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
