//! Commands and queries on their way to a thread of the store, without their types.
//!
//! A piece of work holds its own result until the engine knows its fate; only then is the caller
//! answered. A caller that has gone away changes nothing: its answer is dropped, its command is not.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    time::Instant,
};

use kernel::{
    Fault,
    tx::{Command, Sql, Tx, Verdict},
};
use tokio::sync::oneshot;

/// What an engine's transaction can do beyond [`Tx`].
pub(crate) trait EngineTx: Tx {
    /// Compiles a statement without running it.
    fn prepare(&mut self, sql: &'static Sql) -> Result<(), Fault>;
}

/// Where an answer goes: to a future, or to a thread that waits.
pub(crate) enum Reply<T> {
    Future(oneshot::Sender<T>),
    Thread(mpsc::SyncSender<T>),
}

impl<T> Reply<T> {
    fn send(self, answer: T) {
        // A caller that has gone away does not read its answer.
        match self {
            Self::Future(sender) => drop(sender.send(answer)),
            Self::Thread(sender) => drop(sender.send(answer)),
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            Self::Future(sender) => sender.is_closed(),
            Self::Thread(_) => false,
        }
    }
}

/// A command in the writers' queue.
pub(crate) trait Write: Send {
    fn name(&self) -> &'static str;

    /// When it was submitted, for the limit on waiting.
    fn submitted(&self) -> Instant;

    /// Runs the command, keeps its result and tells whether it wants to be committed.
    fn run(&mut self, tx: &mut dyn EngineTx) -> bool;

    /// Answers with the kept result, or with `instead` when the engine could not do as it says.
    fn answer(self: Box<Self>, instead: Option<Fault>);
}

/// A query in the readers' queue.
pub(crate) trait Read: Send {
    /// When it was submitted, for the limit on waiting.
    fn submitted(&self) -> Instant;

    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;

    /// Runs the query and answers at once: nothing after it can change what was read.
    fn run(self: Box<Self>, tx: &mut dyn EngineTx);

    fn refuse(self: Box<Self>, fault: Fault);
}

pub(crate) struct Submitted<T> {
    command: Box<dyn Command<Out = T>>,
    result: Option<Result<Verdict<T>, Fault>>,
    reply: Reply<Result<Verdict<T>, Fault>>,
    at: Instant,
}

impl<T> Submitted<T> {
    pub(crate) fn new(
        command: Box<dyn Command<Out = T>>,
        reply: Reply<Result<Verdict<T>, Fault>>,
    ) -> Box<Self> {
        Box::new(Self { command, result: None, reply, at: Instant::now() })
    }
}

impl<T: Send> Write for Submitted<T> {
    fn name(&self) -> &'static str {
        self.command.name()
    }

    fn submitted(&self) -> Instant {
        self.at
    }

    fn run(&mut self, tx: &mut dyn EngineTx) -> bool {
        let result = guarded(self.command.name(), || self.command.run(tx));
        self.result.insert(result).is_ok()
    }

    fn answer(self: Box<Self>, instead: Option<Fault>) {
        let answer = match (instead, self.result) {
            (Some(fault), _) => Err(fault),
            (None, Some(result)) => result,
            (None, None) => Err(Fault::internal("a command was answered before it ran")),
        };
        self.reply.send(answer);
    }
}

pub(crate) struct Asked<F, T> {
    query: F,
    reply: Reply<Result<T, Fault>>,
    at: Instant,
}

impl<F, T> Asked<F, T> {
    pub(crate) fn new(query: F, reply: Reply<Result<T, Fault>>) -> Self {
        Self { query, reply, at: Instant::now() }
    }
}

impl<F, T> Read for Asked<F, T>
where
    F: FnOnce(&mut dyn EngineTx) -> Result<T, Fault> + Send,
    T: Send,
{
    fn submitted(&self) -> Instant {
        self.at
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn run(self: Box<Self>, tx: &mut dyn EngineTx) {
        let Self { query, reply, .. } = *self;
        reply.send(guarded("read", || query(tx)));
    }

    fn refuse(self: Box<Self>, fault: Fault) {
        self.reply.send(Err(fault));
    }
}

/// Runs foreign code and turns a panic into a fault; the transaction is rolled back by the engine, so
/// nothing half-done survives it.
fn guarded<T>(name: &str, run: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let words = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        tracing::error!(command = name, panic = words, "a command panicked; it was rolled back");
        Err(Fault::internal(format_args!("{name} panicked: {words}")))
    })
}
