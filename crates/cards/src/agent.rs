//! The card of an agent: its rating with the interval, and what it won, drew and lost. Its avatar is not on
//! it: a card holds no picture from outside.

use kernel::card::AgentCard;
use look::{board, number};
use maud::{Markup, html};

use crate::{
    frame::{self, Brand, MARGIN, ROOM, Towards, bar, ink, line, text},
    words::{Fitted, fit, width},
};

const AXIS: i64 = 370;
/// Room for the half of the dot at both ends.
const AXIS_LEFT: i64 = MARGIN + 20;
const AXIS_LENGTH: i64 = ROOM - 40;
const BAR_TOP: i64 = 422;
const BAR_HEIGHT: i64 = 40;

pub(crate) fn svg(brand: Brand<'_>, agent: &AgentCard) -> String {
    let AgentCard { nickname, rating_permille, wins, draws, losses } = agent;
    let duels = wins.saturating_add(*draws).saturating_add(*losses);
    let rated = rating_permille.zip(board::interval_permille(*wins, *draws, duels));
    let main = html! {
        (line(Towards::Left, 186, &fit(nickname, 68, ROOM), ink::INK, true))
        @match rated {
            Some((rating, interval)) => { (rating_of(rating, interval, duels)) }
            None => {
                (line(Towards::Left, 286, &fit("No finished duel yet", 40, ROOM), ink::MUTED, false))
                (axis())
            }
        }
        (record([*wins, *draws, *losses], duels))
    };
    let corner = line(Towards::Right, 84, &fit("agent", 30, ROOM / 3), ink::MUTED, true);
    frame::card(brand, &corner, &main, "a win counts one, an even result a half")
}

fn rating_of(rating: i64, interval: [i64; 2], duels: i64) -> Markup {
    let shown = Fitted { text: format!("{} %", tenths(rating)), size: 104 };
    let beside = MARGIN + width(&shown.text, shown.size) + 28;
    let [low, high] = interval.map(on_axis);
    let counted = format!("rating over {} {}", number(duels), if duels == 1 { "duel" } else { "duels" });
    let between = format!("95 % sure: {} to {} %", tenths(interval[0]), tenths(interval[1]));
    let room = MARGIN + ROOM - beside;
    html! {
        (line(Towards::Left, 306, &shown, ink::SIDE_WORDS[0], true))
        (text("start", beside, 266, &fit(&counted, 30, room), ink::INK, false))
        (text("start", beside, 306, &fit(&between, 30, room), ink::MUTED, false))
        (axis())
        (bar(low, AXIS - 6, (high - low).max(4), 12, ink::SIDES[0]))
        circle cx=(on_axis(rating)) cy=(AXIS) r="18" fill=(ink::SIDES[0]) stroke=(ink::PAPER) stroke-width="5" {}
    }
}

fn on_axis(permille: i64) -> i64 {
    AXIS_LEFT + permille.clamp(0, 1000) * AXIS_LENGTH / 1000
}

/// From 0 to 100 percent, with a tick at the half.
fn axis() -> Markup {
    html! {
        (bar(AXIS_LEFT, AXIS - 2, AXIS_LENGTH, 4, ink::LINE))
        @for permille in [0, 500, 1000] { (bar(on_axis(permille) - 2, AXIS - 16, 4, 32, ink::LINE)) }
    }
}

fn record(counts: [i64; 3], duels: i64) -> Markup {
    let widths = board::shares(counts[0], counts[1], counts[2], ROOM);
    let [won, even, _] = widths;
    html! {
        @if duels > 0 {
            @for (x, (width, colour)) in [0, won, won + even].into_iter().zip(widths.into_iter().zip([ink::DEAL, ink::WAIT, ink::BURN])) {
                (bar(MARGIN + x, BAR_TOP, width, BAR_HEIGHT, colour))
            }
        } @else {
            (bar(MARGIN, BAR_TOP, ROOM, BAR_HEIGHT, ink::EMPTY))
        }
        @for (x, (anchor, (count, (word, colour)))) in [MARGIN, MARGIN + ROOM / 2, MARGIN + ROOM].into_iter().zip(["start", "middle", "end"].into_iter().zip(
            counts.into_iter().zip([("won", ink::DEAL_WORDS), ("even", ink::WAIT_WORDS), ("lost", ink::BURN_WORDS)]),
        )) {
            (text(anchor, x, 512, &fit(&format!("{} {word}", number(count)), 34, ROOM / 3), colour, true))
        }
    }
}

/// Permille as percent; `63.2`, and `100` rather than `100.0`.
fn tenths(permille: i64) -> String {
    match permille % 10 {
        0 => (permille / 10).to_string(),
        tenth => format!("{}.{}", permille / 10, tenth.abs()),
    }
}
