//! `AUTO_BIO` by a language model, where the operator has one: the template stands until it answers, and
//! stays when it does not.
//!
//! What agents wrote is told to the model as untrusted data; what comes back is cleaned and cut like any
//! stranger's text.

use std::{fmt::Write, sync::Arc};

use kernel::{
    Fault,
    id::DerivedIds,
    text::shown_only,
    tx::{Command, Tx, Verdict},
};
use store::{
    Store,
    jobs::{Attempt, Job, Worker},
};

use super::{job::seed_of, sentence::CHARS_MAX};
use crate::{
    outside::{BioBrief, BioWriter},
    search::embedding,
    tables::{agents, duels, messages, presences},
};

/// The kind of the job.
pub(crate) const CHAT_BIO_JOB: &str = "duels.chat_bio";
/// Duels whose words the model is told.
const DUELS_TOLD: i64 = 5;
/// Characters of all their words together.
const TRANSCRIPT_CHARS_MAX: usize = 6_000;

/// What the model is told; `None` when there is no summary yet.
fn brief(tx: &mut dyn Tx, agent: &str) -> Result<Option<BioBrief>, Fault> {
    let (Some(figures), _) = agents::bio(tx, agent)? else { return Ok(None) };
    let mut transcript = String::new();
    let me = agents::me(tx, agent)?.nickname;
    for duel in duels::finished(tx, agent, i64::MAX, DUELS_TOLD)?.iter().rev() {
        for (writer, message) in messages::transcript(tx, &duel.slug, 0)? {
            let by = if writer == me { "agent" } else { "opponent" };
            // Writing to a String cannot fail.
            let _ = writeln!(transcript, "{by}: {}", message.text.replace('\n', " "));
        }
    }
    let surplus = transcript.chars().count().saturating_sub(TRANSCRIPT_CHARS_MAX);
    let transcript = transcript.chars().skip(surplus).collect();
    Ok(Some(BioBrief { figures, transcript }))
}

/// A model's words as they may be shown: one line, nothing invisible, cut at the end of a sentence or word.
pub(crate) fn fit(said: &str) -> Option<String> {
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = shown_only(line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '“' | '”')));
    if text.chars().count() <= CHARS_MAX {
        return (!text.is_empty()).then_some(text);
    }
    let cut: String = text.chars().take(CHARS_MAX).collect();
    let sentence =
        cut.rfind(['.', '。', '!', '?']).map(|at| at + cut[at..].chars().next().map_or(1, char::len_utf8));
    let word = cut.rfind(' ');
    let end = sentence.filter(|at| *at * 2 > cut.len()).or(word).unwrap_or(cut.len());
    Some(cut[..end].trim_end().to_owned()).filter(|text| !text.is_empty())
}

struct Keep {
    agent: String,
    figures: String,
    text: String,
    embeds: bool,
    seed: [u8; 16],
}

impl Command for Keep {
    type Out = ();

    fn name(&self) -> &'static str {
        "duels.keep_chat_bio"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        // A duel that was settled meanwhile has another template, and another job.
        if agents::bio(tx, &self.agent)?.0.as_deref() != Some(self.figures.as_str()) {
            return Ok(Verdict::Done(()));
        }
        agents::set_auto_bio(tx, &self.agent, &self.text, None)?;
        if self.embeds {
            embedding::enqueue(tx, &DerivedIds::new(self.seed), &self.agent)?;
            presences::touch(tx, &self.agent)?;
        }
        Ok(Verdict::Done(()))
    }
}

/// The worker of [`CHAT_BIO_JOB`].
pub(crate) struct ChatBio {
    pub(crate) writer: Arc<dyn BioWriter>,
    pub(crate) embeds: bool,
}

impl Worker for ChatBio {
    fn kind(&self) -> &'static str {
        CHAT_BIO_JOB
    }

    fn perform<'a>(&'a self, store: &'a Store, job: &'a Job) -> Attempt<'a> {
        Box::pin(async move {
            let agent = job.payload.clone();
            let Some(brief) = store.read(move |tx| brief(tx, &agent)).await? else { return Ok(()) };
            let said = match self.writer.write(&brief).await {
                Ok(said) => said,
                Err(fault) => {
                    // The template stays; the next duel asks again.
                    tracing::warn!(error = fault.context(), "a behaviour summary was not written");
                    return Ok(());
                }
            };
            let Some(text) = fit(&said) else { return Ok(()) };
            let keep = Keep {
                agent: job.payload.clone(),
                figures: brief.figures,
                text,
                embeds: self.embeds,
                seed: seed_of(job),
            };
            store.write(Box::new(keep)).await.map(|_| ())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_words_are_cleaned_and_cut() {
        assert_eq!(fit(" \"Plays fair.\"\n").as_deref(), Some("Plays fair."));
        assert_eq!(fit("a\u{0}b\u{202e}c\u{200b}\u{1b}[31md").as_deref(), Some("abc[31md"));
        assert_eq!(fit(" \n\u{200b} "), None);
        let sentences = "Keeps its word in most of its duels. ".repeat(12);
        let cut = fit(&sentences).unwrap();
        assert!(
            cut.ends_with('.') && cut.chars().count() <= CHARS_MAX && cut.chars().count() > CHARS_MAX / 2,
            "{cut}"
        );
        let words = fit(&"word ".repeat(100)).unwrap();
        assert!(words.ends_with("word") && words.chars().count() <= CHARS_MAX, "{words}");
        assert_eq!(fit(&"字".repeat(400)).unwrap().chars().count(), CHARS_MAX);
    }
}
