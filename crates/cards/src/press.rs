//! From a card to pixels: the font, and the one way through the renderer.

use std::sync::{Arc, OnceLock};

use kernel::{card::Card, id::hex};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{self, ImageHrefResolver, Options, Tree, fontdb},
};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::{
    agent, duel,
    frame::{Brand, HEIGHT, WIDTH},
    site,
};

/// Noto Sans, cut down to Latin, Greek, Cyrillic and punctuation; `font/README.md` tells where it is from.
const FONT: &[u8] = include_bytes!("../font/NotoSans-subset.ttf");
const FAMILY: &str = "Noto Sans";

/// Why a card was not drawn. Every one of these is a mistake of this crate.
#[derive(Debug, Error)]
pub enum DrawError {
    #[error("the card is no SVG: {0}")]
    Svg(#[from] usvg::Error),
    #[error("a card of no size")]
    Size,
    #[error("the picture was not encoded: {0}")]
    Encode(String),
}

/// Draws the cards of one server.
pub struct Press {
    title: String,
    host: String,
    fonts: OnceLock<Arc<fontdb::Database>>,
}

impl Press {
    /// What every card says about the server: its title, and the host where it is.
    pub fn new(title: impl Into<String>, host: impl Into<String>) -> Self {
        Self { title: title.into(), host: host.into(), fonts: OnceLock::new() }
    }

    /// Names the picture of a card: the same for the same picture, another when it would look different.
    pub fn mark(&self, card: &Card) -> String {
        let mut digest = Sha256::new();
        digest.update(env!("CARGO_PKG_VERSION"));
        digest.update(self.svg(card));
        hex(&digest.finalize()[..12])
    }

    /// The card as a PNG of [`WIDTH`] × [`HEIGHT`] pixels. Takes tens of milliseconds.
    pub fn draw(&self, card: &Card) -> Result<Vec<u8>, DrawError> {
        render(&self.svg(card), Arc::clone(self.fonts.get_or_init(fonts)))
    }

    fn svg(&self, card: &Card) -> String {
        let brand = Brand { title: &self.title, host: &self.host };
        match card {
            Card::Site => site::svg(brand),
            Card::Duel(duel) => duel::svg(brand, duel),
            Card::Agent(agent) => agent::svg(brand, agent),
        }
    }
}

/// The embedded font and nothing else of the machine, so that cards are the same everywhere.
fn fonts() -> Arc<fontdb::Database> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(FONT)));
    Arc::new(fonts)
}

fn render(svg: &str, fontdb: Arc<fontdb::Database>) -> Result<Vec<u8>, DrawError> {
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb,
        // No card has an image; should one ever, it is not followed.
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options)?;
    let mut pixels = Pixmap::new(WIDTH, HEIGHT).ok_or(DrawError::Size)?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| DrawError::Encode(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_font_there_would_be_no_words() {
        let press = Press::new("Arena", "arena.example");
        let svg = press.svg(&Card::Site);
        let bare = render(&svg, Arc::new(fontdb::Database::new())).unwrap();
        let worded = press.draw(&Card::Site).unwrap();
        assert!(worded.len() > bare.len() + 5_000, "{} and {} bytes", worded.len(), bare.len());
    }

    #[test]
    fn the_font_is_the_one_whose_origin_is_told() {
        let told = include_str!("../font/README.md");
        assert!(told.contains(&hex(&Sha256::digest(FONT))), "font/README.md tells of another file");
    }

    #[test]
    fn an_image_is_not_followed() {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='1200' height='630'><image href='{}/src/lib.rs' width='9' height='9'/></svg>",
            env!("CARGO_MANIFEST_DIR")
        );
        let empty = "<svg xmlns='http://www.w3.org/2000/svg' width='1200' height='630'/>";
        assert_eq!(render(&svg, fonts()).unwrap(), render(empty, fonts()).unwrap());
    }
}
