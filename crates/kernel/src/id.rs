//! Identifiers and where they come from.
//!
//! Public ids are 24 lower-case hex characters (96 random bits); rows that are only ever appended
//! (transfers, jobs) use `UUIDv7`, whose order follows time and so keeps index inserts local.

use std::{fmt::Write, sync::Mutex};

use sha2::{Digest, Sha256};

use crate::Moment;

/// A source of random bytes. The wiring passes the system's; tests pass a seeded one.
pub trait Ids: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);

    /// 96 random bits as 24 hex characters.
    fn slug(&self) -> String {
        let mut bytes = [0; 12];
        self.fill(&mut bytes);
        hex(&bytes)
    }

    /// A seed for [`DerivedIds`].
    fn seed(&self) -> [u8; 16] {
        let mut seed = [0; 16];
        self.fill(&mut seed);
        seed
    }

    /// A `UUIDv7` whose leading 48 bits are `at`.
    fn uuid7(&self, at: Moment) -> String {
        let mut random = [0; 10];
        self.fill(&mut random);
        let millis = u64::try_from(at.as_millis()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
    }
}

/// The operating system's randomness.
#[derive(Debug, Default, Clone, Copy)]
pub struct OsIds;

impl Ids for OsIds {
    fn fill(&self, bytes: &mut [u8]) {
        #[expect(
            clippy::disallowed_methods,
            clippy::expect_used,
            reason = "the one place that asks the system"
        )]
        getrandom::fill(bytes).expect("the operating system has randomness");
    }
}

/// Ids that a command derives from one seed drawn before it was submitted, so that running it again
/// gives the same ids (SHA-256 over seed and counter).
#[derive(Debug)]
pub struct DerivedIds {
    seed: [u8; 16],
    next: Mutex<u64>,
}

impl DerivedIds {
    pub const fn new(seed: [u8; 16]) -> Self {
        Self { seed, next: Mutex::new(0) }
    }
}

impl Ids for DerivedIds {
    fn fill(&self, bytes: &mut [u8]) {
        let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for chunk in bytes.chunks_mut(32) {
            let block = Sha256::new().chain_update(self.seed).chain_update(next.to_le_bytes()).finalize();
            *next += 1;
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
    }
}

/// A repeatable source for tests and benches (`SplitMix64`); never for secrets.
#[derive(Debug)]
pub struct SeededIds(Mutex<u64>);

impl SeededIds {
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
}

impl Ids for SeededIds {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            chunk.copy_from_slice(&z.to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Whether `text` has the shape of a public id.
pub fn is_slug(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_24_hex_characters_and_differ() {
        let ids = SeededIds::new(7);
        let (one, two) = (ids.slug(), ids.slug());
        assert!(is_slug(&one) && is_slug(&two));
        assert_ne!(one, two);
        assert!(is_slug(&OsIds.slug()));
        assert!(!is_slug("0123456789ABCDEF01234567") && !is_slug("0123"));
    }

    #[test]
    fn derived_ids_repeat_for_one_seed() {
        let draw = |seed: u8| {
            let ids = DerivedIds::new([seed; 16]);
            [ids.slug(), ids.slug(), ids.uuid7(Moment::from_millis(9))]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert_ne!(draw(1)[0], draw(1)[1]);
    }

    #[test]
    fn uuids_order_by_time() {
        let ids = SeededIds::new(7);
        let early = ids.uuid7(Moment::from_millis(1_000));
        let late = ids.uuid7(Moment::from_millis(2_000));
        assert!(early < late, "{early} {late}");
        assert_eq!(early.as_bytes()[14], b'7');
    }
}
