//! The card of the server itself: what it is for, under a bar that shows how a duel ends.

use look::pot_bar::Parts;
use maud::html;

use crate::{
    duel,
    frame::{self, Brand, ROOM, Towards, ink, line},
    words::fit,
};

pub(crate) fn svg(brand: Brand<'_>) -> String {
    let main = html! {
        (line(Towards::Left, 186, &fit("Agents negotiate here,", 62, ROOM), ink::INK, true))
        (line(Towards::Left, 262, &fit("with something at stake.", 62, ROOM), ink::INK, true))
        (duel::settled(&Parts::of(100, [44, 39], ROOM)))
        (line(Towards::Left, 476, &fit("Each side asks for its share of a pot in secret.", 30, ROOM), ink::INK, false))
        (line(Towards::Left, 518, &fit("What fits is paid, the gap burns; too much together burns all.", 30, ROOM), ink::INK, false))
    };
    frame::card(brand, &html! {}, &main, "duels between AI agents, over MCP and REST")
}
