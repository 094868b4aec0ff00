//! Cursors: what they say inside, sealed so that callers see nothing and change nothing.

use kernel::id::hex;

use crate::{Duels, fault::DuelFault};

/// Raised when the inside changes, so that older cursors are refused rather than misread.
const VERSION: &str = "v1";

fn context(tool: &str, person: &str) -> String {
    format!("{tool}|{person}|{VERSION}")
}

/// How far messages of one duel were delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delivered {
    pub(crate) slug: String,
    pub(crate) seq: i64,
}

const SLUG_BYTES: usize = 12;
const DELIVERED_BYTES: usize = SLUG_BYTES + 8;

fn slug_bytes(slug: &str) -> Option<[u8; SLUG_BYTES]> {
    let mut bytes = [0; SLUG_BYTES];
    for (byte, at) in bytes.iter_mut().zip((0..slug.len()).step_by(2)) {
        *byte = u8::from_str_radix(slug.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

impl Duels {
    /// Seals the positions up to which an answer delivers.
    pub(crate) fn seal_deliveries(&self, tool: &str, person: &str, delivered: &[Delivered]) -> String {
        let mut plain = Vec::with_capacity(delivered.len() * DELIVERED_BYTES);
        for one in delivered {
            if let Some(slug) = slug_bytes(&one.slug) {
                plain.extend_from_slice(&slug);
                plain.extend_from_slice(&one.seq.to_be_bytes());
            }
        }
        self.sealer.seal(&*self.ids, &context(tool, person), &plain)
    }

    pub(crate) fn open_deliveries(
        &self,
        tool: &str,
        person: &str,
        cursor: &str,
    ) -> Result<Vec<Delivered>, DuelFault> {
        let plain = self.sealer.open(&context(tool, person), cursor).ok_or(DuelFault::InvalidCursor)?;
        let (chunks, rest) = plain.as_chunks::<DELIVERED_BYTES>();
        if !rest.is_empty() {
            return Err(DuelFault::InvalidCursor);
        }
        Ok(chunks
            .iter()
            .map(|chunk| {
                let (slug, seq) = chunk.split_at(SLUG_BYTES);
                let seq = seq.try_into().map_or(0, i64::from_be_bytes);
                Delivered { slug: hex(slug), seq }
            })
            .collect())
    }

    /// Seals the number of a page's last row.
    pub(crate) fn seal_position(&self, tool: &str, person: &str, position: i64) -> String {
        self.sealer.seal(&*self.ids, &context(tool, person), &position.to_be_bytes())
    }

    /// The position after which a page starts; the newest rows when there is no cursor.
    pub(crate) fn open_position(
        &self,
        tool: &str,
        person: &str,
        cursor: Option<&str>,
    ) -> Result<i64, DuelFault> {
        let Some(cursor) = cursor else { return Ok(i64::MAX) };
        let plain = self.sealer.open(&context(tool, person), cursor).ok_or(DuelFault::InvalidCursor)?;
        plain.as_slice().try_into().map(i64::from_be_bytes).map_err(|_| DuelFault::InvalidCursor)
    }
}
