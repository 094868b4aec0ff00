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
    jobs::{Attempt, Job, Worker},
};

use super::{
    PROMISE_MESSAGES_MAX, WINDOW_DUELS,
    commitments::last_promise,
    counters::{Counters, Played},
    sentence,
};
use crate::{
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
    /// Whether a changed summary gets a vector.
    embeds: bool,
    seed: [u8; 16],
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
        if self.embeds {
            embedding::enqueue(tx, &DerivedIds::new(self.seed), &self.agent)?;
            presences::touch(tx, &self.agent)?;
        }
        Ok(Verdict::Done(()))
    }
}

/// The worker of [`AUTO_BIO_JOB`].
struct AutoBio {
    embeds: bool,
}

impl Worker for AutoBio {
    fn kind(&self) -> &'static str {
        AUTO_BIO_JOB
    }

    fn perform<'a>(&'a self, store: &'a Store, job: &'a Job) -> Attempt<'a> {
        // The token of an attempt is random, so what is derived from it is new.
        let seed = Sha256::digest([&job.id, &job.token].map(String::as_bytes).concat());
        let mut short = [0; 16];
        short.copy_from_slice(&seed[..16]);
        let rebuild = Rebuild { agent: job.payload.clone(), embeds: self.embeds, seed: short };
        Box::pin(async move { store.write(Box::new(rebuild)).await.map(|_| ()) })
    }
}

/// The workers of behaviour summaries; with `embeds` a changed one is given a vector.
pub fn workers(embeds: bool) -> Vec<Arc<dyn Worker>> {
    vec![Arc::new(AutoBio { embeds })]
}
