//! How red, green and blue come from the planes of a frame, after the numbers of ITU-T H.273.
//!
//! Wide gamuts and high dynamic range are shown as if they were ordinary.

use crate::{
    dav1d::{Frame, Layout},
    properties::Colours,
};

/// Each colour is a sum of the planes, each taken some number of times, and an offset.
pub(crate) struct Mixing {
    colours: [Sum; 3],
    grey: Sum,
}

#[derive(Clone, Copy)]
struct Sum {
    times: [f32; 3],
    offset: f32,
}

/// Shares of red and blue in light, where a matrix is made of them.
struct Shares {
    kr: f32,
    kb: f32,
}

impl Mixing {
    /// For a frame, by what its container says of it or else by what its coded data says.
    pub(crate) fn of(frame: &Frame, said: Option<Colours>) -> Self {
        let coded = Colours { matrix: frame.matrix, is_full_range: frame.is_full_range };
        let said = said.unwrap_or(coded);
        let (low, light_span, colour_span) =
            if said.is_full_range { (0.0, 1.0, 1.0) } else { (16.0 / 255.0, 219.0 / 255.0, 224.0 / 255.0) };
        // The middle of a plane of colour is a half of 2^bits, a little more than half of the top.
        let middle = f32::midpoint(top(frame), 1.0) / top(frame);
        let is_rgb = said.matrix == 0 && frame.layout == Layout::Yuv444;
        let light = (low, light_span);
        let colour = if is_rgb { light } else { (middle, colour_span) };
        let sum = |factors: [f32; 3]| {
            let planes = [light, colour, colour];
            let mut sum = Sum { times: [0.0; 3], offset: 0.0 };
            for (at, (factor, (zero, span))) in factors.into_iter().zip(planes).enumerate() {
                sum.times[at] = factor / span;
                sum.offset -= zero * factor / span;
            }
            sum
        };
        let factors = match said.matrix {
            // The planes are green, blue and red themselves.
            0 if is_rgb => [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            1 => Shares { kr: 0.2126, kb: 0.0722 }.factors(),
            4 => Shares { kr: 0.30, kb: 0.11 }.factors(),
            7 => Shares { kr: 0.212, kb: 0.087 }.factors(),
            // How green and how orange, apart from light.
            8 => [[1.0, -1.0, 1.0], [1.0, 1.0, 0.0], [1.0, -1.0, -1.0]],
            9 | 10 => Shares { kr: 0.2627, kb: 0.0593 }.factors(),
            // BT.601, also where nothing is said.
            _ => Shares { kr: 0.299, kb: 0.114 }.factors(),
        };
        Self { colours: factors.map(sum), grey: sum([1.0, 0.0, 0.0]) }
    }

    #[inline]
    pub(crate) fn grey(&self, light: f32) -> f32 {
        self.grey.over([light, 0.0, 0.0])
    }

    /// Red, green and blue of the samples of the three planes.
    #[inline]
    pub(crate) fn colours(&self, planes: [f32; 3]) -> [f32; 3] {
        self.colours.map(|sum| sum.over(planes))
    }
}

impl Sum {
    #[inline]
    fn over(&self, planes: [f32; 3]) -> f32 {
        let [a, b, c] = self.times;
        (a * planes[0] + b * planes[1] + c * planes[2] + self.offset).clamp(0.0, 1.0)
    }
}

impl Shares {
    fn factors(&self) -> [[f32; 3]; 3] {
        let &Self { kr, kb } = self;
        let (red, blue, kg) = (2.0 * (1.0 - kr), 2.0 * (1.0 - kb), 1.0 - kr - kb);
        [[1.0, 0.0, red], [1.0, -kb * blue / kg, -kr * red / kg], [1.0, blue, 0.0]]
    }
}

/// The greatest sample of a frame.
pub(crate) fn top(frame: &Frame) -> f32 {
    f32::from(u16::MAX >> (16 - frame.bits))
}
