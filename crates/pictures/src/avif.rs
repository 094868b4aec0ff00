//! AVIF: one still picture of one item, with or without transparency, turned and mirrored as it asks. Grids,
//! sequences and crops are refused in words.

use std::io::Cursor;

use crate::{
    PIXELS_MAX, PictureError, check_size, claims,
    dav1d::{self, Frame, Layout, Row},
    mixing::{Mixing, top},
    properties::Properties,
    shrink::{self, Light, Rows},
    small,
};

const UNREADABLE: PictureError = PictureError::Unreadable { format: "AVIF" };

pub(crate) fn small(bytes: &[u8]) -> Result<Vec<u8>, PictureError> {
    let properties = Properties::of(bytes).ok_or(UNREADABLE)?;
    if properties.is_composed {
        return Err(PictureError::Composed);
    }
    if properties.is_cropped {
        return Err(PictureError::Cropped);
    }
    if !claims::are_modest(bytes) {
        return Err(UNREADABLE);
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
    let mixing = Mixing::of(&colour, properties.colours);
    let is_premultiplied = parsed.premultiplied_alpha;
    let mut shown = Shown { mixing, colour, alpha, is_premultiplied, lines: Lines::default() };
    let square = shrink::square(&mut shown);
    drop(shown);
    small::finish(square, &properties.turns)
}

/// A frame as rows of pixels, computed when they are asked for.
struct Shown {
    colour: Frame,
    alpha: Option<Frame>,
    /// The colours are already those that are seen through alpha.
    is_premultiplied: bool,
    mixing: Mixing,
    lines: Lines,
}

/// Rows of planes from 0 to 1, kept to use their memory again.
#[derive(Default)]
struct Lines {
    light: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
    alpha: Vec<f32>,
    /// The two rows of a halved plane that are nearest to a row of pixels.
    near: Vec<f32>,
    far: Vec<f32>,
}

impl Lines {
    /// Reads a row of the two planes of colour, as wide as the picture.
    fn read_colour(&mut self, frame: &Frame, y: u32) {
        for (plane, into) in [(1, &mut self.first), (2, &mut self.second)] {
            match frame.layout {
                Layout::Grey => {}
                Layout::Yuv444 => read(frame, plane, y, into),
                Layout::Yuv422 => {
                    read(frame, plane, y, &mut self.near);
                    double(&self.near, frame.width, into);
                }
                Layout::Yuv420 => {
                    read(frame, plane, y / 2, &mut self.near);
                    read(frame, plane, beside(y), &mut self.far);
                    for (near, far) in self.near.iter_mut().zip(&self.far) {
                        *near = 0.75 * *near + 0.25 * far;
                    }
                    double(&self.near, frame.width, into);
                }
            }
        }
    }
}

fn read(frame: &Frame, plane: usize, y: u32, into: &mut Vec<f32>) {
    let top = top(frame);
    into.clear();
    match frame.row(plane, y) {
        Row::Bytes(samples) => into.extend(samples.iter().map(|sample| f32::from(*sample) / top)),
        Row::Pairs(samples) => into.extend(samples.iter().map(|sample| f32::from(*sample) / top)),
    }
}

/// The neighbour, in a halved direction, on whose side the place `at` lies.
fn beside(at: u32) -> u32 {
    if at.is_multiple_of(2) { (at / 2).saturating_sub(1) } else { at / 2 + 1 }
}

/// Doubles a halved row: three quarters of the nearest sample, one of the next.
fn double(half: &[f32], width: u32, into: &mut Vec<f32>) {
    let sample = |at: u32| half.get(at as usize).or(half.last()).copied().unwrap_or_default();
    into.clear();
    into.extend((0..width).map(|x| 0.75 * sample(x / 2) + 0.25 * sample(beside(x))));
}

impl Rows for Shown {
    fn size(&self) -> (u32, u32) {
        (self.colour.width, self.colour.height)
    }

    fn row(&mut self, y: u32, left: u32, into: &mut [Light]) {
        let (lines, mixing) = (&mut self.lines, &self.mixing);
        read(&self.colour, 0, y, &mut lines.light);
        lines.read_colour(&self.colour, y);
        let left = left as usize;
        if self.colour.layout == Layout::Grey {
            for (into, light) in into.iter_mut().zip(&lines.light[left..]) {
                let grey = mixing.grey(*light);
                *into = [grey, grey, grey, 1.0];
            }
        } else {
            let planes = lines.light[left..].iter().zip(&lines.first[left..]).zip(&lines.second[left..]);
            for (into, ((light, first), second)) in into.iter_mut().zip(planes) {
                let [red, green, blue] = mixing.colours([*light, *first, *second]);
                *into = [red, green, blue, 1.0];
            }
        }
        let Some(alpha) = &self.alpha else { return };
        read(alpha, 0, y, &mut lines.alpha);
        for (into, alpha) in into.iter_mut().zip(&lines.alpha[left..]) {
            let [red, green, blue, _] = *into;
            let seen = |colour: f32| if self.is_premultiplied { colour.min(*alpha) } else { colour * alpha };
            *into = [seen(red), seen(green), seen(blue), *alpha];
        }
    }
}
