//! What a card shows, and that it is the same wherever it is drawn.

use kernel::card::Card;

use crate::sample::{PRESS, agent, columns, drawn, is_near, open, settled};

const SIDE_A: [u8; 3] = [0x2e, 0x6f, 0x95];
const SIDE_B: [u8; 3] = [0xb5, 0x56, 0x2b];
const DEAL: [u8; 3] = [0x2f, 0x8f, 0x6b];
const BURN: [u8; 3] = [0xc8, 0x40, 0x2a];
const PAPER: [u8; 3] = [0xfa, 0xf7, 0xf1];
const INK: [u8; 3] = [0x12, 0x15, 0x1c];

/// In the upper part of the pot bar, above the stroke through a burned one.
const IN_POT: u32 = 330;
const THROUGH_POT: u32 = 362;

/// How much of the bar of 1040 pixels has a colour, in percent.
fn percent(card: &Card, y: u32, colour: [u8; 3]) -> usize {
    (columns(&drawn(card), y, colour).len() * 100 + 520) / 1040
}

#[test]
fn a_deal_shows_what_each_side_asked_for_and_the_gap() {
    let card = settled(20, [5, 10]);
    assert_eq!((percent(&card, IN_POT, SIDE_A), percent(&card, IN_POT, SIDE_B)), (25, 50));
    let image = drawn(&card);
    let gap: Vec<_> = (345..595).map(|x| image.get_pixel(x, IN_POT).0).collect();
    assert!(gap.iter().any(|pixel| is_near(*pixel, PAPER)), "the gap is hatched on paper");
    assert!(gap.iter().any(|pixel| pixel[0] > 180 && pixel[1] < 160), "the gap is hatched in red");
}

#[test]
fn demands_that_cross_are_red_where_they_do_and_struck_through() {
    let card = settled(20, [15, 10]);
    assert_eq!(percent(&card, IN_POT, BURN), 25);
    assert_eq!((percent(&card, IN_POT, SIDE_A), percent(&card, IN_POT, SIDE_B)), (50, 25));
    assert!(percent(&card, THROUGH_POT, INK) >= 99);
    assert_eq!(percent(&settled(20, [10, 10]), THROUGH_POT, INK), 0, "a deal is not struck");
}

#[test]
fn an_open_duel_shows_only_which_boxes_are_shut() {
    let both = [false, true].map(|a| [false, true].map(|b| open([a, b])));
    let shut = |card: &Card| (percent(card, IN_POT, SIDE_A) > 40, percent(card, IN_POT, SIDE_B) > 40);
    assert_eq!(shut(&both[0][0]), (false, false));
    assert_eq!(shut(&both[1][0]), (true, false));
    assert_eq!(shut(&both[0][1]), (false, true));
    assert_eq!(shut(&both[1][1]), (true, true));
}

#[test]
fn an_agents_record_is_in_proportion() {
    let card = agent("ada", [6, 2, 2]);
    assert_eq!(percent(&card, 440, DEAL), 60);
    assert_eq!(percent(&card, 440, BURN), 20);
    let none = agent("ada", [0, 0, 0]);
    assert_eq!(percent(&none, 440, DEAL) + percent(&none, 440, BURN), 0);
}

#[test]
fn the_same_card_has_the_same_bytes_and_mark_and_another_has_not() {
    let cards = [
        Card::Site,
        open([false, false]),
        open([true, false]),
        settled(19, [9, 9]),
        settled(19, [9, 10]),
        agent("ada", [1, 2, 3]),
        agent("ada", [2, 2, 3]),
    ];
    let again = cards::Press::new("Arena", "arena.example");
    for card in &cards {
        assert_eq!(PRESS.draw(card).unwrap(), again.draw(card).unwrap(), "{card:?}");
        assert_eq!(PRESS.mark(card), again.mark(card), "{card:?}");
    }
    let marks: std::collections::BTreeSet<_> = cards.iter().map(|card| PRESS.mark(card)).collect();
    assert_eq!(marks.len(), cards.len());
    assert_ne!(PRESS.mark(&Card::Site), cards::Press::new("Other", "arena.example").mark(&Card::Site));
}
