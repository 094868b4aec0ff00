//! PNG, JPEG and WebP.

use std::io::Cursor;

use image::{
    DynamicImage, ImageDecoder, Limits, Primitive, RgbaImage,
    codecs::{jpeg::JpegDecoder, png::PngDecoder, webp::WebPDecoder},
    metadata::Orientation,
};

use crate::{
    PictureError, check_size, chunks,
    kind::Kind,
    shrink::{self, Light, Rows},
    small,
};

/// The longest side; the number of pixels has its own limit.
const SIDE_MAX: u32 = 16_384;
/// What a decoder may take: the largest picture at 64 bits a pixel.
const ALLOC_BYTES_MAX: u64 = 128 << 20;

pub(crate) fn small(kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, PictureError> {
    let broken = |_| PictureError::Unreadable { format: kind.name() };
    match kind {
        Kind::Png => {
            let bytes = Cursor::new(chunks::without_profiles(bytes));
            let decoder = PngDecoder::with_limits(bytes, limits()).map_err(broken)?;
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
    let size = (picture.width(), picture.height());
    let square = match &picture {
        DynamicImage::ImageLuma8(pixels) => Grid::<u8, 1>::square(size, pixels),
        DynamicImage::ImageLumaA8(pixels) => Grid::<u8, 2>::square(size, pixels),
        DynamicImage::ImageRgb8(pixels) => Grid::<u8, 3>::square(size, pixels),
        DynamicImage::ImageRgba8(pixels) => Grid::<u8, 4>::square(size, pixels),
        DynamicImage::ImageLuma16(pixels) => Grid::<u16, 1>::square(size, pixels),
        DynamicImage::ImageLumaA16(pixels) => Grid::<u16, 2>::square(size, pixels),
        DynamicImage::ImageRgb16(pixels) => Grid::<u16, 3>::square(size, pixels),
        DynamicImage::ImageRgba16(pixels) => Grid::<u16, 4>::square(size, pixels),
        other => Grid::<u8, 4>::square(size, &other.to_rgba8()),
    };
    drop(picture);
    small::finish(square, &[orientation])
}

/// Decoded samples, of one to four channels a pixel.
struct Grid<'a, S, const CHANNELS: usize> {
    size: (u32, u32),
    samples: &'a [S],
}

impl<'a, S: Primitive + Into<f32>, const CHANNELS: usize> Grid<'a, S, CHANNELS> {
    fn square(size: (u32, u32), samples: &'a [S]) -> RgbaImage {
        shrink::square(&mut Self { size, samples })
    }
}

impl<S: Primitive + Into<f32>, const CHANNELS: usize> Rows for Grid<'_, S, CHANNELS> {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn row(&mut self, y: u32, left: u32, into: &mut [Light]) {
        let first = (y as usize * self.size.0 as usize + left as usize) * CHANNELS;
        let (pixels, _) = self.samples[first..].as_chunks::<CHANNELS>();
        let top: f32 = S::DEFAULT_MAX_VALUE.into();
        for (into, pixel) in into.iter_mut().zip(pixels) {
            let [red, green, blue, alpha] = match pixel.as_slice() {
                [grey] => [*grey, *grey, *grey, S::DEFAULT_MAX_VALUE],
                [grey, alpha] => [*grey, *grey, *grey, *alpha],
                [red, green, blue] => [*red, *green, *blue, S::DEFAULT_MAX_VALUE],
                [red, green, blue, alpha, ..] => [*red, *green, *blue, *alpha],
                [] => continue,
            }
            .map(|sample| sample.into() / top);
            *into = [red * alpha, green * alpha, blue * alpha, alpha];
        }
    }
}
