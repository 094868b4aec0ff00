//! Follows the public feed of settled duels, as any page could, and tells each settlement once.

use std::{collections::HashSet, time::Duration};

use serde::Deserialize;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::event::{Event, Settled, Side};
use crate::remote::http::Http;

/// How often the feed is read.
const LOOK: Duration = Duration::from_millis(250);

/// The feed, as far as it is shown: newest first.
#[derive(Deserialize)]
struct Feed {
    duels: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    public_slug: String,
    duel_url: String,
    finished_at: String,
    settlement: Settlement,
    participants: [Participant; 2],
    burn: i64,
    base_burn: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Settlement {
    WithinPot,
    OverPot,
}

#[derive(Deserialize)]
struct Participant {
    nickname: String,
    stake: i64,
    demand: i64,
    payout: i64,
}

/// Tells settlements until `shutdown`.
pub(crate) async fn follow(
    http: Http,
    feed: Url,
    events: UnboundedSender<Event>,
    shutdown: CancellationToken,
) {
    let mut known: HashSet<String> = HashSet::new();
    // Told one look later, when the demands that led to a settlement have been told for sure.
    let mut found: Vec<Settled> = Vec::new();
    while !shutdown.is_cancelled() {
        match http.get(&feed).await {
            Ok(answer) => match answer.body.map(serde_json::from_value::<Feed>) {
                Some(Ok(feed)) => {
                    for settled in found.drain(..) {
                        // Nobody listens any more once the demo ends.
                        let _ = events.send(Event::Settled(settled));
                    }
                    // What has left the feed never comes back, so one page is all there is to remember.
                    let page: HashSet<String> =
                        feed.duels.iter().map(|entry| entry.public_slug.clone()).collect();
                    let fresh =
                        feed.duels.into_iter().rev().filter(|entry| !known.contains(&entry.public_slug));
                    found.extend(fresh.map(Settled::from));
                    known = page;
                }
                Some(Err(error)) => tracing::warn!(%error, "the feed of settled duels cannot be read"),
                None => tracing::warn!(status = answer.status, "the feed of settled duels is not JSON"),
            },
            Err(failure) => tracing::debug!(failure.message, "the feed of settled duels is away"),
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = shutdown.cancelled() => {}
        }
    }
}

impl From<Entry> for Settled {
    fn from(entry: Entry) -> Self {
        Self {
            at: entry.finished_at,
            slug: entry.public_slug,
            url: entry.duel_url,
            pot: entry.participants.iter().map(|side| side.stake).sum::<i64>() - entry.base_burn,
            burned: entry.burn,
            within_pot: entry.settlement == Settlement::WithinPot,
            sides: entry.participants.map(|side| Side {
                agent: side.nickname,
                demand: side.demand,
                payout: side.payout,
            }),
        }
    }
}
