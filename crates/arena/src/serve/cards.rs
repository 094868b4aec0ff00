//! The press of share cards, as the doors want it.

use cards::{HEIGHT, Press, WIDTH};
use doors::CardPress;
use kernel::{Fault, card::Card};
use url::Url;

/// Draws for a server of this title at this address.
pub(crate) struct Printer(Press);

impl Printer {
    pub(crate) fn new(title: &str, public_url: &Url) -> Self {
        let host = public_url.host_str().unwrap_or_default();
        Self(match public_url.port() {
            Some(port) => Press::new(title, format!("{host}:{port}")),
            None => Press::new(title, host),
        })
    }
}

impl CardPress for Printer {
    fn mark(&self, card: &Card) -> String {
        self.0.mark(card)
    }

    fn draw(&self, card: &Card) -> Result<Vec<u8>, Fault> {
        self.0.draw(card).map_err(Fault::internal)
    }

    fn size(&self) -> [u32; 2] {
        [WIDTH, HEIGHT]
    }
}
