//! From rows of a picture to its small square: the middle is cut out and weighed down while the rows pass.
//!
//! Colours are weighed by how opaque they are, so that what cannot be seen never shows at an edge. No copy of
//! the whole picture is made.

use image::{Rgba, RgbaImage};

use crate::SIDE;

/// Red, green and blue times alpha, and alpha; each from 0 to 1.
pub(crate) type Light = [f32; 4];

/// A picture that shows its rows one after another.
pub(crate) trait Rows {
    fn size(&self) -> (u32, u32);

    /// Fills `into` with the pixels of row `y` from `left` on.
    fn row(&mut self, y: u32, left: u32, into: &mut [Light]);
}

/// The centre square of `rows`, resized.
pub(crate) fn square(rows: &mut impl Rows) -> RgbaImage {
    let (width, height) = rows.size();
    let side = width.min(height);
    let (left, top) = ((width - side) / 2, (height - side) / 2);
    let reaches: Vec<Reach> = (0..SIDE).map(|at| Reach::of(at, side)).collect();
    let mut line = vec![Light::default(); side as usize];
    let mut narrow = vec![Light::default(); SIDE as usize];
    let mut sums = vec![Light::default(); (SIDE * SIDE) as usize];
    for y in 0..side {
        rows.row(top + y, left, &mut line);
        for (into, reach) in narrow.iter_mut().zip(&reaches) {
            *into = reach.weighed(&line);
        }
        for (reach, sums) in reaches.iter().zip(sums.chunks_exact_mut(SIDE as usize)) {
            let Some(weight) = reach.weight(y as usize) else { continue };
            for (sum, light) in sums.iter_mut().zip(&narrow) {
                add(sum, light, weight);
            }
        }
    }
    RgbaImage::from_fn(SIDE, SIDE, |x, y| Rgba(straight(sums[(y * SIDE + x) as usize])))
}

/// The samples that one sample of the result is made of, and how much of each: a triangle around its place.
struct Reach {
    first: usize,
    weights: Vec<f32>,
}

impl Reach {
    #[expect(clippy::cast_precision_loss, reason = "sides of pictures are far below 2^24")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the side")]
    fn of(at: u32, side: u32) -> Self {
        let scale = side as f32 / SIDE as f32;
        let (middle, reach) = ((at as f32 + 0.5) * scale, scale.max(1.0));
        let first = (middle - reach).floor().max(0.0) as usize;
        let end = ((middle + reach).ceil() as usize).min(side as usize);
        let weight = |at: usize| (1.0 - (at as f32 + 0.5 - middle).abs() / reach).max(0.0);
        let weights: Vec<f32> = (first..end).map(weight).collect();
        let sum: f32 = weights.iter().sum();
        Self { first, weights: weights.into_iter().map(|weight| weight / sum).collect() }
    }

    fn weight(&self, at: usize) -> Option<f32> {
        self.weights.get(at.checked_sub(self.first)?).copied()
    }

    fn weighed(&self, line: &[Light]) -> Light {
        let mut sum = Light::default();
        for (light, weight) in line[self.first..].iter().zip(&self.weights) {
            add(&mut sum, light, *weight);
        }
        sum
    }
}

fn add(sum: &mut Light, light: &Light, weight: f32) {
    for (sum, light) in sum.iter_mut().zip(light) {
        *sum += light * weight;
    }
}

/// Bytes with the colours as they are without alpha.
fn straight([red, green, blue, alpha]: Light) -> [u8; 4] {
    let opacity = byte(alpha);
    if opacity == 0 {
        return [0; 4];
    }
    [byte(red / alpha), byte(green / alpha), byte(blue / alpha), opacity]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn byte(share: f32) -> u8 {
    (share * 255.0 + 0.5).clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_weighed_and_no_more_than_all() {
        for side in [1, 2, 3, 200, 255, 256, 257, 300, 1000, 4096, 16_384] {
            let reaches: Vec<Reach> = (0..SIDE).map(|at| Reach::of(at, side)).collect();
            let mut taken = vec![0.0; side as usize];
            for reach in &reaches {
                assert!((reach.weights.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{side}");
                for (at, weight) in reach.weights.iter().enumerate() {
                    taken[reach.first + at] += weight;
                }
            }
            let most = taken.iter().copied().fold(0.0_f32, f32::max);
            assert!(taken.iter().all(|taken| *taken > 0.4 * most), "{side}: a sample counts far less");
        }
    }

    #[test]
    fn the_same_size_changes_nothing() {
        for at in [0, 1, 100, 255] {
            let reach = Reach::of(at, SIDE);
            let weighed: Vec<_> =
                (0..256).filter(|at| reach.weight(*at).is_some_and(|weight| weight > 0.0)).collect();
            assert_eq!(weighed, [at as usize]);
        }
    }
}
