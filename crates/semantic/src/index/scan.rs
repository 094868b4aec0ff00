//! The vectors of an index in memory, and their products with a query, at the speed of that memory.

#![expect(clippy::inline_always, reason = "a body is compiled with the features of whom it is inlined into")]

use crate::{
    Vector,
    simd::{Kernel, fastest, prefetch},
};

/// The kernel takes so many components at once; vectors are filled up with zeros.
const STEP: usize = 32;
/// How far ahead memory is asked for. Measured from 1 to 8 KiB: the product alone keeps too little under
/// way, and a scan took half as long again as a plain read.
const AHEAD: usize = 3_072;
/// What one hint brings.
const LINE: usize = 64;
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

    /// The products of both vectors of every row with the query, block by block, each with the place of its
    /// first row.
    pub(super) fn products(&self, query: &Vector, mut take: impl FnMut(usize, &[[i32; VECTORS]])) {
        let wide = self.widen(query);
        let mut products = vec![[0; VECTORS]; BLOCK.min(self.len)];
        for (rows, from) in self.blocks.iter().zip((0..self.len).step_by(BLOCK)) {
            let products = &mut products[..BLOCK.min(self.len - from)];
            fastest(Products { rows, query: &wide, out: products });
            take(from, products);
        }
    }

    fn widen(&self, query: &Vector) -> Vec<i16> {
        let mut wide: Vec<i16> = query.components().iter().map(|byte| i16::from(*byte)).collect();
        wide.resize(self.width, 0);
        wide
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
        let places = (AHEAD..).step_by(self.query.len());
        for ((vector, product), ahead) in vectors.zip(self.out.as_flattened_mut()).zip(places) {
            for line in (ahead..ahead + self.query.len()).step_by(LINE) {
                prefetch(self.rows, line);
            }
            // Counted loops over lanes become multiplications of pairs: twice as fast as one sum.
            let mut lanes = [0_i32; STEP];
            let (vector, query) = (vector.as_chunks::<STEP>().0, self.query.as_chunks::<STEP>().0);
            for (vector, query) in vector.iter().zip(query) {
                for lane in 0..STEP {
                    lanes[lane] += i32::from(vector[lane]) * i32::from(query[lane]);
                }
            }
            *product = lanes.iter().sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn products(rows: &Rows, query: &Vector) -> Vec<[i32; VECTORS]> {
        let mut all = Vec::new();
        rows.products(query, |from, products| {
            assert_eq!(from, all.len());
            all.extend_from_slice(products);
        });
        all
    }

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
            prop_assert_eq!(&products(&kept, &query), &expected);

            let wide = kept.widen(&query);
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
        assert_eq!((rows.blocks.len(), products(&rows, &vector).len()), (3, 2 * BLOCK + 1));
        for _ in 0..=2 * BLOCK {
            rows.swap_remove(0);
        }
        assert_eq!((rows.blocks.len(), products(&rows, &vector).len()), (0, 0));
        rows.push();
        assert_eq!(products(&rows, &vector), [[0, 0]]);
    }
}
