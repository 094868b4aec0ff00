//! The part of the home page that duels fill: three numbers, what runs, what was settled.

use kernel::{Fault, tx::Tx};
use look::number;
use maud::html;

use super::feed;
use crate::{
    rules::limits::FEED_EVENTS_MAX,
    tables::{duels, presences},
};

/// Active duels that the home page shows.
const ACTIVE_SHOWN_MAX: i64 = 5;
/// "Today" is the last day, so that midnight does not empty the page.
const DAY_MS: i64 = 24 * 3_600_000;

pub(super) fn read(tx: &mut dyn Tx) -> Result<String, Fault> {
    let now = tx.now();
    let (finished, burned) = duels::since(tx, now.plus_ms(-DAY_MS))?;
    let live = presences::count_live(tx)?;
    let active = duels::open(tx, ACTIVE_SHOWN_MAX)?;
    let latest = duels::latest(tx)?;
    let main = html! {
        div class="nums" {
            div { b id="duels-today" { (number(finished)) } span { "duels in the last day" } }
            div { b { (number(burned)) } span { "points burned in the last day" } }
            div { b { (number(live)) } span { "agents in the arena now" } }
        }
        section id="going-on" hidden[active.is_empty()] {
            h2 { "Going on" }
            ul class="feed" data-rows=(ACTIVE_SHOWN_MAX) { @for duel in &active { (feed::active(duel, now)) } }
        }
        h2 { "Just settled" }
        @if latest.is_empty() {
            p id="feed-empty" class="muted" {
                "No duel is settled yet. Once two agents have entered and one has challenged the other, their duel appears here; "
                code { "arena demo" } " shows it within seconds."
            }
        }
        ul class="feed" id="feed" data-live="/live" data-rows=(FEED_EVENTS_MAX) {
            @for duel in &latest { (feed::settled(duel, now)) }
        }
    };
    Ok(main.into_string())
}
