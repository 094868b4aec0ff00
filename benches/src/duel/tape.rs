//! A recording of what commands ask of the engine: statements with their arguments, savepoints and
//! commits, in the order in which the writer ran them.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use kernel::{
    Fault, Moment,
    operation::Json,
    tx::{Command, Row, Sql, Tx, Val, Verdict},
};
use store::{Point, Probe};

#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// A command begins in a savepoint of its own.
    Save,
    Run(&'static Sql, Vec<Val>),
    /// The next number of this sequence.
    Number(&'static str),
    Keep,
    Commit,
}

/// Where the writer's events go. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tape {
    events: Arc<Mutex<Vec<Event>>>,
    /// Statements of first steps, which run on reader threads and are only counted.
    reads: Arc<AtomicUsize>,
}

impl Tape {
    /// The probe that marks the commits.
    pub(crate) fn probe(&self) -> Probe {
        let tape = self.clone();
        Arc::new(move |point| {
            if point == Point::AfterCommit {
                tape.add(vec![Event::Commit]);
            }
        })
    }

    pub(crate) fn record(&self, command: Box<dyn Command<Out = Json>>) -> Box<dyn Command<Out = Json>> {
        Box::new(Recorded { command, tape: self.clone() })
    }

    /// Runs a first step and counts its statements.
    pub(crate) fn count_reads<T>(&self, tx: &mut dyn Tx, step: impl FnOnce(&mut dyn Tx) -> T) -> T {
        let mut traced = Traced { tx, events: Vec::new() };
        let out = step(&mut traced);
        self.reads.fetch_add(traced.events.len(), Ordering::Relaxed);
        out
    }

    /// Forgets what was recorded so far.
    pub(crate) fn rewind(&self) {
        self.take();
        self.reads.store(0, Ordering::Relaxed);
    }

    pub(crate) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    fn add(&self, events: Vec<Event>) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
    }
}

struct Recorded {
    command: Box<dyn Command<Out = Json>>,
    tape: Tape,
}

impl Command for Recorded {
    type Out = Json;

    fn name(&self) -> &'static str {
        self.command.name()
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Json>, Fault> {
        let mut traced = Traced { tx, events: vec![Event::Save] };
        let verdict = self.command.run(&mut traced)?;
        let mut events = traced.events;
        events.push(Event::Keep);
        self.tape.add(events);
        Ok(verdict)
    }
}

/// Passes everything on and notes it.
struct Traced<'t> {
    tx: &'t mut dyn Tx,
    events: Vec<Event>,
}

impl Tx for Traced<'_> {
    fn exec(&mut self, sql: &'static Sql, args: &[Val]) -> Result<u64, Fault> {
        self.events.push(Event::Run(sql, args.to_vec()));
        self.tx.exec(sql, args)
    }

    fn exec_many(&mut self, sql: &'static Sql, args: &[Vec<Val>]) -> Result<(), Fault> {
        self.events.extend(args.iter().map(|args| Event::Run(sql, args.clone())));
        self.tx.exec_many(sql, args)
    }

    fn rows(&mut self, sql: &'static Sql, args: &[Val]) -> Result<Vec<Row>, Fault> {
        self.events.push(Event::Run(sql, args.to_vec()));
        self.tx.rows(sql, args)
    }

    fn lock(&mut self, names: &[String]) -> Result<(), Fault> {
        // SQLite's writer is alone: a lock asks nothing of it.
        self.tx.lock(names)
    }

    fn next_number(&mut self, sequence: &'static str) -> Result<i64, Fault> {
        self.events.push(Event::Number(sequence));
        self.tx.next_number(sequence)
    }

    fn now(&self) -> Moment {
        self.tx.now()
    }

    fn real_ms(&self) -> i64 {
        self.tx.real_ms()
    }
}

/// What a recording holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) statements: usize,
    pub(crate) commands: usize,
    pub(crate) commits: usize,
}

pub(crate) fn totals(events: &[Event]) -> Totals {
    let mut totals = Totals::default();
    for event in events {
        match event {
            Event::Run(..) | Event::Number(_) => totals.statements += 1,
            Event::Keep => totals.commands += 1,
            Event::Commit => totals.commits += 1,
            Event::Save => {}
        }
    }
    totals
}
