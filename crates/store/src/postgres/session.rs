//! A PostgreSQL connection as a transaction: each statement is sent and waited for on the thread's own
//! runtime, and the first error decides the transaction's fate whatever the command makes of it.

use std::{future::Future, time::Duration};

use kernel::{
    Fault, Moment,
    time::Anchor,
    tx::{Row, Sql, Tx, Val},
};
use tokio::runtime::Runtime;
use tokio_postgres::{Statement, error::SqlState, types::ToSql};

use super::{
    address::{STATEMENT_MS_MAX, described},
    link::Link,
    pipeline::{IN_FLIGHT_MAX, in_order},
    value::{self, Arg},
};
use crate::{clock::HighWater, dialect, work::EngineTx};

/// The server stops a statement first; when even that does not arrive, the connection counts as lost.
const ANSWER_PATIENCE: Duration = Duration::from_millis(STATEMENT_MS_MAX + 2_000);
const SEQUENCE_NAME_BYTES_MAX: usize = 40;

static CLOCK: Sql = Sql { name: "store::clock", text: dialect::CLOCK.postgres };
static LOCK: Sql = Sql { name: "store::lock", text: dialect::LOCK.postgres };
static NEXT: Sql = Sql { name: "store::next_number", text: dialect::NEXT_NUMBER.postgres };

kernel::statements! {
    NEW_GUARD = "INSERT INTO guard (name) VALUES ($1) ON CONFLICT (name) DO NOTHING";
    SEQUENCE = "SELECT value FROM sequence WHERE name = $1";
    NEW_SEQUENCE = "INSERT INTO sequence (name, value) VALUES ($1, 0)";
}

/// Why a transaction cannot go on.
#[derive(Debug, Clone)]
pub(super) enum Broken {
    /// It met another one; the whole command runs again.
    Conflict(String),
    /// The connection is gone, and the server rolls back.
    Lost(String),
    /// The server takes no writes: a query that writes, or a primary that became a standby.
    ReadOnly(String),
    /// The statement failed.
    Failed(Fault),
}

impl Broken {
    pub(super) fn fault(&self) -> Fault {
        match self {
            Self::Conflict(cause) | Self::Lost(cause) => Fault::unavailable(cause),
            Self::ReadOnly(cause) => Fault::internal(cause),
            Self::Failed(fault) => fault.clone(),
        }
    }
}

pub(super) struct Session<'s> {
    runtime: &'s Runtime,
    pub(super) link: &'s mut Link,
    high: &'s HighWater,
    now: Moment,
    real_ms: i64,
    pub(super) broken: Option<Broken>,
}

impl<'s> Session<'s> {
    /// Opens a transaction and reads the clock in one round trip.
    pub(super) fn begin(
        runtime: &'s Runtime,
        link: &'s mut Link,
        high: &'s HighWater,
        begin: &dialect::Entry,
    ) -> Result<Self, Broken> {
        let now = Moment::from_millis(0);
        let mut this = Self { runtime, link, high, now, real_ms: 0, broken: None };
        let clock = this.compile(&CLOCK)?;
        let client = &this.link.client;
        let both =
            futures_util::future::join(client.batch_execute(begin.postgres), client.query(&clock, &[]));
        let (begun, rows) = wait(runtime, async { Ok(both.await) }, &CLOCK)?;
        begun.map_err(|error| broken(&CLOCK, &error))?;
        this.set_clock(&rows.map_err(|error| broken(&CLOCK, &error))?)?;
        Ok(this)
    }

    fn compile(&mut self, sql: &'static Sql) -> Result<Statement, Broken> {
        wait(self.runtime, self.link.compile(sql), sql)
    }

    fn set_clock(&mut self, rows: &[tokio_postgres::Row]) -> Result<(), Broken> {
        let missing = || Broken::Failed(Fault::internal("the row of arena_clock is missing"));
        let row = value::row(&CLOCK, rows.first().ok_or_else(missing)?).map_err(Broken::Failed)?;
        let read = || {
            let anchor = Anchor { real0_ms: row.i64(0)?, arena0_ms: row.i64(1)?, speed_milli: row.i64(2)? };
            Ok((anchor, row.moment(3)?, row.i64(4)?))
        };
        let (anchor, marked, real_ms) = read().map_err(Broken::Failed)?;
        self.now = self.high.raise(anchor.arena(real_ms).max(marked));
        self.real_ms = real_ms;
        Ok(())
    }

