//! How pages look: the style sheet, the shell, and the pieces that pages are made of.
//!
//! Everything is drawn on the server and needs no script. Nothing here reads state or knows a product;
//! user text is escaped by the markup macro and isolated by [`quote`].

pub mod board;
pub mod map;
pub mod pot_bar;
pub mod shell;
pub mod step_line;
pub mod words;

pub use maud::{Markup, PreEscaped, html};
pub use words::{ago, name, number, quote, signed};

/// The one style sheet.
pub const CSS: &str = include_str!("assets/arena.css");
/// The one script; nothing depends on it.
pub const SCRIPT: &str = include_str!("assets/arena.js");
/// The script of pages with buttons of passkeys; without it those are hidden.
pub const PASSKEYS_SCRIPT: &str = include_str!("assets/passkeys.js");
/// The icon of every page.
pub const ICON: &str = include_str!("assets/icon.svg");

/// The largest style sheet, in bytes.
pub const CSS_BYTES_MAX: usize = 20 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_sheet_is_small_and_asks_nobody() {
        assert!(CSS.len() <= CSS_BYTES_MAX, "{} bytes", CSS.len());
        for text in [CSS, SCRIPT, PASSKEYS_SCRIPT, ICON] {
            assert!(!text.contains("http://") || text.contains("www.w3.org/2000/svg"), "an outside address");
            assert!(!text.contains("@import") && !text.contains("https://"), "an outside address");
        }
    }
}
