//! A writer thread: one command, one transaction, run again when it meets another one.
//!
//! Each commit carries a mark, a row with a random key. When the connection is lost while COMMIT is in
//! flight, the mark's key tells what became of it: a fence is put where the mark would be. If the
//! mark is there, the command is done; if the fence stands, the lost transaction can never commit any
//! more, and the command runs again. So nothing is lost and nothing runs twice.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use kernel::{
    Fault, Kind,
    tx::{Tx, Val},
};
use tokio::runtime::Runtime;

use super::{
    Shared,
    link::{AWAY_PATIENCE, Line, Link},
    session::{Broken, Session},
};
use crate::{Point, clock, dialect, once, queue::Popped, work::Write};

const PATIENCE: Duration = Duration::from_hours(1);
/// Runs of a command that keeps meeting others, the first included.
const RUNS_MAX: u32 = 20;
/// The wait after a conflict is random, up to this for each run so far.
const JITTER_MS_MAX: u64 = 8;
/// The wait before a command whose connection was lost runs again, for each loss so far.
const LOSS_PAUSE: Duration = Duration::from_millis(50);
/// How long the outcome of a commit is looked for.
const OUTCOME_PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(runtime: &Runtime, shared: &Shared) {
    let _last = Last(shared);
    let mut writer = Writer { runtime, shared, line: Line::new(runtime, &shared.address) };
    loop {
        match shared.writes.pop(1, PATIENCE) {
            Popped::Items(items) => items.into_iter().for_each(|work| writer.work_off(work)),
            Popped::Idle => {}
            Popped::Closed => return writer.line.hang_up(),
        }
    }
}

struct Writer<'s> {
    runtime: &'s Runtime,
    shared: &'s Shared,
    line: Line<'s>,
}

/// How one run of a command ended.
enum Run {
    Committed {
        real_ms: i64,
    },
    /// Nothing was changed; the command's own answer stands unless a fault replaces it.
    RolledBack(Option<Fault>),
    Broken(Broken),
    /// The connection was lost while COMMIT was in flight.
    Unknown(String),
}

impl Writer<'_> {
    fn work_off(&mut self, mut work: Box<dyn Write>) {
        let since = work.submitted();
        let (mut conflicts, mut losses) = (0, 0);
        let instead = loop {
            let mark = self.shared.ids.slug();
            let run = match self.line.link(since) {
                Ok(link) => run_once(self.runtime, link, self.shared, work.as_mut(), &mark),
                Err(fault) => break Some(fault),
            };
            match run {
                Run::Committed { real_ms } => {
                    work.answer(None);
                    return self.mark_clock(real_ms);
                }
                Run::RolledBack(instead) => break instead,
                Run::Unknown(cause) => {
                    tracing::warn!(command = work.name(), cause, "the connection was lost during a commit");
                    self.line.drop_link();
                    match self.outcome(&mark) {
                        Some(true) => break None,
                        Some(false) => {}
                        None => break Some(unknown(&cause)),
                    }
                }
                Run::Broken(Broken::Conflict(cause)) => {
                    conflicts += 1;
                    tracing::debug!(command = work.name(), conflicts, cause, "a conflict; running again");
                    if conflicts >= RUNS_MAX {
                        break Some(Fault::unavailable(cause));
                    }
                    thread::sleep(self.jitter(conflicts));
                }
                Run::Broken(Broken::Lost(cause) | Broken::ReadOnly(cause)) => {
                    // COMMIT was never sent, so the server rolls back, and running again is safe.
                    tracing::info!(command = work.name(), cause, "a writer's connection was lost");
                    self.line.drop_link();
                    if since.elapsed() >= AWAY_PATIENCE {
                        break Some(Fault::unavailable(cause));
                    }
                    thread::sleep(LOSS_PAUSE * losses);
                    losses += 1;
                }
                Run::Broken(Broken::Failed(fault)) => {
                    self.line.drop_link();
                    break Some(fault);
                }
            }
        };
        work.answer(instead);
    }

    /// Whether the commit of this mark took place; `None` when that cannot be told in time.
    fn outcome(&mut self, mark: &str) -> Option<bool> {
        let since = Instant::now();
        while since.elapsed() < OUTCOME_PATIENCE {
            let asked = match self.line.link(since) {
                Ok(link) => fence(self.runtime, link, self.shared, mark),
                Err(_) => return None,
            };
            match asked {
                Ok(committed) => return Some(committed),
                Err(broken) => {
                    tracing::warn!(
                        cause = broken.fault().context(),
                        "the outcome of a commit is not known yet"
                    );
                    self.line.drop_link();
                    thread::sleep(LOSS_PAUSE);
                }
            }
        }
        None
    }

    fn jitter(&self, conflicts: u32) -> Duration {
        let mut random = [0; 8];
        self.shared.ids.fill(&mut random);
        Duration::from_millis(u64::from_le_bytes(random) % (JITTER_MS_MAX * u64::from(conflicts)) + 1)
    }

    /// Writes the clock's high-water mark when it is due: after a commit and in a statement of its own,
    /// because in the commands' transactions its row would be a lock that all of them want.
    fn mark_clock(&mut self, real_ms: i64) {
        let Some(high_ms) = self.shared.high.due(real_ms) else { return };
        self.shared.high.marked(real_ms);
        let Ok(link) = self.line.link(Instant::now()) else { return };
        let marked = Session::begin(self.runtime, link, &self.shared.high, &dialect::BEGIN_WRITE).and_then(
            |mut session| {
                session.control(clock::marking(), &[high_ms.into()])?;
                session.commit_plainly()
            },
        );
        if let Err(broken) = marked {
            tracing::warn!(cause = broken.fault().context(), "the clock's mark was not written");
            self.line.drop_link();
        }
    }
}

