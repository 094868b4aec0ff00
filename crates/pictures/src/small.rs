//! From the small square to a file: turned upright, lossless WebP, never too large.

use image::{DynamicImage, ExtendedColorType, RgbaImage, codecs::webp::WebPEncoder, metadata::Orientation};

use crate::PictureError;

/// Width and height of the result.
pub const SIDE: u32 = 256;
/// The largest result; noise loses shades of its colours until it fits.
pub const OUTPUT_BYTES_MAX: usize = 200 * 1024;
/// Lower bits that colours may lose; with two left, and alpha whole, nothing is too large.
const DROPPED_BITS_MAX: u32 = 6;

/// A square as bytes of a file. It stays the same square when it is turned, so that turning after the resize is
/// enough.
pub(crate) fn finish(square: RgbaImage, turns: &[Orientation]) -> Result<Vec<u8>, PictureError> {
    let mut upright = DynamicImage::from(square);
    for turn in turns {
        upright.apply_orientation(*turn);
    }
    let whole = upright.into_rgba8();
    let mut out = encoded(&whole)?;
    for dropped in 1..=DROPPED_BITS_MAX {
        if out.len() <= OUTPUT_BYTES_MAX {
            break;
        }
        out = encoded(&with_fewer_shades(&whole, dropped))?;
    }
    Ok(out)
}

fn encoded(pixels: &RgbaImage) -> Result<Vec<u8>, PictureError> {
    let mut out = Vec::new();
    WebPEncoder::new_lossless(&mut out)
        .encode(pixels, SIDE, SIDE, ExtendedColorType::Rgba8)
        .map_err(|_| PictureError::Unreadable { format: "resized" })?;
    Ok(out)
}

/// The colours without their lower bits, black and white kept; what is opaque stays so.
fn with_fewer_shades(whole: &RgbaImage, dropped: u32) -> RgbaImage {
    let top = u16::from(u8::MAX >> dropped);
    let mut pixels = whole.clone();
    for pixel in pixels.pixels_mut() {
        for channel in &mut pixel.0[..3] {
            let shade = u16::from(*channel >> dropped);
            *channel = u8::try_from(shade * 255 / top).unwrap_or(u8::MAX);
        }
    }
    pixels
}