    fn query(&mut self, sql: &'static Sql, args: &[Val]) -> Result<(Vec<Row>, u64), Broken> {
        let statement = self.compile(sql)?;
        check_arguments(sql, &statement, args)?;
        let args: Vec<Arg<'_>> = args.iter().map(Arg).collect();
        let client = &self.link.client;
        if statement.columns().is_empty() {
            let changed = wait(self.runtime, client.execute_raw(&statement, &args), sql)?;
            return Ok((Vec::new(), changed));
        }
        let params: Vec<&(dyn ToSql + Sync)> = args.iter().map(|arg| arg as _).collect();
        let rows = wait(self.runtime, client.query(&statement, &params), sql)?;
        let changed = rows.len() as u64;
        let rows = rows.iter().map(|row| value::row(sql, row)).collect::<Result<_, _>>();
        rows.map(|rows| (rows, changed)).map_err(Broken::Failed)
    }

    fn query_many(&mut self, sql: &'static Sql, lists: &[Vec<Val>]) -> Result<(), Broken> {
        let statement = self.compile(sql)?;
        for args in lists {
            check_arguments(sql, &statement, args)?;
        }
        let (client, statement) = (&self.link.client, &statement);
        for chunk in lists.chunks(IN_FLIGHT_MAX) {
            let sent = chunk.iter().map(|args| async move {
                let args: Vec<Arg<'_>> = args.iter().map(Arg).collect();
                client.execute_raw(statement, &args).await
            });
            let answers = wait(self.runtime, async { Ok(in_order(sent).await) }, sql)?;
            // After the first error the others only say that the transaction is aborted.
            answers.into_iter().try_for_each(|a| a.map(|_| ()).map_err(|error| broken(sql, &error)))?;
        }
        Ok(())
    }

    fn take_locks(&mut self, names: &[String]) -> Result<(), Broken> {
        let mut names = names.to_vec();
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() && self.lock_known(&names)? < names.len() {
            // Rows of names that nobody has locked before, in ascending order like the locks.
            let lists: Vec<_> = names.iter().map(|name| vec![name.into()]).collect();
            self.query_many(&NEW_GUARD, &lists)?;
            if self.lock_known(&names)? < names.len() {
                return Err(Broken::Failed(Fault::internal(
                    "a lock's row went away; guard rows stay for ever",
                )));
            }
        }
        Ok(())
    }

    /// Locks the names that have a row, and reads the clock after that, in one round trip.
    fn lock_known(&mut self, names: &[String]) -> Result<usize, Broken> {
        let (lock, clock) = (self.compile(&LOCK)?, self.compile(&CLOCK)?);
        let client = &self.link.client;
        let params: [&(dyn ToSql + Sync); 1] = [&names];
        let both = futures_util::future::join(client.query(&lock, &params), client.query(&clock, &[]));
        let (locked, rows) = wait(self.runtime, async { Ok(both.await) }, &LOCK)?;
        let locked = locked.map_err(|error| broken(&LOCK, &error))?;
        self.set_clock(&rows.map_err(|error| broken(&CLOCK, &error))?)?;
        Ok(locked.len())
    }

    fn number(&mut self, sequence: &'static str) -> Result<i64, Broken> {
        let safe = |b: u8| b.is_ascii_lowercase() || b == b'_';
        if sequence.is_empty() || sequence.len() > SEQUENCE_NAME_BYTES_MAX || !sequence.bytes().all(safe) {
            return Err(Broken::Failed(Fault::internal(format_args!("{sequence:?} cannot name a sequence"))));
        }
        let name = format!("arena_seq_{sequence}");
        if !self.link.sequences.contains(sequence) {
            if self.query(&SEQUENCE, &[sequence.into()])?.0.is_empty() {
                // Of two that make it at once, one meets a unique index and runs again.
                let ddl = format!("{} {name}", dialect::NEW_SEQUENCE.postgres);
                let made = wait(self.runtime, self.link.client.batch_execute(&ddl), &NEW_SEQUENCE);
                made.map_err(raced)?;
                self.query(&NEW_SEQUENCE, &[sequence.into()]).map_err(raced)?;
            } else {
                self.link.sequences.insert(sequence);
            }
        }
        let (rows, _) = self.query(&NEXT, &[name.into()])?;
        let row =
            rows.first().ok_or_else(|| Broken::Failed(Fault::internal("a sequence answered nothing")))?;
        row.i64(0).map_err(Broken::Failed)
    }

