//! The arithmetic of the network. Every sum has one fixed order, whatever the machine, the number of
//! rows or their place in a block: equal rows give equal bits.

#![expect(clippy::inline_always, reason = "a body is compiled with the features of whom it is inlined into")]

use crate::{
    model::PANEL,
    simd::{Kernel, fastest},
};

/// Rows that a block of the multiplication computes at once.
const BLOCK: usize = 4;
/// Sums of a row are kept in so many lanes and added up at the end.
const LANES: usize = 16;
const EPSILON: f32 = 1e-12;

/// Adds to `out` the product of rows and a matrix in panels. Row `i` begins at `i * stride` and has as
/// many numbers as the matrix has rows; rows may overlap.
pub(super) struct Product<'a> {
    pub(super) rows: &'a [f32],
    pub(super) stride: usize,
    pub(super) matrix: &'a [f32],
    pub(super) columns: usize,
    pub(super) out: &'a mut [f32],
}

impl Product<'_> {
    pub(super) fn add(self) {
        fastest(self);
    }
}

impl Kernel for Product<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let depth = self.matrix.len() / self.columns;
        let count = self.out.len() / self.columns;
        let panels = self.matrix.chunks_exact(depth * PANEL);
        for (panel, from) in panels.zip((0..self.columns).step_by(PANEL)) {
            let panel = panel.as_chunks::<PANEL>().0;
            let mut row = 0;
            while row < count {
                let place = |row: usize| &self.rows[row * self.stride..row * self.stride + depth];
                let block = (count - row).min(BLOCK);
                let out = &mut self.out[row * self.columns + from..];
                match block {
                    BLOCK => {
                        let rows = [place(row), place(row + 1), place(row + 2), place(row + 3)];
                        multiply(rows, panel, self.columns, out);
                    }
                    3 => multiply([place(row), place(row + 1), place(row + 2)], panel, self.columns, out),
                    2 => multiply([place(row), place(row + 1)], panel, self.columns, out),
                    _ => multiply([place(row)], panel, self.columns, out),
                }
                row += block;
            }
        }
    }
}

#[inline(always)]
fn multiply<const N: usize>(rows: [&[f32]; N], panel: &[[f32; PANEL]], stride: usize, out: &mut [f32]) {
    // Counted loops keep the sums in registers: 12 times faster than the same with iterators.
    let mut sums = [[0_f32; PANEL]; N];
    let rows = rows.map(|row| &row[..panel.len()]);
    for (at, weights) in panel.iter().enumerate() {
        for row in 0..N {
            let factor = rows[row][at];
            for column in 0..PANEL {
                sums[row][column] += factor * weights[column];
            }
        }
    }
    for (number, sums) in sums.iter().enumerate() {
        for (out, sum) in out[number * stride..].iter_mut().zip(sums) {
            *out += sum;
        }
    }
}

/// Shifts and scales each row to mean 0 and variance 1, then applies gain and bias.
pub(super) struct Normalize<'a> {
    pub(super) rows: &'a mut [f32],
    pub(super) gain: &'a [f32],
    pub(super) bias: &'a [f32],
}

impl Normalize<'_> {
    pub(super) fn apply(self) {
        fastest(self);
    }
}

impl Kernel for Normalize<'_> {
    type Out = ();

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "rows have at most 1,280 numbers")]
    fn run(self) {
        let width = self.gain.len();
        for row in self.rows.chunks_exact_mut(width) {
            let mean = sum(row, |value| value) / width as f32;
            for value in row.iter_mut() {
                *value -= mean;
            }
            let variance = sum(row, |value| value * value) / width as f32;
            let factor = 1.0 / (variance + EPSILON).sqrt();
            for ((value, gain), bias) in row.iter_mut().zip(self.gain).zip(self.bias) {
                *value = *value * factor * gain + bias;
            }
        }
    }
}

/// The length of a vector becomes 1, unless it is next to nothing.
pub(super) fn to_unit_length(vector: &mut [f32]) {
    let factor = 1.0 / sum(vector, |value| value * value).max(EPSILON).sqrt();
    for value in vector {
        *value *= factor;
    }
}

