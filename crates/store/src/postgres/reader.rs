//! A reader thread: each query sees one snapshot of PostgreSQL, and is answered before it is released.

use std::{sync::atomic::Ordering, time::Duration};

use tokio::runtime::Runtime;

use super::{
    Shared,
    link::{AWAY_PATIENCE, Line, Link},
    session::{Broken, Session},
};
use crate::{dialect, queue::Popped, work::Read};

const PATIENCE: Duration = Duration::from_hours(1);

pub(super) fn run(runtime: &Runtime, shared: &Shared) {
    let _last = Last(shared);
    let mut line = Line::new(runtime, &shared.address);
    loop {
        match shared.reads.pop(1, PATIENCE) {
            Popped::Items(items) => {
                for work in items {
                    answer(runtime, &mut line, shared, work);
                }
            }
            Popped::Idle => {}
            Popped::Closed => return line.hang_up(),
        }
    }
}

fn answer(runtime: &Runtime, line: &mut Line<'_>, shared: &Shared, work: Box<dyn Read>) {
    if work.is_abandoned() {
        return;
    }
    let since = work.submitted();
    let mut waiting = Some(work);
    // A connection that was idle may be gone without our having noticed, so beginning is repeated; a
    // query that has begun is not.
    loop {
        let asked = line.link(since).map_err(Broken::Failed);
        let broken = match asked.and_then(|link| ask(runtime, link, shared, &mut waiting)) {
            Ok(()) => return,
            Err(broken) => broken,
        };
        line.drop_link();
        match (waiting.take(), broken) {
            (Some(work), Broken::Lost(_)) if since.elapsed() < AWAY_PATIENCE => waiting = Some(work),
            (Some(work), broken) => return work.refuse(broken.fault()),
            (None, broken) => {
                let fault = broken.fault();
                return tracing::info!(cause = fault.context(), "a reader's connection was given up");
            }
        }
    }
}

/// Runs the query in a snapshot. Once it has begun, nobody waits any more.
fn ask(
    runtime: &Runtime,
    link: &mut Link,
    shared: &Shared,
    waiting: &mut Option<Box<dyn Read>>,
) -> Result<(), Broken> {
    let mut session = Session::begin(runtime, link, &shared.high, &dialect::BEGIN_READ)?;
    if let Some(work) = waiting.take() {
        work.run(&mut session);
    }
    match session.broken.take() {
        Some(lost @ Broken::Lost(_)) => Err(lost),
        _ => session.roll_back(),
    }
}

/// The last reader to end, by a panic or not, leaves nobody waiting.
struct Last<'s>(&'s Shared);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        if self.0.readers_alive.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.reads.abandon();
        }
    }
}
