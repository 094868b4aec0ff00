//! Authenticated encryption for cursors: opaque to the caller, bound to account and tool.
//!
//! XChaCha20-Poly1305 with a random 24-byte nonce; one byte in front names the key, so that keys can
//! be replaced. Every failure looks the same.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};

use crate::id::Ids;

const KEY_ID: u8 = 1;
const NONCE_BYTES: usize = 24;

/// A key that seals and opens.
pub struct Sealer {
    cipher: XChaCha20Poly1305,
}

impl Sealer {
    pub fn new(key: &[u8; 32]) -> Self {
        Self { cipher: XChaCha20Poly1305::new(key.into()) }
    }

    /// Seals `plain` for `context`: only the same context opens it.
    pub fn seal(&self, ids: &dyn Ids, context: &str, plain: &[u8]) -> String {
        let mut nonce = [0; NONCE_BYTES];
        ids.fill(&mut nonce);
        let payload = Payload { msg: plain, aad: context.as_bytes() };
        #[expect(clippy::expect_used, reason = "encryption fails only for texts of many gigabytes")]
        let sealed = self
            .cipher
            .encrypt(&XNonce::from(nonce), payload)
            .expect("a cursor is far below the cipher's limit");
        let mut out = Vec::with_capacity(1 + NONCE_BYTES + sealed.len());
        out.push(KEY_ID);
        out.extend_from_slice(&nonce);
        out.extend_from_slice(&sealed);
        URL_SAFE_NO_PAD.encode(out)
    }

    /// The sealed bytes, or `None` for anything that this key and context did not seal.
    pub fn open(&self, context: &str, text: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (&key_id, rest) = bytes.split_first()?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_BYTES)?;
        if key_id != KEY_ID {
            return None;
        }
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
        let payload = Payload { msg: sealed, aad: context.as_bytes() };
        self.cipher.decrypt(&XNonce::from(nonce), payload).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::SeededIds;

    proptest! {
        #[test]
        fn only_the_same_context_opens(plain in prop::collection::vec(any::<u8>(), 0..100), flip in any::<(usize, u8)>()) {
            let (sealer, ids) = (Sealer::new(&[7; 32]), SeededIds::new(1));
            let text = sealer.seal(&ids, "tool|a", &plain);
            prop_assert_eq!(sealer.open("tool|a", &text), Some(plain.clone()));
            prop_assert_eq!(sealer.open("tool|b", &text), None);
            prop_assert_eq!(Sealer::new(&[8; 32]).open("tool|a", &text), None);
            let mut forged = URL_SAFE_NO_PAD.decode(&text).unwrap();
            let at = flip.0 % forged.len();
            forged[at] ^= flip.1 | 1;
            prop_assert_eq!(sealer.open("tool|a", &URL_SAFE_NO_PAD.encode(forged)), None);
            prop_assert_eq!(sealer.open("tool|a", &plain.iter().map(|b| char::from(*b)).collect::<String>()), None);
        }
    }
}