    /// Runs a part of the interface, unless the transaction has broken; remembers if it breaks now.
    fn unbroken<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Broken>) -> Result<T, Fault> {
        if let Some(broken) = &self.broken {
            return Err(broken.fault());
        }
        run(self).map_err(|broken| {
            let fault = broken.fault();
            self.broken = Some(broken);
            fault
        })
    }

    /// Rolls back; an error here means that the connection cannot be trusted.
    pub(super) fn roll_back(&mut self) -> Result<(), Broken> {
        wait(self.runtime, self.link.client.batch_execute("ROLLBACK"), &CLOCK)
    }

    /// Writes the commit's mark and commits, in one round trip. See [`super::writer`].
    pub(super) fn commit(&mut self, mark: &'static Sql, args: &[Val]) -> Result<(), Broken> {
        let statement = self.compile(mark)?;
        let args: Vec<Arg<'_>> = args.iter().map(Arg).collect();
        let client = &self.link.client;
        let both =
            futures_util::future::join(client.execute_raw(&statement, &args), client.batch_execute("COMMIT"));
        let (marked, committed) = wait(self.runtime, async { Ok(both.await) }, mark)?;
        // A mark that failed has turned the commit into a rollback.
        marked.map_err(|error| broken(mark, &error))?;
        committed.map_err(|error| broken(mark, &error))
    }

    /// Commits without a mark: for what may be repeated.
    pub(super) fn commit_plainly(&mut self) -> Result<(), Broken> {
        wait(self.runtime, self.link.client.batch_execute("COMMIT"), &CLOCK)
    }

    /// Runs one of the store's own statements and tells how many rows it touched.
    pub(super) fn control(&mut self, sql: &'static Sql, args: &[Val]) -> Result<(Vec<Row>, u64), Broken> {
        self.query(sql, args)
    }
}

impl Tx for Session<'_> {
    fn exec(&mut self, sql: &'static Sql, args: &[Val]) -> Result<u64, Fault> {
        self.unbroken(|this| this.query(sql, args)).map(|(_, changed)| changed)
    }

    fn exec_many(&mut self, sql: &'static Sql, args: &[Vec<Val>]) -> Result<(), Fault> {
        self.unbroken(|this| this.query_many(sql, args))
    }

    fn rows(&mut self, sql: &'static Sql, args: &[Val]) -> Result<Vec<Row>, Fault> {
        self.unbroken(|this| this.query(sql, args)).map(|(rows, _)| rows)
    }

    fn lock(&mut self, names: &[String]) -> Result<(), Fault> {
        self.unbroken(|this| this.take_locks(names))
    }

    fn next_number(&mut self, sequence: &'static str) -> Result<i64, Fault> {
        self.unbroken(|this| this.number(sequence))
    }

    fn now(&self) -> Moment {
        self.now
    }

    fn real_ms(&self) -> i64 {
        self.real_ms
    }
}

impl EngineTx for Session<'_> {
    fn prepare(&mut self, sql: &'static Sql) -> Result<(), Fault> {
        self.unbroken(|this| this.compile(sql).map(|_| ()))
    }
}

fn check_arguments(sql: &Sql, statement: &Statement, args: &[Val]) -> Result<(), Broken> {
    if statement.params().len() == args.len() {
        return Ok(());
    }
    Err(Broken::Failed(Fault::internal(format_args!("{} was given {} arguments", sql.name, args.len()))))
}

/// Waits for an answer on this thread, and not for ever.
fn wait<T>(
    runtime: &Runtime,
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    sql: &Sql,
) -> Result<T, Broken> {
    match runtime.block_on(async { tokio::time::timeout(ANSWER_PATIENCE, answer).await }) {
        Ok(answer) => answer.map_err(|error| broken(sql, &error)),
        Err(_) => Err(Broken::Lost(format!("{}: the server did not answer in time", sql.name))),
    }
}

/// A unique index met while a sequence is made means that another transaction makes the same one.
fn raced(broken: Broken) -> Broken {
    match broken {
        Broken::Failed(fault) => {
            Broken::Conflict(format!("a sequence was made twice: {:?}", fault.context()))
        }
        other => other,
    }
}

fn broken(sql: &Sql, error: &tokio_postgres::Error) -> Broken {
    let context = format!("{}: {}", sql.name, described(error));
    let Some(code) = error.code() else {
        // A value that does not fit was never sent; anything else without a code is the connection.
        let never_sent = !error.is_closed()
            && std::error::Error::source(error).is_some_and(|cause| !cause.is::<std::io::Error>());
        return if never_sent { Broken::Failed(Fault::internal(context)) } else { Broken::Lost(context) };
    };
    match *code {
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => Broken::Conflict(context),
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Broken::Lost(context),
        SqlState::READ_ONLY_SQL_TRANSACTION => Broken::ReadOnly(context),
        SqlState::QUERY_CANCELED
        | SqlState::LOCK_NOT_AVAILABLE
        | SqlState::DISK_FULL
        | SqlState::OUT_OF_MEMORY
        | SqlState::INSUFFICIENT_RESOURCES
        | SqlState::IO_ERROR => Broken::Failed(Fault::unavailable(context)),
        _ if code.code().starts_with("08") => Broken::Lost(context),
        _ => Broken::Failed(Fault::internal(context)),
    }
}
