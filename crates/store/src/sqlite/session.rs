//! A SQLite connection as a transaction: compiled statements, values, and what is remembered about
//! the command that runs.

use std::collections::HashMap;

use kernel::{
    Fault, Moment,
    tx::{Row, Sql, Tx, Val},
};
use rusqlite::{Connection, ErrorCode, Statement, types::ValueRef};

use crate::{clock::LocalClock, dialect, work::EngineTx};

/// Compiled statements kept by a connection; the whole catalog fits.
const STATEMENTS_MAX: usize = 512;

static NEXT_NUMBER: Sql = Sql { name: "store::next_number", text: dialect::NEXT_NUMBER.sqlite };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    ReadOnly,
    ReadWrite,
}

pub(super) struct Session<'c> {
    pub(super) conn: &'c Connection,
    clock: &'c LocalClock,
    access: Access,
    /// By the address of the statement: no text is hashed or translated after the first use.
    compiled: HashMap<usize, Statement<'c>>,
    now: Moment,
    real_ms: i64,
    /// The first error of this transaction: it fails the command whatever the command makes of it.
    failure: Option<Fault>,
}

impl<'c> Session<'c> {
    pub(super) fn new(conn: &'c Connection, clock: &'c LocalClock, access: Access) -> Self {
        let (now, real_ms) = clock.read();
        Self { conn, clock, access, compiled: HashMap::new(), now, real_ms, failure: None }
    }

    /// Makes ready for the next command or query.
    pub(super) fn begin(&mut self, access: Access) {
        self.access = access;
        self.failure = None;
        (self.now, self.real_ms) = self.clock.read();
    }

    pub(super) fn take_failure(&mut self) -> Option<Fault> {
        self.failure.take()
    }

    /// Runs one of the store's own statements, outside any command's account.
    pub(super) fn control(&mut self, sql: &'static Sql, args: &[Val]) -> Result<(), Fault> {
        self.step(sql, args, |_| Ok(()))
    }

    fn statement(&mut self, sql: &'static Sql) -> Result<&mut Statement<'c>, Fault> {
        let key = std::ptr::from_ref(sql).addr();
        if !self.compiled.contains_key(&key) {
            if self.compiled.len() >= STATEMENTS_MAX {
                self.compiled.clear();
            }
            let text = dialect::parameters_for_sqlite(sql.text);
            let statement = self.conn.prepare(&text).map_err(|error| fault(sql, &error))?;
            self.compiled.insert(key, statement);
        }
        self.compiled.get_mut(&key).ok_or_else(|| Fault::internal("a compiled statement went away"))
    }

    fn step(
        &mut self,
        sql: &'static Sql,
        args: &[Val],
        mut each: impl FnMut(&rusqlite::Row<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let read_only = self.access == Access::ReadOnly;
        let statement = self.statement(sql)?;
        if read_only && !statement.readonly() {
            return Err(Fault::internal(format_args!("{} writes in a read", sql.name)));
        }
        if statement.parameter_count() != args.len() {
            return Err(Fault::internal(format_args!("{} was given {} arguments", sql.name, args.len())));
        }
        for (index, value) in args.iter().enumerate() {
            let bound = match value {
                Val::Null => statement.raw_bind_parameter(index + 1, rusqlite::types::Null),
                Val::I64(number) => statement.raw_bind_parameter(index + 1, number),
                Val::Text(text) => statement.raw_bind_parameter(index + 1, text.as_str()),
                Val::Blob(bytes) => statement.raw_bind_parameter(index + 1, bytes.as_slice()),
            };
            bound.map_err(|error| fault(sql, &error))?;
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| fault(sql, &error))? {
            each(row)?;
        }
        Ok(())
    }

    fn remembered<T>(&mut self, result: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(fault) = &result {
            self.failure.get_or_insert_with(|| fault.clone());
        }
        result
    }

    /// A transaction that has failed is not used further.
    fn check_usable(&self) -> Result<(), Fault> {
        self.failure.clone().map_or(Ok(()), Err)
    }
}

impl Tx for Session<'_> {
    fn exec(&mut self, sql: &'static Sql, args: &[Val]) -> Result<u64, Fault> {
        self.check_usable()?;
        let result = self.step(sql, args, |_| Ok(()));
        self.remembered(result)?;
        Ok(self.conn.changes())
    }

    fn exec_many(&mut self, sql: &'static Sql, args: &[Vec<Val>]) -> Result<(), Fault> {
        args.iter().try_for_each(|args| self.exec(sql, args).map(|_| ()))
    }

    fn rows(&mut self, sql: &'static Sql, args: &[Val]) -> Result<Vec<Row>, Fault> {
        self.check_usable()?;
        let mut out = Vec::new();
        let result = self.step(sql, args, |row| {
            out.push(values(sql, row)?);
            Ok(())
        });
        self.remembered(result)?;
        Ok(out)
    }

    fn lock(&mut self, _names: &[String]) -> Result<(), Fault> {
        // The writer is alone, so every lock is free; only the clock is read anew.
        self.check_usable()?;
        (self.now, self.real_ms) = self.clock.read();
        Ok(())
    }

    fn next_number(&mut self, sequence: &'static str) -> Result<i64, Fault> {
        let row = self.row(&NEXT_NUMBER, &[sequence.into()])?;
        row.ok_or_else(|| Fault::internal("a counter answered nothing"))?.i64(0)
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
        self.statement(sql).map(|_| ())
    }
}

fn values(sql: &Sql, row: &rusqlite::Row<'_>) -> Result<Row, Fault> {
    let columns = row.as_ref().column_count();
    let mut out = Vec::with_capacity(columns);
    for index in 0..columns {
        out.push(match row.get_ref(index).map_err(|error| fault(sql, &error))? {
            ValueRef::Null => Val::Null,
            ValueRef::Integer(number) => Val::I64(number),
            ValueRef::Text(text) => Val::Text(
                String::from_utf8(text.to_vec())
                    .map_err(|_| Fault::internal(format_args!("{} answered broken UTF-8", sql.name)))?,
            ),
            ValueRef::Blob(bytes) => Val::Blob(bytes.to_vec()),
            ValueRef::Real(_) => {
                return Err(Fault::internal(format_args!("{} answered a float", sql.name)));
            }
        });
    }
    Ok(Row(out))
}

/// A full disk, a failing one or a busy file passes; anything else is our mistake.
fn fault(sql: &Sql, error: &rusqlite::Error) -> Fault {
    let context = format!("{}: {error}", sql.name);
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::ReadOnly
            | ErrorCode::OutOfMemory,
        ) => Fault::unavailable(context),
        _ => Fault::internal(context),
    }
}
