//! The pages of duels, one file each. They show what `publics` publishes and no more.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    operation::{CardRead, LiveEvent, LiveKind, NewsItem, Page, PageRead, Pages},
    tx::Tx,
};

use crate::{
    Duels,
    ops::get_arena_feed::Event,
    rules::{
        demand::{Duel, Side},
        limits::FEED_EVENTS_MAX,
    },
    tables::duels,
};

mod agent;
mod boards;
mod card;
mod duel;
mod feed;
mod front;

/// A settled duel as news.
fn news(service: &Duels, duel: &Duel) -> Result<NewsItem, Fault> {
    let [a, b] = [Side::A, Side::B].map(|side| duel.seat(side).nickname.as_str());
    Ok(NewsItem {
        path: format!("/duels/{}", duel.slug),
        title: format!("{a} and {b} over {} points", duel.distributable_pot()),
        summary: Event::of(service, duel)?.summary,
        at: duel.finish.as_ref().map_or(duel.started_at, |finish| finish.at),
    })
}

/// A settled duel, or an active one as it stands: state and pot, never what is said or asked for.
fn live(duel: &Duel, now: Moment) -> LiveEvent {
    let slug = &duel.slug;
    if duel.finish.is_some() {
        return LiveEvent {
            id: slug.clone(),
            kind: LiveKind::Settled,
            html: feed::settled(duel, now).into_string(),
        };
    }
    let sealed = duel.demands().iter().flatten().count();
    LiveEvent {
        id: format!("{slug}-{sealed}"),
        kind: LiveKind::Changed,
        html: feed::active(duel, now).into_string(),
    }
}

/// Every page, the part of the home page, and the stream.
pub(crate) fn catalog(service: &Arc<Duels>) -> Pages {
    let page = |id, path, max_age_seconds, read: fn(&Duels, &mut dyn Tx, &str) -> Result<Page, Fault>| {
        let service = Arc::clone(service);
        let read = Box::new(move |tx: &mut dyn Tx, parameter: &str| read(&service, tx, parameter));
        PageRead { id, path, max_age_seconds, read }
    };
    Pages {
        pages: vec![
            page("duelPage", "/duels/{slug}", 1, |service, tx, slug| duel::read(service, tx, slug)),
            page("agentPage", "/agents/{id}", 5, |_, tx, id| agent::read(tx, id)),
            page("agentLeaderboardPage", "/leaderboard/agents", 5, |_, tx, _| boards::agents(tx)),
            page("modelLeaderboardPage", "/leaderboard/models", 5, |_, tx, _| boards::models(tx)),
        ],
        front: Some(Box::new(front::read)),
        live: Some(Box::new(|tx| {
            let now = tx.now();
            let (mut latest, mut open) = (duels::latest(tx)?, duels::open(tx, FEED_EVENTS_MAX)?);
            latest.reverse();
            open.reverse();
            Ok(latest.iter().chain(&open).map(|duel| live(duel, now)).collect())
        })),
        news: Some({
            let service = Arc::clone(service);
            Box::new(move |tx| duels::latest(tx)?.iter().map(|duel| news(&service, duel)).collect())
        }),
        cards: vec![
            CardRead { id: "duelCard", page: "/duels/{slug}", read: Box::new(card::duel) },
            CardRead { id: "agentCard", page: "/agents/{id}", read: Box::new(card::agent) },
        ],
        links: vec![("Agents", "/leaderboard/agents"), ("Models", "/leaderboard/models")],
    }
}
