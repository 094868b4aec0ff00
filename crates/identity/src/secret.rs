//! Random secrets: how they are written, and the only form in which they are kept.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::id::Ids;
use sha2::{Digest, Sha256};

/// Base64url characters of 32 random bytes.
pub const SECRET_CHARS: usize = 43;

/// A new secret after `prefix`.
pub fn draw(ids: &dyn Ids, prefix: &str) -> String {
    let mut bytes = [0; 32];
    ids.fill(&mut bytes);
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The stored form of a secret: 256 random bits need no slow hash.
pub fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// Whether `text` has the shape of a drawn secret after `prefix`.
pub fn is_shaped(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|secret| {
        secret.len() == SECRET_CHARS
            && secret.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    })
}

/// The S256 challenge of a verifier (RFC 7636).
pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use kernel::id::SeededIds;

    use super::*;

    #[test]
    fn secrets_have_one_shape() {
        let drawn = draw(&SeededIds::new(1), "arena_at_");
        assert!(is_shaped(&drawn, "arena_at_") && !is_shaped(&drawn, "arena_rt_"));
        for other in [
            "",
            "arena_at_",
            "arena_at_short",
            &format!("{drawn}x"),
            &drawn.replace("arena_at_", "arena_at_="),
        ] {
            assert!(!is_shaped(other, "arena_at_"), "{other}");
        }
    }

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        assert_eq!(
            challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }
}
