//! From a picture of any size to the small one: centre square, resize, lossless WebP.

use image::{
    DynamicImage, ExtendedColorType, GenericImageView, ImageBuffer, Pixel, Primitive, RgbaImage,
    codecs::webp::WebPEncoder,
    imageops::{self, FilterType},
    metadata::Orientation,
};

use crate::PictureError;

/// Width and height of the result.
pub const SIDE: u32 = 256;
/// The largest result; noise loses its lowest bits until it fits.
pub const OUTPUT_BYTES_MAX: usize = 200 * 1024;
/// Lower bits that may be dropped; with so few left nothing is too large.
const DROPPED_BITS_MAX: u32 = 6;

/// The centre square of `picture`, resized. No copy of the whole is made.
pub(crate) fn square<V>(picture: &V) -> ImageBuffer<V::Pixel, Vec<<V::Pixel as Pixel>::Subpixel>>
where
    V: GenericImageView,
    V::Pixel: 'static,
    <V::Pixel as Pixel>::Subpixel: Primitive + 'static,
{
    let (width, height) = picture.dimensions();
    let side = width.min(height);
    let centre = imageops::crop_imm(picture, (width - side) / 2, (height - side) / 2, side, side);
    imageops::resize(&*centre, SIDE, SIDE, FilterType::Triangle)
}

/// A square that was decoded, upright and as bytes of a file.
pub(crate) fn finish(square: DynamicImage, orientation: Orientation) -> Result<Vec<u8>, PictureError> {
    let mut upright = square;
    // A square stays the same square when it is turned, so that turning after the resize is enough.
    upright.apply_orientation(orientation);
    let mut pixels: RgbaImage = upright.into_rgba8();
    for dropped in 0..=DROPPED_BITS_MAX {
        if dropped > 0 {
            let mask = u8::MAX << dropped;
            for pixel in pixels.pixels_mut() {
                for channel in &mut pixel.0 {
                    *channel &= mask;
                }
            }
        }
        let mut out = Vec::new();
        WebPEncoder::new_lossless(&mut out)
            .encode(&pixels, SIDE, SIDE, ExtendedColorType::Rgba8)
            .map_err(|_| PictureError::Unreadable { format: "resized" })?;
        if out.len() <= OUTPUT_BYTES_MAX || dropped == DROPPED_BITS_MAX {
            return Ok(out);
        }
    }
    Err(PictureError::Unreadable { format: "resized" })
}
