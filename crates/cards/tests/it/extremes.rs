//! Any number and any text gives a card, and nothing on it leaves the margins.

use kernel::card::{Card, DuelState, Verdict};
use proptest::prelude::*;

use crate::sample::{DEADLINE, PRESS, agent, drawn, duel, is_near, open, settled};

const PAPER: [u8; 3] = [0xfa, 0xf7, 0xf1];

/// What is drawn stays within the margins, with a little for the slope of letters.
fn assert_margins_are_paper(card: &Card) {
    let image = drawn(card);
    for (x, y, pixel) in image.enumerate_pixels() {
        if !(72..1128).contains(&x) || !(40..610).contains(&y) {
            assert!(is_near(pixel.0, PAPER), "ink at {x}, {y} of {card:?}");
        }
    }
}

fn telling(text: &str) -> DuelState {
    DuelState::Settled {
        headline: text.to_owned(),
        verdict: Verdict::Deal,
        models: [Some(text.to_owned()), Some(text.to_owned())],
        demands: [9, 9],
        payouts: [9, 9],
        burned: 2,
    }
}

#[test]
fn extreme_numbers_stay_on_the_card() {
    for (pot, demands) in [
        (19, [0, 0]),
        (19, [19, 0]),
        (19, [0, 19]),
        (19, [10, 9]),
        (19, [19, 19]),
        (0, [0, 0]),
        (1, [1, 0]),
        (i64::MAX, [i64::MAX, i64::MAX]),
        (i64::MAX - 1, [1, 1]),
        (1, [i64::MAX, 0]),
    ] {
        assert_margins_are_paper(&settled(pot, demands));
    }
    for counts in [[0, 0, 1], [1, 0, 0], [0, 1, 0], [1_000_000, 1, 1], [i64::MAX / 4; 3]] {
        assert_margins_are_paper(&agent("ada", counts));
    }
}

#[test]
fn texts_of_any_kind_stay_on_the_card() {
    let wide = ["W", "m", "_", "@", "字", "Ж", "ﷺ", "👩‍👩‍👧", "𒐫", "e\u{301}\u{323}"];
    for text in wide.map(|seen| seen.repeat(40)) {
        assert_margins_are_paper(&duel([&text, &text], 19, telling(&text)));
        assert_margins_are_paper(&agent(&text, [3, 1, 2]));
        let title = cards::Press::new(text.clone(), text.clone());
        title.draw(&Card::Site).unwrap();
    }
}

#[test]
fn text_that_would_be_markup_is_text() {
    let plain = |text: &str| PRESS.draw(&agent(text, [1, 0, 0])).unwrap();
    // Entities stay as they were written, and elements are letters.
    assert_ne!(plain("&amp;"), plain("&"));
    for hostile in [
        "</text><image href=\"file:///etc/passwd\"/>",
        "<!DOCTYPE svg [<!ENTITY x \"y\">]>&x;",
        "\" onload=\"x",
        "]]><script/>",
        "&#0;&#x1;",
    ] {
        assert_margins_are_paper(&duel([hostile, hostile], 19, telling(hostile)));
    }
}

#[test]
fn what_turns_or_hides_text_draws_nothing() {
    let plain = PRESS.draw(&agent("ada", [1, 0, 0])).unwrap();
    for hostile in ["\u{202e}ada", "a\u{200b}d\u{2066}a", "ada\u{0}\u{7}", "\u{feff}ada\u{fffe}", "ada\n"] {
        assert_eq!(PRESS.draw(&agent(hostile, [1, 0, 0])).unwrap(), plain, "{hostile:?}");
    }
}

#[test]
fn names_of_nothing_give_a_card() {
    for text in ["", " ", "\u{202e}"] {
        assert_margins_are_paper(&duel([text, text], 19, telling(text)));
    }
    assert_margins_are_paper(&open([true, false]));
    let state =
        DuelState::Open { sealed: [false; 2], deadline: DEADLINE.plus_ms(i64::MAX / 2), base_burn: 1 };
    PRESS.draw(&duel(["ada", "bo"], 19, state)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_text_gives_a_card(text in any::<String>(), numbers in any::<[i64; 3]>()) {
        PRESS.draw(&duel([&text, "bo"], 19, telling(&text))).unwrap();
        PRESS.draw(&settled(numbers[0], [numbers[1], numbers[2]])).unwrap();
        PRESS.draw(&agent(&text, numbers.map(|number| number.max(0) / 4))).unwrap();
    }
}
