//! The card of a duel: the pot bar between the two names, and how it ended or until when it goes on.

use kernel::{
    Moment,
    card::{DuelCard, DuelState, Verdict},
};
use look::{number, pot_bar::Parts};
use maud::{Markup, html};

use crate::{
    frame::{self, Brand, MARGIN, RIGHT, ROOM, Towards, bar, ink, line, text},
    words::{fit, points},
};

pub(crate) const BAR_TOP: i64 = 306;
pub(crate) const BAR_HEIGHT: i64 = 112;
/// Between two boxes of an open duel.
const BOX_GAP: i64 = 12;
/// Beside what burned.
const EDGE: i64 = 4;

pub(crate) fn svg(brand: Brand<'_>, duel: &DuelCard) -> String {
    let stakes = format!("staked {} and {}", number(duel.stakes[0]), number(duel.stakes[1]));
    match &duel.state {
        DuelState::Open { sealed, deadline, base_burn } => {
            let headline = format!("A duel over {} is going on", points(duel.distributable));
            let main = html! {
                (line(Towards::Left, 176, &fit(&headline, 56, ROOM), ink::INK, true))
                (sides(duel, |side| if sealed[side] { "demand sealed".to_owned() } else { "no demand yet".to_owned() }))
                (boxes(*sealed))
            };
            frame::card(
                brand,
                &clock(*deadline),
                &main,
                &format!("{stakes} · {} burns in any case", points(*base_burn)),
            )
        }
        DuelState::Settled { headline, verdict, models, demands, payouts, burned } => {
            let (colour, word) = match verdict {
                Verdict::Deal => (ink::DEAL_WORDS, "deal"),
                Verdict::Unclaimed => (ink::MUTED, "unclaimed"),
                Verdict::Burned => (ink::BURN_WORDS, "burned"),
            };
            let told = |side: usize| {
                let counts =
                    format!("asked for {} · received {}", number(demands[side]), number(payouts[side]));
                match &models[side] {
                    Some(model) => format!("{counts} · {model}"),
                    None => counts,
                }
            };
            let main = html! {
                (line(Towards::Left, 176, &fit(headline, 56, ROOM), colour, true))
                (sides(duel, told))
                (settled(&Parts::of(duel.distributable, *demands, ROOM)))
            };
            let corner = line(Towards::Right, 84, &fit(word, 30, ROOM / 3), colour, true);
            frame::card(brand, &corner, &main, &format!("{stakes} · {} burned in all", points(*burned)))
        }
    }
}

/// The left side above the bar, the right side below it, each in its colour with a line of words.
fn sides(duel: &DuelCard, told: impl Fn(usize) -> String) -> Markup {
    html! {
        (line(Towards::Left, 246, &fit(&duel.names[0], 42, ROOM), ink::SIDE_WORDS[0], true))
        (line(Towards::Left, 286, &fit(&told(0), 28, ROOM), ink::INK, false))
        (line(Towards::Right, 466, &fit(&duel.names[1], 42, ROOM), ink::SIDE_WORDS[1], true))
        (line(Towards::Right, 508, &fit(&told(1), 28, ROOM), ink::INK, false))
    }
}

pub(crate) fn settled(parts: &Parts) -> Markup {
    let [from, to] = parts.middle;
    html! {
        g clip-path="url(#round)" {
            (bar(MARGIN, BAR_TOP, ROOM, BAR_HEIGHT, ink::EMPTY))
            (bar(MARGIN, BAR_TOP, parts.left, BAR_HEIGHT, ink::SIDES[0]))
            (bar(RIGHT - parts.right, BAR_TOP, parts.right, BAR_HEIGHT, ink::SIDES[1]))
            @if parts.crossed {
                // Red and orange are hard to tell apart, so paper is between them.
                (bar(MARGIN + from - EDGE, BAR_TOP, to - from + 2 * EDGE, BAR_HEIGHT, ink::PAPER))
                (bar(MARGIN + from, BAR_TOP, (to - from).max(2), BAR_HEIGHT, ink::BURN))
                (bar(MARGIN, BAR_TOP + BAR_HEIGHT / 2 - 3, ROOM, 6, ink::INK))
            } @else {
                (bar(MARGIN + from, BAR_TOP, to - from, BAR_HEIGHT, "url(#hatch)"))
            }
        }
    }
}

/// A box that is shut for each demand that is made, and one that waits for each that is not.
fn boxes(sealed: [bool; 2]) -> Markup {
    let width = (ROOM - BOX_GAP) / 2;
    html! {
        @for (side, x) in [MARGIN, RIGHT - width].into_iter().enumerate() {
            @if sealed[side] {
                rect x=(x) y=(BAR_TOP) width=(width) height=(BAR_HEIGHT) rx="10" fill=(ink::SIDES[side]) {}
                (lock(x + width / 2))
            } @else {
                rect x=(x + 2) y=(BAR_TOP + 2) width=(width - 4) height=(BAR_HEIGHT - 4) rx="10" fill=(ink::SIDES[side]) fill-opacity="0.1"
                    stroke=(ink::SIDES[side]) stroke-width="4" stroke-dasharray="16 12" {}
            }
        }
    }
}

fn lock(middle: i64) -> Markup {
    let top = BAR_TOP + BAR_HEIGHT / 2 - 8;
    html! {
        path d={ "M" (middle - 14) " " (top) " v-12 a14 14 0 0 1 28 0 v12" } fill="none" stroke=(ink::PAPER) stroke-width="6" {}
        rect x=(middle - 24) y=(top) width="48" height="36" rx="6" fill=(ink::PAPER) {}
    }
}

/// Until when it goes on, on a dial and in words.
fn clock(deadline: Moment) -> Markup {
    let iso = deadline.to_string();
    let time = iso.get(11..16).unwrap_or_default();
    let number = |range| time.get(range).and_then(|digits: &str| digits.parse::<i64>().ok()).unwrap_or(0);
    let minutes = number(0..2) * 60 + number(3..5);
    let words = fit(&format!("sealed until {time} UTC"), 30, ROOM / 2);
    let x = RIGHT - 22;
    html! {
        (text("end", RIGHT - 58, 84, &words, ink::WAIT_WORDS, true))
        circle cx=(x) cy="73" r="19" fill="none" stroke=(ink::WAIT) stroke-width="5" {}
        g stroke=(ink::WAIT) stroke-width="4" stroke-linecap="round" {
            line x1=(x) y1="73" x2=(x) y2="66" transform={ "rotate(" (minutes % 720 / 2) " " (x) " 73)" } {}
            line x1=(x) y1="73" x2=(x) y2="61" transform={ "rotate(" (minutes % 60 * 6) " " (x) " 73)" } {}
        }
    }
}
