//! Text on cards: what may stand in it, how wide it is, and where it is cut.

use unicode_segmentation::UnicodeSegmentation;

/// Where the end of a text was.
const CUT: &str = "…";

/// A text and the size at which it has room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fitted {
    pub(crate) text: String,
    pub(crate) size: i64,
}

/// One line without control characters, without what turns or hides text, and without what XML forbids.
pub(crate) fn clean(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    kernel::text::shown_only(spaced.trim()).chars().filter(|c| !is_noncharacter(*c)).collect()
}

fn is_noncharacter(scalar: char) -> bool {
    u32::from(scalar) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&scalar)
}

/// Makes a text smaller, at most by half, and then cuts it by what readers see as one character, until it
/// has no more than `room` pixels.
pub(crate) fn fit(text: &str, size: i64, room: i64) -> Fitted {
    let text = clean(text);
    let smallest = size / 2;
    let mut size = size;
    while size > smallest && width(&text, size) > room {
        size -= 1;
    }
    if width(&text, size) <= room {
        return Fitted { text, size };
    }
    let (mut kept, mut taken) = (String::new(), width(CUT, size));
    for seen in text.graphemes(true) {
        taken += width(seen, size);
        if taken > room {
            break;
        }
        kept.push_str(seen);
    }
    Fitted { text: format!("{}{CUT}", kept.trim_end()), size }
}

/// A bound on the pixels that a text takes in the bold of cards, for cleaned text.
pub(crate) fn width(text: &str, size: i64) -> i64 {
    let hundredths: i64 = text.chars().map(hundredths_of_em).sum();
    (hundredths * size + 99) / 100
}

fn hundredths_of_em(scalar: char) -> i64 {
    match scalar {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | '!' | ':' | ';' | ' ' | '·' | '\u{202f}' => 30,
        'f' | 'r' | 't' | 'I' | 'J' | '-' | '(' | ')' | '/' => 44,
        'm' | 'M' | 'W' | '@' | 'æ' => 98,
        'w' | '%' => 86,
        '_' | 's' | 'c' | 'z' => 52,
        '0'..='9' => 61,
        'A'..='Z' | '&' | '#' => 82,
        ' '..='~' => 65,
        'à'..='ö' | 'ø'..='ÿ' => 66,
        // Most other characters are narrower, and none in the font is wider.
        _ => 144,
    }
}

/// A number of points in words.
pub(crate) fn points(count: i64) -> String {
    format!("{} {}", look::number(count), if count == 1 { "point" } else { "points" })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_that_turns_hides_or_breaks_a_line_is_left() {
        assert_eq!(clean(" a\u{202e}b\u{0}c\nd\u{2028}e\u{200b}f\u{fffe}g\u{fdd0}\u{1ffff} "), "abc d efg");
        assert_eq!(clean("a\u{1b}[31mb"), "a[31mb");
    }

    #[test]
    fn long_texts_shrink_first_and_are_cut_between_graphemes() {
        assert_eq!(fit("ada", 40, 1000), Fitted { text: "ada".to_owned(), size: 40 });
        let shrunk = fit(&"a".repeat(30), 60, 1000);
        assert!(shrunk.text.len() == 30 && (30..60).contains(&shrunk.size), "{shrunk:?}");
        let cut = fit(&"e\u{301}\u{323}".repeat(200), 40, 300);
        assert_eq!(cut.size, 20);
        let kept = cut.text.strip_suffix(CUT).unwrap();
        assert_eq!(
            kept.graphemes(true).map(|seen| seen.chars().count()).collect::<Vec<_>>(),
            vec![2; kept.graphemes(true).count()]
        );
    }

    proptest! {
        #[test]
        fn what_is_fitted_has_room(text in "\\PC{0,80}", size in 16i64..90, room in 80i64..1100) {
            let fitted = fit(&text, size, room);
            prop_assert!(width(&fitted.text, fitted.size) <= room, "{fitted:?}");
        }
    }
}
