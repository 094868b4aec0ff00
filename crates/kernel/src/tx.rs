//! The interface of a transaction, which both engines implement and products write SQL against.
//!
//! SQL is written once, in the subset that SQLite and PostgreSQL share: `$n` parameters, BIGINT,
//! TEXT and BYTEA/BLOB columns, every `SUM` cast to BIGINT, conflicts by `ON CONFLICT … RETURNING`.

use crate::{Fault, Moment};

/// A value that both engines store alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Val {
    Null,
    I64(i64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<i64> for Val {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}
impl From<&str> for Val {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}
impl From<String> for Val {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}
impl From<&String> for Val {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}
impl From<Moment> for Val {
    fn from(value: Moment) -> Self {
        Self::I64(value.as_millis())
    }
}
impl From<&[u8]> for Val {
    fn from(value: &[u8]) -> Self {
        Self::Blob(value.to_vec())
    }
}
impl From<Vec<u8>> for Val {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value)
    }
}
impl<T: Into<Self>> From<Option<T>> for Val {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A statement with a name: the name is what logs, metrics and the statement test speak of.
#[derive(Debug)]
pub struct Sql {
    pub name: &'static str,
    pub text: &'static str,
}

/// Declares a module's statements and the list `ALL` that the statement test prepares on both engines.
///
/// ```
/// kernel::statements! {
///     FIND = "SELECT id FROM person WHERE nickname = $1";
/// }
/// assert_eq!(ALL[0].text, FIND.text);
/// ```
#[macro_export]
macro_rules! statements {
    ($($name:ident = $text:expr;)+) => {
        $(static $name: $crate::tx::Sql =
            $crate::tx::Sql { name: concat!(module_path!(), "::", stringify!($name)), text: $text };)+
        /// Every statement of this module.
        pub static ALL: &[&$crate::tx::Sql] = &[$(&$name),+];
    };
}

/// One row of an answer, by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(pub Vec<Val>);

impl Row {
    fn wrong(&self, index: usize, wanted: &str) -> Fault {
        Fault::internal(format_args!("column {index} is not {wanted} in {:?}", self.0))
    }

    pub fn i64(&self, index: usize) -> Result<i64, Fault> {
        self.opt_i64(index)?.ok_or_else(|| self.wrong(index, "an integer"))
    }

    pub fn opt_i64(&self, index: usize) -> Result<Option<i64>, Fault> {
        match self.0.get(index) {
            Some(Val::I64(value)) => Ok(Some(*value)),
            Some(Val::Null) => Ok(None),
            _ => Err(self.wrong(index, "an integer or null")),
        }
    }

    pub fn moment(&self, index: usize) -> Result<Moment, Fault> {
        self.i64(index).map(Moment::from_millis)
    }

    pub fn opt_moment(&self, index: usize) -> Result<Option<Moment>, Fault> {
        Ok(self.opt_i64(index)?.map(Moment::from_millis))
    }

    pub fn text(&self, index: usize) -> Result<String, Fault> {
        self.opt_text(index)?.ok_or_else(|| self.wrong(index, "text"))
    }

    pub fn opt_text(&self, index: usize) -> Result<Option<String>, Fault> {
        match self.0.get(index) {
            Some(Val::Text(value)) => Ok(Some(value.clone())),
            Some(Val::Null) => Ok(None),
            _ => Err(self.wrong(index, "text or null")),
        }
    }

    pub fn blob(&self, index: usize) -> Result<Vec<u8>, Fault> {
        self.opt_blob(index)?.ok_or_else(|| self.wrong(index, "bytes"))
    }

    pub fn opt_blob(&self, index: usize) -> Result<Option<Vec<u8>>, Fault> {
        match self.0.get(index) {
            Some(Val::Blob(value)) => Ok(Some(value.clone())),
            Some(Val::Null) => Ok(None),
            _ => Err(self.wrong(index, "bytes or null")),
        }
    }
}

/// A transaction of either engine. Synchronous: it runs on a thread of the store's own, so that a
/// dropped request cannot leave one half-done, and the same code runs inline in a simulation.
///
/// Any error fails the whole command. After an error the transaction must not be used further.
pub trait Tx {
    /// Runs a statement and returns the number of rows it changed.
    fn exec(&mut self, sql: &'static Sql, args: &[Val]) -> Result<u64, Fault>;

    /// Runs one statement for each argument list; an engine with a network in between pipelines them.
    fn exec_many(&mut self, sql: &'static Sql, args: &[Vec<Val>]) -> Result<(), Fault>;

    /// Runs a statement and returns its rows.
    fn rows(&mut self, sql: &'static Sql, args: &[Val]) -> Result<Vec<Row>, Fault>;

    /// Takes the named locks in ascending order, waiting for other transactions that hold one, and
    /// then reads the clock anew. A command takes all its locks before it reads what they guard.
    fn lock(&mut self, names: &[String]) -> Result<(), Fault>;

    /// The next number of a named sequence; numbers may have gaps and never repeat.
    fn next_number(&mut self, sequence: &'static str) -> Result<i64, Fault>;

    /// Arena time of this transaction: the one clock of state.
    fn now(&self) -> Moment;

    /// Real time in milliseconds, for leases and the life of keys.
    fn real_ms(&self) -> i64;

    /// The one row of an answer that has at most one.
    fn row(&mut self, sql: &'static Sql, args: &[Val]) -> Result<Option<Row>, Fault> {
        let mut rows = self.rows(sql, args)?;
        debug_assert!(rows.len() <= 1, "{} answered {} rows", sql.name, rows.len());
        Ok(rows.pop())
    }
}

/// How a command that ran to its end answers. Both are committed.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict<T> {
    Done(T),
    /// The request is refused, and what had fallen due on the way (a settlement) stays done.
    Refused(Fault),
}

/// A change of state, decided and applied inside one transaction.
///
/// `run` is repeatable: a conflict or a neighbour's failure in the same batch calls it again. So it
/// has no side effect but SQL, and whatever is random or slow (ids, salts, hashing, HTTP) is done
/// before the command is submitted. An `Err` rolls the command back.
pub trait Command: Send {
    type Out: Send;

    /// For logs and metrics.
    fn name(&self) -> &'static str;

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Self::Out>, Fault>;
}
