//! Sealed demands: a commitment that is public at once, and opened by the settlement.

use kernel::id::hex;
use sha2::{Digest, Sha256};

/// The text whose SHA-256 is the commitment. `salt` is 64 hex characters.
pub fn preimage(slug: &str, nickname: &str, count: i64, salt: &str) -> String {
    format!("arena-demand-v1\n{slug}\n{nickname}\n{count}\n{salt}")
}

/// The commitment in hex.
pub fn commitment(slug: &str, nickname: &str, count: i64, salt: &str) -> String {
    hex(&Sha256::digest(preimage(slug, nickname, count, salt).as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commitment_is_the_documented_hash() {
        // printf 'arena-demand-v1\n0123456789abcdef01234567\nalpha\n18\n%064d' 0 | sha256sum
        assert_eq!(
            commitment("0123456789abcdef01234567", "alpha", 18, &"0".repeat(64)),
            "3eebf3e7af9ab68be84edd72a32902794015bde304b12c75c4d5a80154e805f6"
        );
    }

    #[test]
    fn every_part_is_bound() {
        let salt = "ab".repeat(32);
        let base = commitment("s", "alpha", 1, &salt);
        for other in [
            commitment("t", "alpha", 1, &salt),
            commitment("s", "beta", 1, &salt),
            commitment("s", "alpha", 2, &salt),
            commitment("s", "alpha", 1, &"ac".repeat(32)),
        ] {
            assert_ne!(base, other);
        }
    }
}
