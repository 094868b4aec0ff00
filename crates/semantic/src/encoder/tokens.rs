//! Cuts normalised text into pieces of the vocabulary: the cut whose scores have the largest sum. Of
//! equal sums the first found counts, where shorter first pieces are found later.

use super::normalize::normalize;
use crate::model::Vocabulary;

/// A character, or a run of them, that the vocabulary does not have.
const UNKNOWN: u32 = 0;
const BEGIN: u32 = 1;
const END: u32 = 2;
/// How much worse than the worst piece an unknown character is.
const UNKNOWN_PENALTY: f64 = 10.0;

/// Finds tokens.
#[derive(Debug)]
pub(super) struct Tokenizer {
    /// The score of an unknown character.
    unknown: f64,
}

impl Tokenizer {
    pub(super) fn new(vocabulary: &Vocabulary<'_>) -> Self {
        let worst = vocabulary.scores.iter().copied().fold(f32::MAX, f32::min);
        Self { unknown: f64::from(worst) - UNKNOWN_PENALTY }
    }

    /// At least begin and end. All but `most` tokens are left out, from the end of the text.
    pub(super) fn tokens(&self, vocabulary: &Vocabulary<'_>, text: &str, most: usize) -> Vec<u32> {
        let text = normalize(vocabulary, text);
        let mut tokens = vec![BEGIN];
        tokens.extend(self.cut(vocabulary, &text));
        // A run of unknown characters is one token, as in the model's own tokenizer.
        tokens.dedup_by(|one, other| *one == UNKNOWN && *other == UNKNOWN);
        tokens.truncate(most.saturating_sub(1));
        tokens.push(END);
        tokens
    }

    fn cut(&self, vocabulary: &Vocabulary<'_>, text: &[u8]) -> Vec<u32> {
        // For each place in the text the best way to get there: its score, where its last piece begins, and
        // that piece.
        let mut best = vec![(f64::NEG_INFINITY, 0_usize, UNKNOWN); text.len() + 1];
        best[0].0 = 0.0;
        let mut at = 0;
        while at < text.len() {
            let base = best[at].0;
            let next = at + character(text[at]).min(text.len() - at);
            let mut whole = false;
            let mut offer = |to: usize, score: f64, piece: u32| {
                if score > best[to].0 {
                    best[to] = (score, at, piece);
                }
            };
            for (to, piece) in Pieces::new(vocabulary, text, at) {
                let score = vocabulary.scores.get(piece as usize).copied().unwrap_or(f32::MIN);
                offer(to, base + f64::from(score), piece);
                whole |= to == next;
            }
            if !whole {
                offer(next, base + self.unknown, UNKNOWN);
            }
            at = next;
        }
        let mut tokens = Vec::new();
        let mut at = text.len();
        while at > 0 {
            let (_, from, piece) = best[at];
            tokens.push(piece);
            // Damaged scores must not keep this from ending.
            at = from.min(at - 1);
        }
        tokens.reverse();
        tokens
    }
}

/// All pieces that the text has at a place, shortest first: where each ends, and its number.
struct Pieces<'v> {
    vocabulary: &'v Vocabulary<'v>,
    text: &'v [u8],
    at: usize,
    node: usize,
}

impl<'v> Pieces<'v> {
    fn new(vocabulary: &'v Vocabulary<'_>, text: &'v [u8], at: usize) -> Self {
        Self { vocabulary, text, at, node: 0 }
    }
}

impl Iterator for Pieces<'_> {
    type Item = (usize, u32);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let byte = self.text.get(self.at)?;
            let from = *self.vocabulary.first.get(self.node)? as usize;
            let to = *self.vocabulary.first.get(self.node + 1)? as usize;
            let children = self.vocabulary.label.get(from..to)?;
            self.node = from + children.binary_search(byte).ok()?;
            self.at += 1;
            match *self.vocabulary.piece.get(self.node)? {
                UNKNOWN => {}
                piece => return Some((self.at, piece)),
            }
        }
    }
}

/// Bytes of the character that begins with this one.
const fn character(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}
