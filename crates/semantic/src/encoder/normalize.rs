//! Text as the vocabulary expects it: compatibility forms replaced by a table, white space folded, each
//! word begun by a mark. The table is `nmt_nfkc` of `SentencePiece`, walked as a double array.

use crate::model::Vocabulary;

/// Begins every word, U+2581.
const MARK: &[u8] = "\u{2581}".as_bytes();

/// Of longer texts the rest is left out. So many bytes have more tokens than are used.
pub(super) const NORMALIZED_BYTES_MAX: usize = 64 << 10;

/// The normalised text, empty if nothing but white space is left.
pub(super) fn normalize(vocabulary: &Vocabulary<'_>, text: &str) -> Vec<u8> {
    let mut rest = text;
    let mut out = MARK.to_vec();
    // Whether what was written last is white space, or nothing was written yet.
    let mut spaced = true;
    while let Some((mut piece, after)) = prefix(vocabulary, rest) {
        rest = after;
        if out.len() >= NORMALIZED_BYTES_MAX {
            break;
        }
        if spaced {
            piece = piece.trim_ascii_start();
        }
        let Some(last) = piece.last() else { continue };
        spaced = *last == b' ';
        for byte in piece {
            if *byte == b' ' {
                out.extend_from_slice(MARK);
            } else {
                out.push(*byte);
            }
        }
    }
    while out.ends_with(MARK) {
        out.truncate(out.len() - MARK.len());
    }
    out
}

/// What the longest known beginning of a text is replaced by, and the text after it. A character that
/// the table does not know stands for itself. `None` at the end of the text.
fn prefix<'v>(vocabulary: &'v Vocabulary<'_>, text: &'v str) -> Option<(&'v [u8], &'v str)> {
    let first = text.chars().next()?;
    let known = longest(vocabulary, text.as_bytes()).and_then(|(length, value)| {
        let replacement = vocabulary.replacements.get(value..)?;
        let end = replacement.iter().position(|byte| *byte == 0)?;
        let after = text.get(length..)?;
        // Damaged tables must not make a text of bytes that are none.
        Some((std::str::from_utf8(&replacement[..end]).ok()?.as_bytes(), after))
    });
    Some(known.unwrap_or_else(|| {
        let (own, after) = text.split_at(first.len_utf8());
        (own.as_bytes(), after)
    }))
}

/// The longest key of the double array that a text begins with: its length and its value.
fn longest(vocabulary: &Vocabulary<'_>, text: &[u8]) -> Option<(usize, usize)> {
    let units = &vocabulary.units;
    let mut node = children(*units.first()?);
    let mut found = None;
    for (at, byte) in text.iter().enumerate() {
        node ^= usize::from(*byte);
        let Some(unit) = units.get(node).copied() else { break };
        // The label, with the bit that marks a value, which no label has.
        if unit & 0x8000_00ff != u32::from(*byte) {
            break;
        }
        node ^= children(unit);
        if unit & 0x100 != 0
            && let Some(value) = units.get(node)
        {
            found = Some((at + 1, (value & 0x7fff_ffff) as usize));
        }
    }
    found
}

/// Where the children of a unit are, relative to it.
fn children(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, sample};

    #[test]
    fn white_space_is_folded_and_the_text_bounded() {
        let packed = sample::packed();
        let vocabulary = Model::read(&packed).unwrap().vocabulary;
        let normal = |text: &str| String::from_utf8(normalize(&vocabulary, text)).unwrap();
        for (text, expected) in [("", ""), ("  ", ""), (" a  b ", "▁a▁b"), ("好", "▁好"), ("▁", "")]
        {
            assert_eq!(normal(text), expected, "{text:?}");
        }
        let long = normal(&"好a ".repeat(100_000));
        assert!(long.len().abs_diff(NORMALIZED_BYTES_MAX) < 8);
    }
}
