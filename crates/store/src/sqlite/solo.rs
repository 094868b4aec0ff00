//! A store in memory for one thread: the same statements and transactions, run where the caller is, for
//! simulations that make thousands of calls and keep nothing.
//!
//! Commands share long transactions, because there is nothing to be durable in; each still has its
//! savepoint, so that a failure undoes exactly itself.

use kernel::{
    Fault, Moment,
    operation::Step,
    tx::{Command, Sql, Tx, Verdict},
};
use rusqlite::Connection;

use super::{
    connect,
    session::{Access, Session},
};
use crate::{OpenError, Options, clock::LocalClock, dialect};

static BEGIN: Sql = Sql { name: "store::begin_solo", text: dialect::BEGIN_WRITE.sqlite };
static COMMIT: Sql = Sql { name: "store::commit_solo", text: "COMMIT" };
static SAVE: Sql = Sql { name: "store::savepoint_solo", text: "SAVEPOINT command" };
static KEEP: Sql = Sql { name: "store::release_solo", text: "RELEASE command" };
static UNDO: Sql = Sql { name: "store::rollback_to_solo", text: "ROLLBACK TO command" };

/// Commands that share a transaction, so that the journal in memory stays small.
const SHARED_MAX: u32 = 512;

/// The store of one thread.
pub struct Solo<'c> {
    session: Session<'c>,
    /// Commands since the transaction began; `None` outside of one.
    running: Option<u32>,
}

/// Opens a store in memory with the options' clock and schemas, and runs `game` on it in this thread. The
/// options' place is not looked at.
pub fn solo<T>(options: Options, game: impl FnOnce(&mut Solo<'_>) -> T) -> Result<T, OpenError> {
    let mut conn: Connection = connect::writer(None)?;
    let real_ms = options.clock.real_ms();
    let shown = std::path::PathBuf::from(":memory:");
    connect::migrate(&mut conn, &options, real_ms, &shown)?;
    let (anchor, high_ms) =
        connect::anchor(&conn).map_err(|cause| OpenError::Sqlite { path: shown, cause })?;
    let clock = LocalClock::new(options.clock, anchor, high_ms);
    let mut solo = Solo { session: Session::new(&conn, &clock, Access::ReadWrite), running: None };
    Ok(game(&mut solo))
}

impl Solo<'_> {
    /// Arena time.
    pub fn now(&mut self) -> Moment {
        self.session.begin(Access::ReadOnly);
        self.session.now()
    }

    /// Looks at the state.
    pub fn read<T>(&mut self, look: impl FnOnce(&mut dyn Tx) -> Result<T, Fault>) -> Result<T, Fault> {
        self.session.begin(Access::ReadOnly);
        let looked = look(&mut self.session);
        self.session.take_failure().map_or(looked, Err)
    }

    /// Runs a command.
    pub fn write<T: Send>(&mut self, command: &dyn Command<Out = T>) -> Result<Verdict<T>, Fault> {
        self.session.begin(Access::ReadWrite);
        self.begin()?;
        self.session.control(&SAVE, &[])?;
        let answer = command.run(&mut self.session);
        let answer = self.session.take_failure().map_or(answer, Err);
        if answer.is_err() {
            self.session.control(&UNDO, &[])?;
        }
        self.session.control(&KEEP, &[])?;
        answer
    }

    /// Takes an operation from its first step to its end. One that waits for something outside of the
    /// store cannot be taken here.
    pub fn call<T: Send>(
        &mut self,
        start: impl FnOnce(&mut dyn Tx) -> Result<Step<T>, Fault>,
    ) -> Result<Verdict<T>, Fault> {
        match self.read(start)? {
            Step::Done(out) => Ok(Verdict::Done(out)),
            Step::Run(command) => self.write(&*command),
            Step::Wait(_) => Err(Fault::internal("a store of one thread waits for nothing")),
        }
    }

    fn begin(&mut self) -> Result<(), Fault> {
        match self.running {
            Some(count) if count < SHARED_MAX => self.running = Some(count + 1),
            running => {
                if running.is_some() {
                    self.session.control(&COMMIT, &[])?;
                }
                self.session.control(&BEGIN, &[])?;
                self.running = Some(1);
            }
        }
        Ok(())
    }
}
