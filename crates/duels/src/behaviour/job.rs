//! The job that rebuilds `AUTO_BIO`, and what it reads.

use std::{collections::BTreeMap, sync::Arc};

use kernel::{
    Fault,
    id::DerivedIds,
    tx::{Command, Tx, Verdict},
};
use sha2::{Digest, Sha256};
use store::{
    Store,
    jobs::{self, Attempt, Job, NewJob, Worker},
};

use super::{
    PROMISE_MESSAGES_MAX, WINDOW_DUELS,
    chat::CHAT_BIO_JOB,
    commitments::last_promise,
    counters::{Counters, Played},
    sentence,
};
use crate::{
    outside::Outside,
    search::embedding,
    tables::{agents, duels, messages, presences},
};

/// The kind of the job.
pub const AUTO_BIO_JOB: &str = "duels.auto_bio";

/// The agent's last finished duels with what it promised in them, oldest first.
pub(crate) fn played(tx: &mut dyn Tx, agent: &str) -> Result<Vec<Played>, Fault> {
    let mut finished = duels::finished(tx, agent, i64::MAX, WINDOW_DUELS)?;
    finished.reverse();
    let oldest = finished.first().and_then(|duel| duel.finish.as_ref()).map_or(i64::MAX, |finish| finish.seq);
    let mut own: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (slug, text) in messages::own_of_finished(tx, agent, oldest, PROMISE_MESSAGES_MAX)? {
        own.entry(slug).or_default().push(text);
    }
    Ok(finished
        .iter()
        .filter_map(|duel| {
            let said = own.get(&duel.slug).map_or(&[][..], Vec::as_slice);
            Played::of(duel, agent, last_promise(said.iter().map(String::as_str)))
        })
        .collect())
}

struct Rebuild {
    agent: String,
    asks: Asks,
    seed: [u8; 16],
}

/// What follows a changed summary.
#[derive(Debug, Clone, Copy)]
struct Asks {
    /// It gets a vector.
    embeds: bool,
    /// A language model writes in its place.
    chats: bool,
}

impl Command for Rebuild {
    type Out = ();

    fn name(&self) -> &'static str {
        "duels.auto_bio"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let text = sentence::of(&Counters::over(&played(tx, &self.agent)?));
        if agents::bio(tx, &self.agent)?.0.as_deref() == Some(text.as_str()) {
            return Ok(Verdict::Done(()));
        }
        agents::set_auto_bio(tx, &self.agent, &text, None)?;
        let ids = DerivedIds::new(self.seed);
        if self.asks.chats {
            let job = NewJob {
                kind: CHAT_BIO_JOB,
                channel: format!("{CHAT_BIO_JOB}:{}", self.agent),
                payload: self.agent.clone(),
            };
            jobs::enqueue_unless_pending(tx, &ids, &job)?;
        }
        if self.asks.embeds {
            embedding::enqueue(tx, &ids, &self.agent)?;
            // Last, because its lock is everybody's.
            presences::touch(tx, &self.agent)?;
        }
        Ok(Verdict::Done(()))
    }
}

/// The worker of [`AUTO_BIO_JOB`].
struct AutoBio {
    asks: Asks,
}

impl Worker for AutoBio {
    fn kind(&self) -> &'static str {
        AUTO_BIO_JOB
    }

    fn perform<'a>(&'a self, store: &'a Store, job: &'a Job) -> Attempt<'a> {
        let rebuild = Rebuild { agent: job.payload.clone(), asks: self.asks, seed: seed_of(job) };
        Box::pin(async move { store.write(Box::new(rebuild)).await.map(|_| ()) })
    }
}

/// The token of an attempt is random, so what is derived from it is new.
pub(super) fn seed_of(job: &Job) -> [u8; 16] {
    let digest = Sha256::digest([&job.id, &job.token].map(String::as_bytes).concat());
    let mut seed = [0; 16];
    seed.copy_from_slice(&digest[..16]);
    seed
}

/// The workers of behaviour summaries; what they ask for is done by the slow workers.
pub fn workers(outside: &Outside) -> Vec<Arc<dyn Worker>> {
    let asks = Asks { embeds: outside.embedder.is_some(), chats: outside.bio_writer.is_some() };
    vec![Arc::new(AutoBio { asks })]
}
