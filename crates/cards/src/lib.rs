//! Share cards: a typed description becomes a PNG of 1200 × 630 pixels, with one embedded font.
//!
//! Nobody passes markup in: the SVG is written here and every text in it is cleaned, cut and escaped. Nothing
//! is fetched, no file is read, and nothing is kept but the font, which is read with the first card.

mod agent;
mod duel;
mod frame;
mod press;
mod site;
mod words;

pub use frame::{HEIGHT, WIDTH};
pub use press::{DrawError, Press};
