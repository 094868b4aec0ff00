//! The exact index: every vector is compared with the query, and the order is total and the same on
//! every machine, whatever the order in which entries came. What makes an entry eligible is the caller's.

mod ranked;
mod scan;

use std::{collections::HashMap, hash::Hash};

use ranked::Candidate;
pub use ranked::{Entry, Ranked};
use scan::Rows;

use crate::Vector;

/// Parts of ten that the pitch counts where there is a bio. Without a bio the pitch counts ten.
const PITCH_TENTHS: i64 = 7;
const BIO_TENTHS: i64 = 3;
const WHOLE_TENTHS: i64 = PITCH_TENTHS + BIO_TENTHS;

/// A vector does not have the number of components of the index, so it comes from another model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a vector has {found} components and the index {expected}: embed the text again")]
pub struct WrongDims {
    pub expected: usize,
    pub found: usize,
}

/// Entries by key, each with the vectors of a pitch and of a bio, and what the caller wants to know of
/// it. Ties of the score are broken by `M`, then by the key.
#[derive(Debug)]
pub struct Index<K, M> {
    dims: usize,
    places: HashMap<K, usize>,
    /// Side by side with `weights` and the rows, in no order that means anything.
    entries: Vec<(K, M)>,
    weights: Vec<Weights>,
    rows: Rows,
}

/// What the product of a vector with the query is multiplied by: reciprocal length times tenths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Weights {
    /// Whether there is a pitch. Entries without one come after all others.
    pitched: bool,
    pitch: i64,
    bio: i64,
}

impl<K: Clone + Eq + Hash + Ord, M: Ord> Index<K, M> {
    /// An empty index for vectors of so many components.
    pub fn new(dims: usize) -> Self {
        Self { dims, places: HashMap::new(), entries: Vec::new(), weights: Vec::new(), rows: Rows::new(dims) }
    }

    pub fn dims(&self) -> usize {
        self.dims
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What the caller keeps with an entry.
    pub fn get(&self, key: &K) -> Option<&M> {
        self.places.get(key).map(|place| &self.entries[*place].1)
    }

    /// To change what is kept with an entry, such as the end of a lease, and leave its vectors alone.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut M> {
        self.places.get(key).map(|place| &mut self.entries[*place].1)
    }

    /// Adds an entry or replaces the one of this key.
    pub fn put(
        &mut self,
        key: K,
        pitch: Option<&Vector>,
        bio: Option<&Vector>,
        meta: M,
    ) -> Result<(), WrongDims> {
        for vector in [pitch, bio].into_iter().flatten() {
            self.check(vector)?;
        }
        let weights = Weights::of(pitch, bio);
        let place = self.places.get(&key).copied().unwrap_or(self.entries.len());
        if place == self.entries.len() {
            self.places.insert(key.clone(), place);
            self.entries.push((key, meta));
            self.weights.push(weights);
            self.rows.push();
        } else {
            self.entries[place].1 = meta;
            self.weights[place] = weights;
        }
        self.rows.set(place, [pitch, bio]);
        Ok(())
    }

    /// Removes an entry, and returns what the caller kept with it.
    pub fn remove(&mut self, key: &K) -> Option<M> {
        let place = self.places.remove(key)?;
        let (_, meta) = self.entries.swap_remove(place);
        self.weights.swap_remove(place);
        self.rows.swap_remove(place);
        if let Some((moved, _)) = self.entries.get(place) {
            self.places.insert(moved.clone(), place);
        }
        Some(meta)
    }

    pub fn clear(&mut self) {
        *self = Self::new(self.dims);
    }

    /// All admitted entries, best first, sorted only as far as they are asked for. `admits` is asked once an
    /// entry, before any is compared.
    pub fn ranked(&self, query: &Vector, admits: impl Fn(&M) -> bool) -> Result<Ranked<'_, K, M>, WrongDims> {
        self.check(query)?;
        let mut candidates = Vec::with_capacity(self.len());
        self.rows.products(query, |from, products| {
            let entries = self.entries[from..].iter().zip(&self.weights[from..]);
            for (place, (((_, meta), weights), products)) in (from..).zip(entries.zip(products)) {
                if admits(meta) {
                    candidates.push(Candidate { score: weights.score(*products), place });
                }
            }
        });
        Ok(Ranked::new(&self.entries, candidates))
    }

    fn check(&self, vector: &Vector) -> Result<(), WrongDims> {
        let (expected, found) = (self.dims, vector.dims());
        if expected == found { Ok(()) } else { Err(WrongDims { expected, found }) }
    }
}

impl Weights {
    fn of(pitch: Option<&Vector>, bio: Option<&Vector>) -> Self {
        let length = |vector: Option<&Vector>| vector.map_or(0, Vector::reciprocal_length);
        let tenths = if bio.is_some() { PITCH_TENTHS } else { WHOLE_TENTHS };
        Self { pitched: pitch.is_some(), pitch: length(pitch) * tenths, bio: length(bio) * BIO_TENTHS }
    }

    /// A product has at most 27 bits and, with the length that divides it, less than 60. The least number
    /// is the score of who has no pitch.
    fn score(self, [pitch, bio]: [i32; 2]) -> i64 {
        if self.pitched { i64::from(pitch) * self.pitch + i64::from(bio) * self.bio } else { i64::MIN }
    }
}
