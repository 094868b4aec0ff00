//! How red, green and blue come from the planes of a frame, after the numbers of ITU-T H.273.
//!
//! Wide gamuts and high dynamic range are shown as if they were ordinary.

use crate::{
    dav1d::{Frame, Layout},
    properties::Colours,
};

#[derive(Clone, Copy)]
pub(crate) struct Mixing {
    matrix: Matrix,
    low: f32,
    light_span: f32,
    colour_span: f32,
    /// The middle of a plane of colour is a half of 2^bits, a little more than half of the top.
    middle: f32,
}

#[derive(Clone, Copy)]
enum Matrix {
    /// The planes are green, blue and red themselves.
    Rgb,
    /// How green and how orange, apart from light.
    GreenOrange,
    /// The shares of red and blue in light.
    Shares { kr: f32, kb: f32 },
}

impl Mixing {
    /// For a frame, by what its container says of it or else by what its coded data says.
    pub(crate) fn of(frame: &Frame, said: Option<Colours>) -> Self {
        let coded = Colours { matrix: frame.matrix, is_full_range: frame.is_full_range };
        let said = said.unwrap_or(coded);
        let matrix = match said.matrix {
            0 if frame.layout == Layout::Yuv444 => Matrix::Rgb,
            1 => Matrix::Shares { kr: 0.2126, kb: 0.0722 },
            4 => Matrix::Shares { kr: 0.30, kb: 0.11 },
            7 => Matrix::Shares { kr: 0.212, kb: 0.087 },
            8 => Matrix::GreenOrange,
            9 | 10 => Matrix::Shares { kr: 0.2627, kb: 0.0593 },
            // BT.601, also where nothing is said.
            _ => Matrix::Shares { kr: 0.299, kb: 0.114 },
        };
        let (low, light_span, colour_span) =
            if said.is_full_range { (0.0, 1.0, 1.0) } else { (16.0 / 255.0, 219.0 / 255.0, 224.0 / 255.0) };
        let top = top(frame);
        Self { matrix, low, light_span, colour_span, middle: f32::midpoint(top, 1.0) / top }
    }

    pub(crate) fn grey(&self, light: f32) -> f32 {
        ((light - self.low) / self.light_span).clamp(0.0, 1.0)
    }

    /// Red, green and blue of the samples of the three planes.
    pub(crate) fn colours(&self, [light, first, second]: [f32; 3]) -> [f32; 3] {
        if matches!(self.matrix, Matrix::Rgb) {
            return [second, light, first].map(|plane| self.grey(plane));
        }
        let light = (light - self.low) / self.light_span;
        let [first, second] = [first, second].map(|colour| (colour - self.middle) / self.colour_span);
        let mixed = match self.matrix {
            Matrix::Rgb | Matrix::GreenOrange => {
                [light - first + second, light + first, light - first - second]
            }
            Matrix::Shares { kr, kb } => {
                let red = light + 2.0 * (1.0 - kr) * second;
                let blue = light + 2.0 * (1.0 - kb) * first;
                [red, (light - kr * red - kb * blue) / (1.0 - kr - kb), blue]
            }
        };
        mixed.map(|colour| colour.clamp(0.0, 1.0))
    }
}

/// The greatest sample of a frame.
pub(crate) fn top(frame: &Frame) -> f32 {
    f32::from(u16::MAX >> (16 - frame.bits))
}
