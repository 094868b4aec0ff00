//! PNG, JPEG and WebP.

use std::io::Cursor;

use image::{
    DynamicImage, ImageDecoder, Limits,
    codecs::{jpeg::JpegDecoder, png::PngDecoder, webp::WebPDecoder},
    metadata::Orientation,
};

use crate::{PictureError, check_size, kind::Kind, small};

/// The longest side; the number of pixels has its own limit.
const SIDE_MAX: u32 = 16_384;
/// What a decoder may take: the largest picture at 64 bits a pixel.
const ALLOC_BYTES_MAX: u64 = 128 << 20;

pub(crate) fn small(kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, PictureError> {
    let broken = |_| PictureError::Unreadable { format: kind.name() };
    match kind {
        Kind::Png => {
            let decoder = PngDecoder::with_limits(Cursor::new(bytes), limits()).map_err(broken)?;
            if decoder.is_apng().map_err(broken)? {
                return Err(PictureError::Animated);
            }
            decoded(kind, decoder)
        }
        Kind::Jpeg => decoded(kind, JpegDecoder::new(Cursor::new(bytes)).map_err(broken)?),
        Kind::Webp => {
            let decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(broken)?;
            if decoder.has_animation() {
                return Err(PictureError::Animated);
            }
            decoded(kind, decoder)
        }
        Kind::Avif => Err(PictureError::Unreadable { format: kind.name() }),
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE_MAX);
    limits.max_image_height = Some(SIDE_MAX);
    limits.max_alloc = Some(ALLOC_BYTES_MAX);
    limits
}

fn decoded(kind: Kind, mut decoder: impl ImageDecoder) -> Result<Vec<u8>, PictureError> {
    let broken = |_| PictureError::Unreadable { format: kind.name() };
    let (width, height) = decoder.dimensions();
    check_size(width.into(), height.into())?;
    decoder.set_limits(limits()).map_err(broken)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let picture = DynamicImage::from_decoder(decoder).map_err(broken)?;
    let square = match &picture {
        DynamicImage::ImageLuma8(pixels) => small::square(pixels).into(),
        DynamicImage::ImageLumaA8(pixels) => small::square(pixels).into(),
        DynamicImage::ImageRgb8(pixels) => small::square(pixels).into(),
        DynamicImage::ImageRgba8(pixels) => small::square(pixels).into(),
        DynamicImage::ImageLuma16(pixels) => small::square(pixels).into(),
        DynamicImage::ImageLumaA16(pixels) => small::square(pixels).into(),
        DynamicImage::ImageRgb16(pixels) => small::square(pixels).into(),
        DynamicImage::ImageRgba16(pixels) => small::square(pixels).into(),
        other => small::square(other).into(),
    };
    drop(picture);
    small::finish(square, orientation)
}
