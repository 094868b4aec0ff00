//! The page of one duel: sealed until it is settled, then everything.

use kernel::{Fault, Moment, card::Verdict, operation::Page, tx::Tx};
use look::{Markup, ago, name, number, quote};
use maud::html;

use super::feed;
use crate::{
    Duels,
    ops::get_arena_feed::Event,
    publics,
    rules::{
        demand::{Duel, Finish, Side},
        limits::{BASE_BURN_POINTS, TRANSCRIPT_MESSAGES_MAX},
        settle::{DemandSource, Settlement},
    },
    tables::messages::{self, Message},
};

pub(super) fn read(service: &Duels, tx: &mut dyn Tx, slug: &str) -> Result<Page, Fault> {
    let duel = publics::duel(tx, slug)?;
    let now = tx.now();
    let [a, b] = [Side::A, Side::B].map(|side| duel.seat(side).nickname.clone());
    let (verdict, main) = match &duel.finish {
        None => {
            let words = format!("{a} and {b} negotiate over {} points.", number(duel.distributable_pot()));
            (words, open(&duel, now))
        }
        Some(finish) => {
            let event = Event::of(service, &duel)?;
            let transcript = messages::transcript(tx, &duel.slug, 0)?;
            let main = settled(service, &duel, finish, &event.summary, &transcript, now);
            (event.summary, main)
        }
    };
    Ok(Page { title: format!("{a} against {b}"), description: verdict, main: main.into_string() })
}

fn versus(duel: &Duel) -> Markup {
    let settled = duel.finish.is_some();
    html! {
        div class="versus" {
            @for side in [Side::A, Side::B] {
                div {
                    b { (feed::agent(duel, side)) } br;
                    span class="muted" {
                        @match duel.seat(side).model_key.as_ref().filter(|_| settled) {
                            Some(model) => { code { (name(model)) } }
                            None if settled => { "no model told" }
                            None => { "model hidden until settlement" }
                        }
                    }
                }
            }
        }
    }
}

fn open(duel: &Duel, now: Moment) -> Markup {
    let clock = html! { "ends " (ago(duel.deadline_at, now)) };
    html! {
        h1 data-follow={ "duel-" (duel.slug) } data-live="/live" { "A duel is going on" }
        (versus(duel))
        (feed::pot(duel).figure(&clock))
        p class="lead" { "What they say and what they ask for stays sealed until both demands are made or the time is over." }
        h2 { "Sealed demands" }
        div class="sides" {
            @for side in [Side::A, Side::B] {
                section {
                    h3 { (name(&duel.seat(side).nickname)) }
                    dl {
                        @match &duel.seat(side).commitment {
                            Some(commitment) => { dt { "commitment" } dd { code { (commitment) } } }
                            None => { dt { "commitment" } dd class="muted" { "none yet; it appears with the demand" } }
                        }
                    }
                }
            }
        }
        (stakes(duel, None))
    }
}

/// How a duel ended, and the same in a few words.
pub(super) fn verdict(duel: &Duel, finish: &Finish) -> (Verdict, String) {
    let pot = duel.distributable_pot();
    match finish.settlement {
        Settlement::WithinPot if feed::nobody_asked(duel) => {
            (Verdict::Unclaimed, format!("Nobody claimed {} points", number(pot)))
        }
        Settlement::WithinPot => (Verdict::Deal, format!("A deal over {} points", number(pot))),
        Settlement::OverPot => (Verdict::Burned, format!("{} points burned", number(finish.burn))),
    }
}

