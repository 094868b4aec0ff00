//! The two original files, by name, size and sum. Their sums also name the model.

use sha2::{Digest, Sha256};

/// Components of a vector of this model.
pub const DIMS: usize = 512;

/// Model, both files, quantisation, version of the arithmetic. The twelve digits are the start of the
/// SHA-256 over the sums of the weights and of the vocabulary.
pub const MODEL_ID: &str = "usem3/6dffe716cf17/i8/1";

/// A file as it was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    pub name: &'static str,
    pub bytes: u64,
    pub sha256: &'static str,
}

pub const WEIGHTS: Origin = Origin {
    name: "weights.npz",
    bytes: 30_377_056,
    sha256: "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
};
pub const SENTENCEPIECE: Origin = Origin {
    name: "sp.model",
    bytes: 2_527_207,
    sha256: "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
};
pub const ORIGINS: [Origin; 2] = [WEIGHTS, SENTENCEPIECE];

impl Origin {
    /// Whether these bytes are the published ones, else what they are.
    pub(super) fn check(self, bytes: &[u8]) -> Result<(), String> {
        let found = hex(&Sha256::digest(bytes));
        if found == self.sha256 {
            return Ok(());
        }
        let (expected, size, length) = (self.sha256, self.bytes, bytes.len());
        Err(format!(
            "expected {size} bytes with SHA-256 {expected}, found {length} bytes with SHA-256 {found}"
        ))
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('?'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_names_both_files() {
        let mut sums = Sha256::new();
        for origin in ORIGINS {
            let bytes: Vec<u8> = (0..origin.sha256.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&origin.sha256[at..at + 2], 16).unwrap())
                .collect();
            sums.update(bytes);
        }
        assert_eq!(MODEL_ID, format!("usem3/{}/i8/1", &hex(&sums.finalize())[..12]));
    }

    #[test]
    fn other_bytes_are_told_apart_in_words() {
        let words = WEIGHTS.check(b"abc").unwrap_err();
        assert!(words.contains("30377056 bytes") && words.contains("found 3 bytes"), "{words}");
        assert!(words.contains("ba7816bf8f01cfea"), "{words}");
    }
}