pub(super) fn relu(values: &mut [f32]) {
    for value in values {
        *value = if *value > 0.0 { *value } else { 0.0 };
    }
}

#[inline(always)]
fn sum(row: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0_f32; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += term(*value);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += term(*value);
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn numbers(length: usize) -> impl Strategy<Value = Vec<f32>> {
        vec(prop_oneof![8 => -4.0_f32..4.0, 1 => Just(0.0), 1 => Just(1e-30), 1 => Just(3e7)], length)
    }

    fn bits(numbers: &[f32]) -> Vec<u32> {
        numbers.iter().map(|number| number.to_bits()).collect()
    }

    /// Rows, distance of rows, matrix in panels, its depth, its columns, and what is added to.
    fn product() -> impl Strategy<Value = (Vec<f32>, usize, Vec<f32>, usize, Vec<f32>)> {
        (1_usize..10, 1_usize..40, 1_usize..4, 1_usize..40).prop_flat_map(|(count, depth, panels, stride)| {
            let columns = panels * PANEL;
            let rows = numbers((count - 1) * stride + depth);
            (rows, Just(stride), numbers(depth * columns), Just(columns), numbers(count * columns))
        })
    }

    proptest! {
        /// What the machine chooses, the plain body, and one sum after the other have the same bits.
        #[test]
        fn a_product_is_the_same_with_every_set_of_instructions(
            (rows, stride, matrix, columns, before) in product()
        ) {
            let (mut fast, mut plain) = (before.clone(), before.clone());
            Product { rows: &rows, stride, matrix: &matrix, columns, out: &mut fast }.add();
            Product { rows: &rows, stride, matrix: &matrix, columns, out: &mut plain }.run();
            prop_assert_eq!(bits(&fast), bits(&plain));

            let depth = matrix.len() / columns;
            for (at, (before, found)) in before.iter().zip(&fast).enumerate() {
                let (row, column) = (at / columns, at % columns);
                let panel = &matrix[column / PANEL * depth * PANEL..];
                let mut sum = 0.0_f32;
                for step in 0..depth {
                    sum += rows[row * stride + step] * panel[step * PANEL + column % PANEL];
                }
                prop_assert_eq!((before + sum).to_bits(), found.to_bits());
            }
        }

        #[test]
        fn a_normalised_row_is_the_same_with_every_set_of_instructions(
            (rows, gain, bias) in (1_usize..70, 1_usize..4)
                .prop_flat_map(|(width, count)| (numbers(width * count), numbers(width), numbers(width)))
        ) {
            let (mut fast, mut plain) = (rows.clone(), rows);
            Normalize { rows: &mut fast, gain: &gain, bias: &bias }.apply();
            Normalize { rows: &mut plain, gain: &gain, bias: &bias }.run();
            prop_assert_eq!(bits(&fast), bits(&plain));
        }

        /// A row has the same product alone and among others.
        #[test]
        fn neighbours_do_not_matter((rows, stride, matrix, columns, before) in product()) {
            let mut together = before.clone();
            Product { rows: &rows, stride, matrix: &matrix, columns, out: &mut together }.add();
            for (number, before) in before.chunks_exact(columns).enumerate() {
                let mut alone = before.to_vec();
                let rows = &rows[number * stride..];
                Product { rows, stride, matrix: &matrix, columns, out: &mut alone }.add();
                prop_assert_eq!(bits(&alone), bits(&together[number * columns..][..columns]));
            }
        }
    }

    #[test]
    fn nothing_keeps_length_zero_and_numbers() {
        let mut vector = [0.0; 5];
        to_unit_length(&mut vector);
        assert_eq!(bits(&vector), [0; 5]);
        let mut values = [-1.0, -0.0, 2.0, f32::NAN];
        relu(&mut values);
        assert_eq!(bits(&values), bits(&[0.0, 0.0, 2.0, 0.0]));
    }
}
