//! An encoder for tests that need some order by likeness and not the real model: hashed trigrams of
//! characters. It finds shared words and no meaning, so production code never uses it.

use std::future;

use semantic::{Embedder, Vector, embedder::Embedding};

const DIMS: usize = 256;

/// Deterministic and immediate.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrigramEmbedder;

impl TrigramEmbedder {
    /// The vector of a text, at once.
    pub fn vector(text: &str) -> Vector {
        let mut counts = [0.0_f32; DIMS];
        for word in text.to_lowercase().split_whitespace() {
            let letters: Vec<char> = [' '].into_iter().chain(word.chars()).chain([' ']).collect();
            for trigram in letters.windows(3) {
                counts[place(trigram)] += 1.0;
            }
        }
        Vector::quantise(&counts)
    }
}

impl Embedder for TrigramEmbedder {
    fn model_id(&self) -> &'static str {
        "testkit/trigrams/1"
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn embed<'a>(&'a self, text: &'a str) -> Embedding<'a> {
        Box::pin(future::ready(Ok(Self::vector(text))))
    }
}

/// FNV-1a over the characters.
fn place(trigram: &[char]) -> usize {
    let hash = trigram
        .iter()
        .flat_map(|letter| u32::from(*letter).to_le_bytes())
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash as usize % DIMS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_are_near_and_nothing_is_zero() {
        let [split, same, other] =
            ["split the pot", "Split THE pot", "demand everything"].map(TrigramEmbedder::vector);
        assert_eq!(split, same);
        assert!(split.dot(&TrigramEmbedder::vector("i split a pot")) > split.dot(&other));
        let nothing = TrigramEmbedder::vector(" ");
        assert_eq!((nothing.dims(), nothing.dot(&nothing)), (DIMS, 0));
    }
}
