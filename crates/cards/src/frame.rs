//! The frame of every card: paper, the brand above, a line of small words below, and the pieces to draw with.

use maud::{Markup, html};

use crate::words::{self, Fitted};

/// Of a card, in pixels: the shape that networks show without cutting.
pub const WIDTH: u32 = 1200;
pub const HEIGHT: u32 = 630;

pub(crate) const MARGIN: i64 = 80;
/// Between the margins.
pub(crate) const ROOM: i64 = RIGHT - MARGIN;
pub(crate) const RIGHT: i64 = WIDTH as i64 - MARGIN;

/// The light half of the tokens in the style sheet of pages.
pub(crate) mod ink {
    pub(crate) const PAPER: &str = "#faf7f1";
    pub(crate) const INK: &str = "#12151c";
    pub(crate) const LINE: &str = "#d9d3c7";
    pub(crate) const MUTED: &str = "#5d5a52";
    pub(crate) const EMPTY: &str = "#f1ece1";
    pub(crate) const SIDES: [&str; 2] = ["#2e6f95", "#b5562b"];
    pub(crate) const SIDE_WORDS: [&str; 2] = ["#265d7d", "#93441f"];
    pub(crate) const DEAL: &str = "#2f8f6b";
    pub(crate) const DEAL_WORDS: &str = "#1f6b4f";
    pub(crate) const BURN: &str = "#c8402a";
    pub(crate) const BURN_WORDS: &str = "#a8321f";
    pub(crate) const WAIT: &str = "#8a7a4a";
    pub(crate) const WAIT_WORDS: &str = "#6b5d33";
}

/// What a server writes on each of its cards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Brand<'a> {
    pub(crate) title: &'a str,
    pub(crate) host: &'a str,
}

/// At which end a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Towards {
    Left,
    Right,
}

impl Towards {
    /// The anchor, and the margin where it is.
    const fn place(self) -> (&'static str, i64) {
        match self {
            Self::Left => ("start", MARGIN),
            Self::Right => ("end", RIGHT),
        }
    }
}

/// A text at a margin on a baseline. Bold is drawn as an outline: there is one font.
pub(crate) fn line(towards: Towards, y: i64, fitted: &Fitted, colour: &str, is_bold: bool) -> Markup {
    let (anchor, x) = towards.place();
    text(anchor, x, y, fitted, colour, is_bold)
}

pub(crate) fn text(anchor: &str, x: i64, y: i64, fitted: &Fitted, colour: &str, is_bold: bool) -> Markup {
    // Thirtieths of an em.
    let outline = is_bold.then(|| fitted.size * 100 / 30);
    html! {
        text x=(x) y=(y) font-size=(fitted.size) text-anchor=(anchor) fill=(colour)
            stroke=[outline.map(|_| colour)] stroke-width=[outline.map(hundredths)] stroke-linejoin=[outline.map(|_| "round")] {
            (fitted.text)
        }
    }
}

/// A number of hundredths as a decimal.
fn hundredths(number: i64) -> String {
    format!("{}.{:02}", number / 100, number % 100)
}

pub(crate) fn bar(x: i64, y: i64, width: i64, height: i64, fill: &str) -> Markup {
    html! {
        @if width > 0 { rect x=(x) y=(y) width=(width) height=(height) fill=(fill) {} }
    }
}

/// A whole card: `main` between the brand with `corner` above, and `foot` with the host below.
pub(crate) fn card(brand: Brand<'_>, corner: &Markup, main: &Markup, foot: &str) -> String {
    let host = words::fit(brand.host, 26, ROOM / 2);
    let foot = words::fit(foot, 26, ROOM - words::width(&host.text, host.size) - 24);
    let document = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
            defs {
                pattern id="hatch" width="16" height="16" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect width="16" height="16" fill=(ink::PAPER) {}
                    rect width="6" height="16" fill=(ink::BURN) fill-opacity="0.6" {}
                }
                clipPath id="round" { rect x=(MARGIN) y=(crate::duel::BAR_TOP) width=(ROOM) height=(crate::duel::BAR_HEIGHT) rx="10" {} }
            }
            rect width=(WIDTH) height=(HEIGHT) fill=(ink::PAPER) {}
            (mark())
            (text("start", MARGIN + 56, 84, &words::fit(brand.title, 32, ROOM / 2), ink::INK, true))
            (corner)
            (main)
            (bar(MARGIN, 546, ROOM, 2, ink::LINE))
            (line(Towards::Left, 592, &foot, ink::MUTED, false))
            (line(Towards::Right, 592, &host, ink::MUTED, false))
        }
    };
    document.into_string()
}

/// The icon of the server: two sides and the gap between them.
fn mark() -> Markup {
    html! {
        rect x=(MARGIN) y="52" width="42" height="42" rx="8" fill=(ink::INK) {}
        (bar(MARGIN + 6, 66, 17, 14, ink::SIDES[0]))
        (bar(MARGIN + 25, 66, 11, 14, ink::SIDES[1]))
    }
}
