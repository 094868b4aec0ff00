//! AVIF: one still picture of one item, with or without transparency. Grids, sequences and rotations are
//! refused in words.

use std::io::Cursor;

use image::{DynamicImage, GenericImageView, Rgba, metadata::Orientation};

use crate::{
    PIXELS_MAX, PictureError, check_size,
    dav1d::{self, Frame, Layout},
    small,
};

const UNREADABLE: PictureError = PictureError::Unreadable { format: "AVIF" };

pub(crate) fn small(bytes: &[u8]) -> Result<Vec<u8>, PictureError> {
    if is_turned(bytes) {
        return Err(PictureError::Rotated);
    }
    let parsed = avif_parse::read_avif(&mut Cursor::new(bytes)).map_err(|_| UNREADABLE)?;
    let metadata = parsed.primary_item_metadata().map_err(|_| UNREADABLE)?;
    check_size(metadata.max_frame_width.get().into(), metadata.max_frame_height.get().into())?;
    if parsed.alpha_item.is_some() {
        let metadata = parsed.alpha_item_metadata().map_err(|_| UNREADABLE)?.ok_or(UNREADABLE)?;
        check_size(metadata.max_frame_width.get().into(), metadata.max_frame_height.get().into())?;
    }
    let decoded = |stream: &[u8]| {
        let pixels_max = u32::try_from(PIXELS_MAX).map_err(|_| UNREADABLE)?;
        dav1d::decode(stream, pixels_max).map_err(|_| UNREADABLE)
    };
    let colour = decoded(&parsed.primary_item)?;
    let alpha = parsed.alpha_item.as_ref().map(|item| decoded(item)).transpose()?;
    if alpha.as_ref().is_some_and(|alpha| (alpha.width, alpha.height) != (colour.width, colour.height)) {
        return Err(UNREADABLE);
    }
    let square = small::square(&Shown { weights: Weights::of(&colour), colour, alpha });
    small::finish(DynamicImage::from(square), Orientation::NoTransforms)
}

/// Whether the file asks to be turned or mirrored: a property box before the data, not of zero degrees.
fn is_turned(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some((head, _)) = rest.split_at_checked(8) {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let Some(whole) = rest.get(..length).filter(|_| length >= 8) else { return false };
        if &head[4..8] == b"meta" {
            let turned = |at: usize| whole.get(at + 4).is_some_and(|angle| angle & 3 != 0);
            return whole.windows(4).enumerate().any(|(at, name)| match name {
                b"irot" => turned(at),
                b"imir" => true,
                _ => false,
            });
        }
        rest = &rest[length..];
    }
    false
}

/// How red, green and blue come from light and colour, for one frame.
struct Weights {
    kr: f32,
    kb: f32,
    /// Red, green and blue are the planes themselves.
    is_rgb: bool,
    low: f32,
    light_span: f32,
    colour_span: f32,
    top: f32,
}

impl Weights {
    fn of(frame: &Frame) -> Self {
        // Coefficients of ITU-T H.273: BT.709, BT.2020, and BT.601 for the rest.
        let (kr, kb) = match frame.matrix {
            1 => (0.2126, 0.0722),
            9 | 10 => (0.2627, 0.0593),
            _ => (0.299, 0.114),
        };
        let (low, light_span, colour_span) =
            if frame.is_full_range { (0.0, 1.0, 1.0) } else { (16.0 / 255.0, 219.0 / 255.0, 224.0 / 255.0) };
        let top = f32::from(u16::MAX >> (16 - frame.bits));
        Self {
            kr,
            kb,
            is_rgb: frame.matrix == 0 && frame.layout == Layout::Yuv444,
            low,
            light_span,
            colour_span,
            top,
        }
    }
}

/// A frame as pixels, computed when they are asked for.
struct Shown {
    colour: Frame,
    alpha: Option<Frame>,
    weights: Weights,
}

impl Shown {
    /// A sample of a colour plane at a pixel; between the samples of a halved plane their mean.
    fn colour_at(&self, plane: usize, x: u32, y: u32) -> f32 {
        let frame = &self.colour;
        let sample = |x: u32, y: u32| f32::from(frame.sample(plane, x, y));
        let beside = |at: u32| if at.is_multiple_of(2) { (at / 2).saturating_sub(1) } else { at / 2 + 1 };
        let across = |y: u32| (3.0 * sample(x / 2, y) + sample(beside(x), y)) / 4.0;
        match frame.layout {
            Layout::Yuv444 => sample(x, y),
            Layout::Yuv422 => across(y),
            Layout::Yuv420 => (3.0 * across(y / 2) + across(beside(y))) / 4.0,
            Layout::Grey => 0.0,
        }
    }

    fn alpha_at(&self, x: u32, y: u32) -> u8 {
        let Some(alpha) = &self.alpha else { return u8::MAX };
        byte(f32::from(alpha.sample(0, x, y)) / f32::from(u16::MAX >> (16 - alpha.bits)))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn byte(share: f32) -> u8 {
    (share * 255.0 + 0.5).clamp(0.0, 255.0) as u8
}

impl GenericImageView for Shown {
    type Pixel = Rgba<u8>;

    fn dimensions(&self) -> (u32, u32) {
        (self.colour.width, self.colour.height)
    }

    fn get_pixel(&self, x: u32, y: u32) -> Rgba<u8> {
        let weights = &self.weights;
        let light = (f32::from(self.colour.sample(0, x, y)) / weights.top - weights.low) / weights.light_span;
        if self.colour.layout == Layout::Grey {
            let grey = byte(light);
            return Rgba([grey, grey, grey, self.alpha_at(x, y)]);
        }
        let [blueness, redness] = [1, 2].map(|plane| self.colour_at(plane, x, y) / weights.top);
        if weights.is_rgb {
            return Rgba([byte(redness), byte(light), byte(blueness), self.alpha_at(x, y)]);
        }
        // The middle of a plane of colour is a half of 2^bits, a little more than half of the top.
        let middle = f32::midpoint(weights.top, 1.0) / weights.top;
        let [blueness, redness] = [blueness, redness].map(|colour| (colour - middle) / weights.colour_span);
        let red = light + 2.0 * (1.0 - weights.kr) * redness;
        let blue = light + 2.0 * (1.0 - weights.kb) * blueness;
        let green = (light - weights.kr * red - weights.kb * blue) / (1.0 - weights.kr - weights.kb);
        Rgba([byte(red), byte(green), byte(blue), self.alpha_at(x, y)])
    }
}
