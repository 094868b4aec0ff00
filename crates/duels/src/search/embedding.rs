//! Gives texts their vectors after the fact: for agents whose text could not be embedded when it was
//! written, and for all when the model changes.

use std::sync::Arc;

use kernel::{
    Fault,
    id::{DerivedIds, Ids},
    tx::{Command, Tx, Verdict},
};
use semantic::{EmbedError, Embedder};
use store::{
    Store,
    jobs::{self, Attempt, Job, NewJob, Worker},
};

use crate::tables::{agents, presences, vectors::Stored};

/// The kind of the job.
pub(crate) const EMBED_JOB: &str = "duels.embed";
/// Agents that one look for vectors of another model takes.
const STALE_PAGE: i64 = 500;

/// Asks for the vectors of an agent in the caller's transaction.
pub(crate) fn enqueue(tx: &mut dyn Tx, ids: &dyn Ids, agent: &str) -> Result<(), Fault> {
    let job = NewJob { kind: EMBED_JOB, channel: format!("{EMBED_JOB}:{agent}"), payload: agent.to_owned() };
    jobs::enqueue_unless_pending(tx, ids, &job)
}

/// What an embedder could not do, for the operator.
pub(crate) fn failure(error: &EmbedError) -> Fault {
    Fault::unavailable(error)
}

/// A text that an agent shows and the vector that it has, if any.
struct Shown {
    text: String,
    vector: Option<Stored>,
}

impl Shown {
    /// The vector of the text, when it lacks one of this model.
    async fn embedded(self, embedder: &dyn Embedder) -> Result<Option<(String, Stored)>, Fault> {
        let model = embedder.model_id();
        if self.vector.is_some_and(|stored| stored.model == model) {
            return Ok(None);
        }
        let vector = embedder.embed(&self.text).await.map_err(|error| failure(&error))?;
        Ok(Some((self.text, Stored::new(model, &vector))))
    }
}

/// Pitch of a present agent, and summary.
fn shown(tx: &mut dyn Tx, agent: &str) -> Result<(Option<Shown>, Option<Shown>), Fault> {
    let Some(presence) = presences::live(tx, agent)? else { return Ok((None, None)) };
    let (bio, vector) = agents::bio(tx, agent)?;
    let pitch = Shown { text: presence.pitch, vector: presence.vector };
    Ok((Some(pitch), bio.map(|text| Shown { text, vector })))
}

struct Keep {
    agent: String,
    pitch: Option<(String, Stored)>,
    bio: Option<(String, Stored)>,
}

impl Command for Keep {
    type Out = ();

    fn name(&self) -> &'static str {
        "duels.keep_vectors"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        if let Some((text, vector)) = &self.pitch {
            presences::set_vector(tx, &self.agent, text, vector)?;
        }
        if let Some((text, vector)) = &self.bio {
            agents::set_bio_vector(tx, &self.agent, text, vector)?;
        }
        presences::touch(tx, &self.agent)?;
        Ok(Verdict::Done(()))
    }
}

/// The worker of [`EMBED_JOB`].
pub(crate) struct Embed {
    pub(crate) embedder: Arc<dyn Embedder>,
}

impl Worker for Embed {
    fn kind(&self) -> &'static str {
        EMBED_JOB
    }

    fn perform<'a>(&'a self, store: &'a Store, job: &'a Job) -> Attempt<'a> {
        Box::pin(async move {
            let agent = job.payload.clone();
            let (pitch, bio) = store.read(move |tx| shown(tx, &agent)).await?;
            let embedded = async |shown: Option<Shown>| match shown {
                Some(shown) => shown.embedded(&*self.embedder).await,
                None => Ok(None),
            };
            let (pitch, bio) = (embedded(pitch).await?, embedded(bio).await?);
            if pitch.is_some() || bio.is_some() {
                store.write(Box::new(Keep { agent: job.payload.clone(), pitch, bio })).await?;
            }
            Ok(())
        })
    }
}

struct Ask {
    agents: Vec<String>,
    seed: [u8; 16],
}

impl Command for Ask {
    type Out = ();

    fn name(&self) -> &'static str {
        "duels.ask_for_vectors"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let ids = DerivedIds::new(self.seed);
        for agent in &self.agents {
            enqueue(tx, &ids, agent)?;
        }
        Ok(Verdict::Done(()))
    }
}

/// Asks for the vectors of every present agent that has none of this model; answers how many.
pub(crate) async fn ask_for_missing(store: &Store, ids: &dyn Ids, model: &str) -> Result<usize, Fault> {
    let (mut asked, mut after) = (0, String::new());
    loop {
        let (from, model) = (after.clone(), model.to_owned());
        let agents = store.read(move |tx| presences::of_other_model(tx, &from, &model, STALE_PAGE)).await?;
        let Some(last) = agents.last() else { return Ok(asked) };
        after.clone_from(last);
        asked += agents.len();
        store.write(Box::new(Ask { agents, seed: ids.seed() })).await?;
    }
}
