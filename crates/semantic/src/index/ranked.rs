//! Entries from the best to the worst, lazily: who takes twenty of a hundred thousand pays for a heap,
//! not for a sort.

use std::{cmp::Ordering, collections::BinaryHeap, iter::FusedIterator};

/// A found entry. Its score stays inside: scores are not for callers.
#[derive(Debug)]
pub struct Entry<'a, K, M> {
    score: Option<i64>,
    pub meta: &'a M,
    pub key: &'a K,
}

/// Admitted entries, best first. It borrows the index; take what is needed and let go.
#[derive(Debug)]
pub struct Ranked<'a, K, M> {
    rest: BinaryHeap<Entry<'a, K, M>>,
}

impl<'a, K, M> Entry<'a, K, M> {
    pub(super) fn new(score: Option<i64>, meta: &'a M, key: &'a K) -> Self {
        Self { score, meta, key }
    }
}

impl<K: Ord, M: Ord> Ord for Entry<'_, K, M> {
    /// The greatest is the best: the highest score, then the least `M`, then the least key.
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .cmp(&other.score)
            .then_with(|| other.meta.cmp(self.meta))
            .then_with(|| other.key.cmp(self.key))
    }
}

impl<K: Ord, M: Ord> PartialOrd for Entry<'_, K, M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, M: Ord> PartialEq for Entry<'_, K, M> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, M: Ord> Eq for Entry<'_, K, M> {}

impl<'a, K: Ord, M: Ord> FromIterator<Entry<'a, K, M>> for Ranked<'a, K, M> {
    fn from_iter<T: IntoIterator<Item = Entry<'a, K, M>>>(entries: T) -> Self {
        Self { rest: entries.into_iter().collect::<Vec<_>>().into() }
    }
}

impl<'a, K: Ord, M: Ord> Iterator for Ranked<'a, K, M> {
    type Item = Entry<'a, K, M>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest.pop()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rest.len(), Some(self.rest.len()))
    }
}

impl<K: Ord, M: Ord> ExactSizeIterator for Ranked<'_, K, M> {}
impl<K: Ord, M: Ord> FusedIterator for Ranked<'_, K, M> {}
