//! The vectors of an index in memory, and their products with a query, at the speed of that memory.

#![expect(clippy::inline_always, reason = "a body is compiled with the features of whom it is inlined into")]

use crate::{
    Vector,
    simd::{Kernel, fastest},
};

/// The kernel takes so many components at once; vectors are filled up with zeros.
const STEP: usize = 32;
/// Vectors of an entry.
const VECTORS: usize = 2;
/// Entries of one allocation. An index that grows never moves more than one list of pointers.
const BLOCK: usize = 1_024;

/// Vectors side by side, two an entry, in blocks.
#[derive(Debug)]
pub(super) struct Rows {
    width: usize,
    blocks: Vec<Box<[i8]>>,
    len: usize,
}

impl Rows {
    pub(super) fn new(dims: usize) -> Self {
        Self { width: dims.next_multiple_of(STEP).max(STEP), blocks: Vec::new(), len: 0 }
    }

    /// Adds a row of zeros at the end.
    pub(super) fn push(&mut self) {
        if self.len == self.blocks.len() * BLOCK {
            self.blocks.push(vec![0; BLOCK * VECTORS * self.width].into());
        }
        self.len += 1;
    }

    pub(super) fn set(&mut self, place: usize, vectors: [Option<&Vector>; VECTORS]) {
        let width = self.width;
        for (row, vector) in self.row(place).chunks_exact_mut(width).zip(vectors) {
            row.fill(0);
            let components = vector.map_or(&[][..], Vector::components);
            for (to, from) in row.iter_mut().zip(components) {
                *to = *from;
            }
        }
    }

    /// Removes a row. The last one takes its place.
    pub(super) fn swap_remove(&mut self, place: usize) {
        self.len -= 1;
        if place != self.len {
            let last = self.row(self.len).to_vec();
            self.row(place).copy_from_slice(&last);
        }
        self.row(self.len).fill(0);
        self.blocks.truncate(self.len.div_ceil(BLOCK));
    }

    /// The products of both vectors of every row with the query.
    pub(super) fn products(&self, query: &Vector) -> Vec<[i32; VECTORS]> {
        let mut wide: Vec<i16> = query.components().iter().map(|byte| i16::from(*byte)).collect();
        wide.resize(self.width, 0);
        let mut products = vec![[0; VECTORS]; self.len];
        for (rows, products) in self.blocks.iter().zip(products.chunks_mut(BLOCK)) {
            fastest(Products { rows, query: &wide, out: products });
        }
        products
    }

    fn row(&mut self, place: usize) -> &mut [i8] {
        let bytes = VECTORS * self.width;
        let from = place % BLOCK * bytes;
        &mut self.blocks[place / BLOCK][from..from + bytes]
    }
}

/// The products of a block of rows.
struct Products<'a> {
    rows: &'a [i8],
    query: &'a [i16],
    out: &'a mut [[i32; VECTORS]],
}

impl Kernel for Products<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let vectors = self.rows.chunks_exact(self.query.len());
        for (vector, product) in vectors.zip(self.out.as_flattened_mut()) {
            let pairs = vector.as_chunks::<STEP>().0.iter().zip(self.query.as_chunks::<STEP>().0);
            *product = pairs
                .map(|(vector, query)| {
                    let products =
                        vector.iter().zip(query).map(|(one, two)| i32::from(*one) * i32::from(*two));
                    products.sum::<i32>()
                })
                .sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same body with and without AVX2, and the definition.
        #[test]
        fn the_kernel_is_the_sum_of_products(
            (rows, query) in (1_usize..200, 0_usize..9).prop_flat_map(|(dims, count)| {
                let vector = move || prop::collection::vec(-127_i8..=127, dims);
                (prop::collection::vec((vector(), vector()), count), vector())
            })
        ) {
            let vector = |components: &[i8]| {
                Vector::from_bytes(bytemuck::cast_slice(components), components.len()).unwrap()
            };
            let query = vector(&query);
            let mut kept = Rows::new(query.dims());
            for (place, (one, two)) in rows.iter().enumerate() {
                kept.push();
                kept.set(place, [Some(&vector(one)), Some(&vector(two))]);
            }
            let expected: Vec<[i32; 2]> = rows
                .iter()
                .map(|(one, two)| [vector(one).dot(&query), vector(two).dot(&query)])
                .collect();
            prop_assert_eq!(&kept.products(&query), &expected);

            let mut wide: Vec<i16> = query.components().iter().map(|byte| i16::from(*byte)).collect();
            wide.resize(kept.width, 0);
            let mut plain = vec![[0; VECTORS]; rows.len()];
            for (rows, products) in kept.blocks.iter().zip(plain.chunks_mut(BLOCK)) {
                Products { rows, query: &wide, out: products }.run();
            }
            prop_assert_eq!(plain, expected);
        }
    }

    #[test]
    fn blocks_come_and_go() {
        let mut rows = Rows::new(1);
        let vector = Vector::quantise(&[1.0]);
        for place in 0..=2 * BLOCK {
            rows.push();
            rows.set(place, [Some(&vector), None]);
        }
        assert_eq!((rows.blocks.len(), rows.products(&vector).len()), (3, 2 * BLOCK + 1));
        for _ in 0..=2 * BLOCK {
            rows.swap_remove(0);
        }
        assert_eq!((rows.blocks.len(), rows.products(&vector).len()), (0, 0));
        rows.push();
        assert_eq!(rows.products(&vector), [[0, 0]]);
    }
}
