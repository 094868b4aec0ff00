//! The small product that the tests of the store keep: counters and notes.

use kernel::{
    Fault, Kind,
    tx::{Command, Sql, Tx, Verdict},
};
use store::{Schema, Store};

pub(crate) const SCHEMA: Schema = Schema {
    product: "notes",
    steps: &["CREATE TABLE counter (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT;
        CREATE TABLE note (id TEXT NOT NULL PRIMARY KEY, body BLOB, at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;"],
};

macro_rules! shared_statements {
    ($($name:ident = $text:expr;)+) => {
        $(pub(crate) static $name: Sql = Sql { name: stringify!($name), text: $text };)+
    };
}

shared_statements! {
    VALUE = "SELECT value FROM counter WHERE name = $1";
    SET = "INSERT INTO counter (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    NOTE = "INSERT INTO note (id, body, at_ms) VALUES ($1, $2, $3)";
    COUNT = "SELECT COUNT(*) FROM note WHERE id LIKE $1";
    BODY = "SELECT body FROM note WHERE id = $1";
    TIMES = "SELECT at_ms FROM note ORDER BY id";
    TOTAL = "SELECT CAST(COALESCE(SUM(value), 0) AS BIGINT) FROM counter";
    RETURNING = "INSERT INTO note (id, body, at_ms) VALUES ($1, $2, $3) RETURNING id";
    BROKEN = "SELECT nothing FROM nowhere";
}

/// A command made of a closure.
pub(crate) struct Do<F>(pub(crate) F);

impl<T, F> Command for Do<F>
where
    T: Send,
    F: Fn(&mut dyn Tx) -> Result<Verdict<T>, Fault> + Send,
{
    type Out = T;

    fn name(&self) -> &'static str {
        "test.do"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<T>, Fault> {
        (self.0)(tx)
    }
}

pub(crate) fn command<T: Send + 'static>(
    run: impl Fn(&mut dyn Tx) -> Result<Verdict<T>, Fault> + Send + 'static,
) -> Box<dyn Command<Out = T>> {
    Box::new(Do(run))
}

pub(crate) fn value(tx: &mut dyn Tx, name: &str) -> Result<i64, Fault> {
    tx.row(&VALUE, &[name.into()])?.map_or(Ok(0), |row| row.i64(0))
}

/// Reads, adds and writes back under a lock: the classical lost update if locks do not hold.
pub(crate) fn add(name: &str, by: i64) -> Box<dyn Command<Out = i64>> {
    let name = name.to_owned();
    command(move |tx| {
        tx.lock(&[format!("counter:{name}")])?;
        let new = value(tx, &name)? + by;
        tx.exec(&SET, &[(&name).into(), new.into()])?;
        Ok(Verdict::Done(new))
    })
}

pub(crate) fn note(id: &str) -> Box<dyn Command<Out = ()>> {
    let id = id.to_owned();
    command(move |tx| {
        tx.exec(&NOTE, &[(&id).into(), kernel::tx::Val::Null, tx.now().into()])?;
        Ok(Verdict::Done(()))
    })
}

pub(crate) async fn count(store: &Store, like: &str) -> i64 {
    let like = like.to_owned();
    store.read(move |tx| tx.row(&COUNT, &[like.into()])?.unwrap().i64(0)).await.unwrap()
}

pub(crate) async fn counter(store: &Store, name: &str) -> i64 {
    let name = name.to_owned();
    store.read(move |tx| value(tx, &name)).await.unwrap()
}

pub(crate) fn refusal() -> Fault {
    Fault::of(Kind::Conflict, "not now; try later")
}

pub(crate) fn done<T>(verdict: Result<Verdict<T>, Fault>) -> T {
    match verdict.unwrap() {
        Verdict::Done(out) => out,
        Verdict::Refused(fault) => panic!("refused: {fault}"),
    }
}

/// Runs one asynchronous task for each number and waits for all.
pub(crate) async fn all<T: Send + 'static, F>(count: usize, task: impl Fn(usize) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(|number| tokio::spawn(task(number))).collect();
    let mut out = Vec::with_capacity(count);
    for task in tasks {
        out.push(task.await.unwrap());
    }
    out
}