fn run_once(runtime: &Runtime, link: &mut Link, shared: &Shared, work: &mut dyn Write, mark: &str) -> Run {
    let probe = |point| {
        if let Some(probe) = &shared.probe {
            probe(point);
        }
    };
    let mut session = match Session::begin(runtime, link, &shared.high, &dialect::BEGIN_WRITE) {
        Ok(session) => session,
        Err(broken) => return Run::Broken(broken),
    };
    let wanted = work.run(&mut session);
    // An error of the transaction decides, whatever the command made of it.
    let instead = match session.broken.take() {
        Some(Broken::Failed(fault)) => Some(fault),
        Some(broken @ Broken::Conflict(_)) => {
            return Run::Broken(session.roll_back().err().unwrap_or(broken));
        }
        Some(broken) => return Run::Broken(broken),
        None => None,
    };
    if !wanted || instead.is_some() {
        return match session.roll_back() {
            Ok(()) => Run::RolledBack(instead.filter(|_| wanted)),
            Err(broken) => Run::Broken(broken),
        };
    }
    probe(Point::BeforeCommit);
    let real_ms = session.real_ms();
    let args = [once::MARK_SCOPE.into(), mark.into(), once::COMMITTED.into(), Val::I64(real_ms)];
    match session.commit(once::marking(), &args) {
        Ok(()) => {
            probe(Point::AfterCommit);
            Run::Committed { real_ms }
        }
        Err(Broken::Lost(cause)) => Run::Unknown(cause),
        Err(Broken::Failed(fault)) => match session.roll_back() {
            Ok(()) => Run::RolledBack(Some(fault)),
            Err(broken) => Run::Broken(broken),
        },
        Err(broken) => Run::Broken(session.roll_back().err().unwrap_or(broken)),
    }
}

/// Puts a fence at the mark's key, waiting for a transaction that holds it, and tells which of the two
/// is there.
fn fence(runtime: &Runtime, link: &mut Link, shared: &Shared, mark: &str) -> Result<bool, Broken> {
    let mut session = Session::begin(runtime, link, &shared.high, &dialect::BEGIN_WRITE)?;
    let real_ms = session.real_ms();
    let fence = [once::MARK_SCOPE.into(), mark.into(), once::FENCED.into(), Val::I64(real_ms)];
    session.control(once::claiming(), &fence)?;
    let (rows, _) = session.control(once::finding(), &fence[..2])?;
    session.commit_plainly()?;
    let missing = || Broken::Failed(Fault::internal("neither mark nor fence is there"));
    let hash = rows.first().ok_or_else(missing)?.blob(0).map_err(Broken::Failed)?;
    Ok(hash == once::COMMITTED)
}

fn unknown(cause: &str) -> Fault {
    Fault::of(
        Kind::Unavailable,
        "the database went away while this was being saved, and whether it was is unknown; look at the state before you repeat it",
    )
    .with_retry_after(5)
    .with_context(cause)
}

/// The last writer to end, by a panic or not, leaves nobody waiting.
struct Last<'s>(&'s Shared);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        if self.0.writers_alive.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.writes.abandon();
        }
    }
}
