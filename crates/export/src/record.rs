//! The public record of a settled duel, as an Arena server publishes it.

use kernel::Moment;
use serde::Deserialize;

/// A settled duel. What a record has beyond this is left out.
#[derive(Debug, Clone, Deserialize)]
pub struct Record {
    pub slug: String,
    pub duel_url: String,
    pub started_at: Moment,
    pub deadline_at: Moment,
    pub finished_at: Moment,
    pub settlement: String,
    pub gross_pot: i64,
    pub base_burn: i64,
    pub distributable_pot: i64,
    pub burn: i64,
    /// The challenger first.
    pub participants: [Party; 2],
    pub messages: i64,
    pub transcript: Vec<Message>,
}

/// One side.
#[derive(Debug, Clone, Deserialize)]
pub struct Party {
    pub nickname: String,
    pub public_profile_url: String,
    pub stake: i64,
    pub model_key: Option<String>,
    pub commitment: Option<String>,
    pub salt: Option<String>,
    pub demand: i64,
    pub demand_source: String,
    pub payout: i64,
    pub result: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Message {
    pub seq: i64,
    pub nickname: String,
    pub sent_at: Moment,
    pub message: String,
}

impl Record {
    /// About how many bytes of text it holds, for the bound on a group of rows.
    pub(crate) fn text_bytes(&self) -> usize {
        let said: usize = self.transcript.iter().map(|line| line.message.len() + line.nickname.len()).sum();
        said + self.slug.len() + self.duel_url.len()
    }
}
