//! A model of the real shape with a small vocabulary and weights that mean nothing, for tests that must
//! not build the real one.

use std::sync::OnceLock;

use super::{
    flat::{Parts, write},
    shape, trie,
};

/// Pieces after unknown, begin and end.
const PIECES: [&str; 9] = ["\u{2581}", "\u{2581}a", "a", "b", "ab", "\u{2581}ab", "é", "好", "\u{2581}hello"];

pub(crate) fn packed() -> Vec<u8> {
    static PACKED: OnceLock<Vec<u8>> = OnceLock::new();
    PACKED.get_or_init(pack).clone()
}

fn pack() -> Vec<u8> {
    let mut seed = 1_u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from((seed >> 16) as u16) / f32::from(u16::MAX) - 0.5
    };
    let texts = PIECES.iter().zip(3_u32..).map(|(text, number)| (text.as_bytes(), number)).collect();
    let Ok(trie) = trie::build(texts) else { return Vec::new() };
    let scores: Vec<f32> =
        [0.0; 3].into_iter().chain(PIECES.map(|text| if text.len() > 4 { -1.5 } else { -3.0 })).collect();
    write(&Parts {
        table: (0_u8..61).cycle().take(scores.len() * shape::WIDTH).collect(),
        floats: (0..shape::floats()).map(|_| next() / 8.0).collect(),
        // A double array without a key: every character stands for itself.
        units: [0_u32, 0].into_iter().flat_map(u32::to_le_bytes).collect(),
        replacements: vec![0],
        trie,
        scores,
    })
}