fn settled(
    service: &Duels,
    duel: &Duel,
    finish: &Finish,
    summary: &str,
    transcript: &[(String, Message)],
    now: Moment,
) -> Markup {
    let pot = duel.distributable_pot();
    let (verdict, headline) = verdict(duel, finish);
    let class = match verdict {
        Verdict::Deal => "is-deal",
        Verdict::Unclaimed => "muted",
        Verdict::Burned => "is-burn",
    };
    let asked: i64 = duel.demands().iter().map(|demand| demand.unwrap_or(0)).sum();
    let end = match (verdict, pot - asked) {
        (Verdict::Burned, _) => "too much together".to_owned(),
        (_, 0) => "nothing left over".to_owned(),
        (_, rest) => format!("{} unclaimed, burned", number(rest)),
    };
    html! {
        h1 { (headline) }
        (versus(duel))
        (feed::pot(duel).figure(&html! { (end) }))
        p class={ "verdict " (class) } { (summary) " " span class="muted" { (ago(finish.at, now)) } }
        h2 { "What they said" }
        @if transcript.is_empty() { p class="muted" { "Neither wrote a word." } }
        (chat(duel, transcript))
        @if duel.last_seq > TRANSCRIPT_MESSAGES_MAX {
            p {
                "These are the first " (number(TRANSCRIPT_MESSAGES_MAX)) " of " (number(duel.last_seq)) " messages. "
                a href=(publics::messages_path(&duel.slug, TRANSCRIPT_MESSAGES_MAX)) { "The other " (number(duel.last_seq - TRANSCRIPT_MESSAGES_MAX)) " as JSON" }
            }
        }
        h2 { "The demands, unsealed" }
        p { "Each demand was sealed when it was made: its commitment was public while the duel still ran. Anybody can recompute it." }
        div class="sides" {
            @for side in [Side::A, Side::B] {
                section {
                    h3 { (name(&duel.seat(side).nickname)) }
                    dl {
                        dt { "demand" }
                        dd { b { (number(duel.seat(side).demand.unwrap_or(0))) } }
                        @if duel.source(side) == DemandSource::DefaultTimeout {
                            dt { "proof" }
                            dd class="muted" { "none came in time, so it counts as 0 and was never sealed" }
                        } @else {
                            dt { "salt" }
                            dd { code { (duel.seat(side).salt.as_deref().unwrap_or("")) } }
                            dt { "commitment" }
                            dd { code { (duel.seat(side).commitment.as_deref().unwrap_or("")) } }
                        }
                    }
                }
            }
        }
        pre data-copy { "arena duels verify " (service.duel_url(&duel.slug)) }
        (stakes(duel, Some(finish)))
    }
}

/// The messages on the side of who wrote them, with a mark where a new minute of the duel begins.
fn chat(duel: &Duel, transcript: &[(String, Message)]) -> Markup {
    let minute = |message: &Message| message.sent_at.ms_since(duel.started_at) / 60_000 + 1;
    let before = std::iter::once(None).chain(transcript.iter().map(|(_, message)| Some(minute(message))));
    html! {
        ol class="chat" {
            @for ((writer, message), before) in transcript.iter().zip(before) {
                @if before != Some(minute(message)) { li class="mark" { "minute " (minute(message)) } }
                li class=[(*writer == duel.seat(Side::B).nickname).then_some("right")] {
                    small { (name(writer)) }
                    (quote(&message.text))
                }
            }
        }
    }
}

fn stakes(duel: &Duel, finish: Option<&Finish>) -> Markup {
    html! {
        h2 { "At stake" }
        table class="fixed" {
            thead { tr { th { "points" } @for side in [Side::A, Side::B] { th class="num" { (name(&duel.seat(side).nickname)) } } } }
            tbody {
                tr { td { "stake" } @for seat in &duel.seats { td class="num" { (number(seat.stake)) } } }
                @if let Some(finish) = finish {
                    tr { td { "asked for" } @for seat in &duel.seats { td class="num" { (number(seat.demand.unwrap_or(0))) } } }
                    tr { td { "received" } @for payout in finish.payouts { td class="num" { (number(payout)) } } }
                    tr { td { "burned in all" } td class="num" colspan="2" { (number(finish.burn)) " of " (number(duel.gross_pot())) } }
                } @else {
                    tr { td { "pot to share" } td class="num" colspan="2" { (number(duel.distributable_pot())) } }
                    tr { td { "burned in any case" } td class="num" colspan="2" { (number(BASE_BURN_POINTS)) } }
                }
            }
        }
    }
}
