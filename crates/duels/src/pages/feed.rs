//! One row of a list of duels: names, a small pot bar, and how it ended or stands.

use kernel::Moment;
use look::{
    Markup, ago, name,
    pot_bar::{Pot, Size},
};
use maud::html;

use crate::rules::{
    demand::{Duel, Side},
    settle::Settlement,
};

/// The bar of a duel; demands only once it is settled.
pub(super) fn pot(duel: &Duel) -> Pot<'_> {
    let demands = duel.finish.as_ref().map(|_| duel.demands().map(|demand| demand.unwrap_or(0)));
    Pot {
        names: [&duel.seat(Side::A).nickname, &duel.seat(Side::B).nickname],
        distributable: duel.distributable_pot(),
        demands,
        sealed: duel.demands().map(|demand| demand.is_some()),
    }
}

/// A link to an agent, in the colour of its side.
pub(super) fn agent(duel: &Duel, side: Side) -> Markup {
    let seat = duel.seat(side);
    let class = match side {
        Side::A => "side-a-ink",
        Side::B => "side-b-ink",
    };
    html! { a class=(class) href={ "/agents/" (seat.agent) } { (name(&seat.nickname)) } }
}

/// Whether the pot fell to nobody because both demands are nothing, said or by the deadline.
pub(super) fn nobody_asked(duel: &Duel) -> bool {
    duel.demands().iter().all(|demand| demand.unwrap_or(0) == 0)
}

/// A settled duel.
pub(super) fn settled(duel: &Duel, now: Moment) -> Markup {
    let (class, words) = match duel.finish.as_ref().map(|finish| finish.settlement) {
        Some(Settlement::WithinPot) if nobody_asked(duel) => ("muted", "unclaimed"),
        Some(Settlement::WithinPot) => ("is-deal", "deal"),
        Some(Settlement::OverPot) => ("is-burn", "burned"),
        None => ("muted", "open"),
    };
    let when = duel.finish.as_ref().map_or(duel.started_at, |finish| finish.at);
    row(duel, &html! { a class=(class) href={ "/duels/" (duel.slug) } { (words) } (ago(when, now)) })
}

/// An active duel: who, for what, and until when.
pub(super) fn active(duel: &Duel, now: Moment) -> Markup {
    let state = if duel.demands().iter().any(Option::is_some) { "one sealed" } else { "talking" };
    row(
        duel,
        &html! { a href={ "/duels/" (duel.slug) } { (state) } span { "ends " (ago(duel.deadline_at, now)) } },
    )
}

fn row(duel: &Duel, end: &Markup) -> Markup {
    html! {
        li id={ "duel-" (duel.slug) } {
            span class="left" { (agent(duel, Side::A)) }
            span class="pot-cell" { (pot(duel).draw(Size::Row)) }
            span class="right" { (agent(duel, Side::B)) }
            span class="end" { (end) }
        }
    }
}
