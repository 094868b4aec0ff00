//! Cards as decoded pixels: what stands where, at the extremes and with hostile text.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what only tests call")]

mod extremes;
mod looks;
mod sample;
