//! Cards as decoded pixels: what stands where, at the extremes and with hostile text.

mod extremes;
mod looks;
mod sample;
