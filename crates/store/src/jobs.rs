//! Work that follows a change: enqueued in the same transaction, done at least once, in order within
//! a channel.
//!
//! A worker claims a job for the time of a lease and gets a random token; only the holder of the
//! current token may complete or fail it, so a node that was frozen past its lease changes nothing.
//! There is no leader: any node claims. Work that ran but was not completed runs again, so every
//! worker is idempotent.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc, time::Duration};

use kernel::{
    Fault,
    id::Ids,
    tx::{Command, Tx, Verdict},
};

use crate::Store;

kernel::statements! {
    ADD = "INSERT INTO job (id, kind, channel, payload, state, run_at_ms, attempts, created_ms) VALUES ($1, $2, $3, $4, 'pending', $5, 0, $6)";
    TOUCH_PENDING = "UPDATE job SET attempts = attempts WHERE channel = $1 AND state = 'pending' AND state <> 'dead'";
    DUE = "SELECT j.id FROM job j WHERE j.kind = $1 AND ((j.state = 'pending' AND j.run_at_ms <= $2) OR (j.state = 'running' AND j.lease_until_ms <= $2)) AND NOT EXISTS (SELECT 1 FROM job e WHERE e.channel = j.channel AND e.id < j.id AND e.state <> 'dead') ORDER BY j.run_at_ms, j.id LIMIT $3";
    CLAIM = "UPDATE job SET state = 'running', attempts = attempts + 1, lease_token = $2, lease_until_ms = $3 WHERE id = $1 AND ((state = 'pending' AND run_at_ms <= $4) OR (state = 'running' AND lease_until_ms <= $4)) RETURNING id, kind, channel, payload, attempts";
    COMPLETE = "DELETE FROM job WHERE id = $1 AND lease_token = $2 AND state = 'running'";
    FAIL = "UPDATE job SET state = $3, run_at_ms = $4, last_error = $5, lease_token = NULL, lease_until_ms = NULL WHERE id = $1 AND lease_token = $2 AND state = 'running'";
    COUNTS = "SELECT state, COUNT(*) FROM job GROUP BY state";
}

/// How long a claimed job belongs to its worker, in real time.
pub const LEASE_MS: i64 = 60_000;
/// How long a worker may take before its attempt counts as failed; well within the lease.
pub const ATTEMPT_MS_MAX: u64 = 30_000;
/// After so many failed attempts a job is dead: it frees its channel and stays for the operator.
pub const ATTEMPTS_MAX: i64 = 12;
/// Jobs that one look claims.
pub const CLAIM_MAX: i64 = 16;
/// How often a node looks for due jobs.
pub const POLL_MS: u64 = 200;

/// A job to enqueue. Jobs of one channel run one after another, in the order of enqueueing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    pub kind: &'static str,
    pub channel: String,
    /// JSON for the worker.
    pub payload: String,
}

/// A claimed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: String,
    pub kind: String,
    pub channel: String,
    pub payload: String,
    /// This attempt included.
    pub attempts: i64,
    /// Only the holder of this token may end the job.
    pub token: String,
}

/// Enqueues in the caller's transaction.
pub fn enqueue(tx: &mut dyn Tx, ids: &dyn Ids, job: &NewJob) -> Result<(), Fault> {
    let real = tx.real_ms();
    let id = ids.uuid7(kernel::Moment::from_millis(real));
    let args =
        [id.into(), job.kind.into(), (&job.channel).into(), (&job.payload).into(), real.into(), real.into()];
    tx.exec(&ADD, &args).map(|_| ())
}

/// Enqueues unless a job of the channel still waits to run, which will see this transaction's state:
/// the update holds its row, so no worker can claim it before the commit.
pub fn enqueue_unless_pending(tx: &mut dyn Tx, ids: &dyn Ids, job: &NewJob) -> Result<(), Fault> {
    match tx.exec(&TOUCH_PENDING, &[(&job.channel).into()])? {
        0 => enqueue(tx, ids, job),
        _ => Ok(()),
    }
}

/// Claims due jobs of one kind.
pub struct Claim {
    pub kind: &'static str,
    /// Random, drawn before the command.
    pub token: String,
    pub lease_ms: i64,
}

impl Command for Claim {
    type Out = Vec<Job>;

