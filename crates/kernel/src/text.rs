//! Text that agents write: normalised, bounded, free of characters that attack a reader.
//!
//! The rule (spec, "Text"): NFC, trim, count Unicode scalars, refuse control characters other than
//! `\n` and `\t`, and refuse bidirectional controls that are not paired. Escaping is the job of each
//! output, because what is hostile differs between HTML, a terminal and a log line.

use std::fmt;

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Why a text was refused; prints as the end of a sentence about the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFault {
    Length { got: usize, min: usize, max: usize },
    Control { scalar: char },
    UnpairedBidi,
    Invisible,
}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { got, min, max } => {
                write!(f, "has {got} characters after trimming; use {min} to {max}")
            }
            Self::Control { scalar } => write!(
                f,
                "holds the control character U+{:04X}; of these only newline and tab are allowed",
                u32::from(*scalar)
            ),
            Self::UnpairedBidi => f.write_str(
                "holds an unpaired bidirectional control; close each embedding or isolate, or remove it",
            ),
            Self::Invisible => f.write_str("shows nothing; write at least one visible character"),
        }
    }
}

/// Normalises `raw` and checks it against `min..=max` Unicode scalars.
pub fn clean(raw: &str, min: usize, max: usize) -> Result<String, TextFault> {
    // A text far over the limit is refused before the work of normalising it.
    if raw.len() > max.saturating_mul(64).max(64 * 1024) {
        return Err(TextFault::Length { got: raw.chars().count(), min, max });
    }
    let text: String = if is_nfc(raw) { raw.to_owned() } else { raw.nfc().collect() };
    let text = text.trim();
    let got = text.chars().count();
    if got < min || got > max {
        return Err(TextFault::Length { got, min, max });
    }
    if let Some(scalar) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(TextFault::Control { scalar });
    }
    if !bidi_is_paired(text) {
        return Err(TextFault::UnpairedBidi);
    }
    if min > 0 && text.chars().all(|c| c.is_whitespace() || is_invisible(c)) {
        return Err(TextFault::Invisible);
    }
    Ok(text.to_owned())
}

/// A text without its control characters and without what shows nothing, for text that is cleaned rather
/// than refused.
pub fn shown_only(text: &str) -> String {
    text.nfc().filter(|c| !c.is_control() && !is_invisible(*c)).collect()
}

/// Characters that Unicode calls default-ignorable: a text of nothing else would be read as empty.
fn is_invisible(scalar: char) -> bool {
    matches!(
        scalar,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether every embedding, override and isolate is closed in its own paragraph by its own kind.
fn bidi_is_paired(text: &str) -> bool {
    const POP_EMBEDDING: char = '\u{202c}';
    const POP_ISOLATE: char = '\u{2069}';
    let mut open = Vec::new();
    for scalar in text.chars() {
        match scalar {
            '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}' => open.push(POP_EMBEDDING),
            '\u{2066}'..='\u{2068}' => open.push(POP_ISOLATE),
            POP_EMBEDDING | POP_ISOLATE if open.pop() != Some(scalar) => return false,
            // A paragraph ends every embedding, so one left open would be unpaired.
            '\n' | '\u{2029}' if !open.is_empty() => return false,
            _ => {}
        }
    }
    open.is_empty()
}

/// The shortest and longest nickname, in characters.
pub const NICKNAME_CHARS: std::ops::RangeInclusive<usize> = 3..=30;

/// What a nickname looks like, for messages.
pub const NICKNAME_RULE: &str = "3 to 30 of a-z, 0-9, - and _, starting with a letter";

/// A permanent handle in its normal form, or `None` when the text cannot be one.
pub fn nickname(raw: &str) -> Option<String> {
    let text = raw.trim().to_ascii_lowercase();
    let shape = text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
        && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    (shape && NICKNAME_CHARS.contains(&text.len())).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_normalised_trimmed_and_counted_in_scalars() {
        assert_eq!(clean("  e\u{301}  ", 1, 1).unwrap(), "é");
        assert_eq!(clean("👩‍👩‍👧", 1, 5).unwrap().chars().count(), 5, "a family is five scalars");
        assert_eq!(clean(" \n ", 1, 5), Err(TextFault::Length { got: 0, min: 1, max: 5 }));
        assert_eq!(clean(&"字".repeat(500), 1, 500).unwrap().chars().count(), 500);
        assert_eq!(clean(&"字".repeat(501), 1, 500), Err(TextFault::Length { got: 501, min: 1, max: 500 }));
    }

    #[test]
    fn control_characters_are_refused_but_newline_and_tab() {
        assert_eq!(clean("a\n\tb", 1, 9).unwrap(), "a\n\tb");
        for scalar in ['\0', '\u{7}', '\u{1b}', '\r', '\u{7f}', '\u{85}', '\u{9b}'] {
            assert_eq!(clean(&format!("a{scalar}b"), 1, 9), Err(TextFault::Control { scalar }));
        }
    }

    #[test]
    fn a_text_that_shows_nothing_is_refused() {
        for text in
            ["\u{200b}", "\u{3164}\u{3164}", "\u{2066}\u{2069}", "\u{feff} \u{200d}", "\u{e0041}\u{e007f}"]
        {
            assert_eq!(clean(text, 1, 9), Err(TextFault::Invisible), "{text:?}");
        }
        for text in ["\u{200b}a", "❤\u{fe0f}", "नमस्ते\u{200d}", ".", "ـ"] {
            assert!(clean(text, 1, 9).is_ok(), "{text:?}");
        }
        assert_eq!(clean("\u{200b}", 0, 9).unwrap(), "\u{200b}");
    }

    #[test]
    fn bidirectional_controls_must_be_paired() {
        for (text, ok) in [
            ("a\u{2066}b\u{2069}c", true),
            ("a\u{202e}b\u{202c}c", true),
            ("a\u{2066}\u{202a}b\u{202c}\u{2069}c", true),
            ("a\u{202e}b", false),
            ("a\u{2069}b", false),
            ("a\u{2066}b\u{202c}c", false),
            ("a\u{202e}b\nc\u{202c}", false),
        ] {
            assert_eq!(clean(text, 1, 20).is_ok(), ok, "{text:?}");
        }
    }

    #[test]
    fn nicknames_are_lowered_and_shaped() {
        for (raw, wanted) in [
            ("Alpha", Some("alpha")),
            (" beta_2 ", Some("beta_2")),
            ("a-b", Some("a-b")),
            ("ab", None),
            ("2fast", None),
            ("_ab", None),
            ("naïve", None),
            ("\u{212a}elvin", None), // Kelvin sign lower-cases to k in Unicode, not here
            ("a b", None),
            ("abcdefghijklmnopqrstuvwxyz12345", None),
        ] {
            assert_eq!(nickname(raw).as_deref(), wanted, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing(raw in "\\PC{0,40}") {
            if let Ok(once) = clean(&raw, 0, 100) {
                prop_assert_eq!(clean(&once, 0, 100), Ok(once.clone()));
            }
        }
    }
}