    fn name(&self) -> &'static str {
        "jobs.claim"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Vec<Job>>, Fault> {
        let real = tx.real_ms();
        let mut jobs = Vec::new();
        for due in tx.rows(&DUE, &[self.kind.into(), real.into(), CLAIM_MAX.into()])? {
            let args =
                [due.text(0)?.into(), (&self.token).into(), (real + self.lease_ms).into(), real.into()];
            // Another node may have been faster; then the update finds nothing.
            if let Some(row) = tx.row(&CLAIM, &args)? {
                jobs.push(Job {
                    id: row.text(0)?,
                    kind: row.text(1)?,
                    channel: row.text(2)?,
                    payload: row.text(3)?,
                    attempts: row.i64(4)?,
                    token: self.token.clone(),
                });
            }
        }
        Ok(Verdict::Done(jobs))
    }
}

/// Ends a job; answers whether the token still held it.
pub struct End {
    pub job: Job,
    /// `None` when the work is done.
    pub error: Option<String>,
}

impl Command for End {
    type Out = bool;

    fn name(&self) -> &'static str {
        "jobs.end"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<bool>, Fault> {
        let Some(error) = &self.error else {
            let changed = tx.exec(&COMPLETE, &[(&self.job.id).into(), (&self.job.token).into()])?;
            return Ok(Verdict::Done(changed == 1));
        };
        let state = if self.job.attempts >= ATTEMPTS_MAX { "dead" } else { "pending" };
        let run_at = tx.real_ms() + backoff_ms(self.job.attempts);
        let error: String = error.chars().take(500).collect();
        let args =
            [(&self.job.id).into(), (&self.job.token).into(), state.into(), run_at.into(), error.into()];
        Ok(Verdict::Done(tx.exec(&FAIL, &args)? == 1))
    }
}

/// 0.5 s, 1 s, 2 s … up to 10 minutes.
fn backoff_ms(attempts: i64) -> i64 {
    let doublings = u32::try_from(attempts.clamp(1, 12) - 1).unwrap_or(0);
    (500 << doublings).min(600_000)
}

/// Jobs by state, for the doctor and metrics.
pub fn counts(tx: &mut dyn Tx) -> Result<BTreeMap<String, i64>, Fault> {
    tx.rows(&COUNTS, &[])?.iter().map(|row| Ok((row.text(0)?, row.i64(1)?))).collect()
}

/// The future of one attempt.
pub type Attempt<'a> = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>>;

/// Does one kind of job. An attempt may be repeated, also after it succeeded.
pub trait Worker: Send + Sync {
    fn kind(&self) -> &'static str;
    fn perform<'a>(&'a self, store: &'a Store, job: &'a Job) -> Attempt<'a>;
}

/// Claims once for each worker and does what was claimed; returns how many jobs were tried.
pub async fn run_once(
    store: &Store,
    ids: &dyn Ids,
    workers: &[Arc<dyn Worker>],
    lease_ms: i64,
) -> Result<usize, Fault> {
    let mut tried = 0;
    for worker in workers {
        let claim = Claim { kind: worker.kind(), token: ids.slug(), lease_ms };
        let Verdict::Done(jobs) = store.write(Box::new(claim)).await? else { continue };
        for job in jobs {
            tried += 1;
            let limit = Duration::from_millis(ATTEMPT_MS_MAX);
            let error = match tokio::time::timeout(limit, worker.perform(store, &job)).await {
                Ok(Ok(())) => None,
                Ok(Err(fault)) => Some(fault.context().map_or_else(|| fault.message.clone(), str::to_owned)),
                Err(_) => Some(format!("took longer than {ATTEMPT_MS_MAX} ms")),
            };
            if let Some(error) = &error {
                tracing::warn!(job.id, job.kind, job.attempts, error, "job failed");
            }
            store.write(Box::new(End { job, error })).await?;
        }
    }
    Ok(tried)
}

/// Does jobs until `shutdown` turns true; a store that is away is waited for.
pub async fn run(
    store: Store,
    ids: Arc<dyn Ids>,
    workers: Vec<Arc<dyn Worker>>,
    mut shutdown: tokio::sync::watch::Receiver<bool>,
) {
    while !*shutdown.borrow() {
        let busy = match run_once(&store, &*ids, &workers, LEASE_MS).await {
            Ok(tried) => tried > 0,
            Err(fault) => {
                tracing::warn!(error = fault.context(), "jobs wait for the store");
                false
            }
        };
        if !busy {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(POLL_MS)) => {}
                _ = shutdown.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_bounded() {
        let waits: Vec<i64> = (1..=13).map(backoff_ms).collect();
        assert_eq!(waits[..3], [500, 1000, 2000]);
        assert_eq!(waits[12], 600_000);
        assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
