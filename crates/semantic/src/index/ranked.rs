//! Entries from the best to the worst, lazily: who takes twenty of a hundred thousand does not pay for
//! a sort.

use std::{cmp::Ordering, iter::FusedIterator};

/// So many are sorted at first, and four times as many whenever those are spent.
const BATCH: usize = 64;
const GROWTH: usize = 4;

/// A found entry. Its score stays inside: scores are not for callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a, K, M> {
    pub key: &'a K,
    pub meta: &'a M,
}

/// Admitted entries, best first. It borrows the index; take what is needed and let go.
#[derive(Debug)]
pub struct Ranked<'a, K, M> {
    entries: &'a [(K, M)],
    /// Not yet sorted, and not better than any of the sorted ones.
    rest: Vec<Candidate>,
    /// The best is the last.
    sorted: Vec<Candidate>,
    batch: usize,
}

/// An entry by its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) score: i64,
    pub(super) place: usize,
}

impl<'a, K: Ord, M: Ord> Ranked<'a, K, M> {
    pub(super) fn new(entries: &'a [(K, M)], candidates: Vec<Candidate>) -> Self {
        Self { entries, rest: candidates, sorted: Vec::new(), batch: BATCH }
    }

    fn sort_more(&mut self) {
        let entries = self.entries;
        let worst_first = |one: &Candidate, other: &Candidate| compare(entries, *one, *other);
        let from = self.rest.len().saturating_sub(self.batch);
        self.batch *= GROWTH;
        if from > 0 {
            self.rest.select_nth_unstable_by(from, worst_first);
        }
        self.sorted = self.rest.split_off(from);
        self.sorted.sort_unstable_by(worst_first);
    }
}

/// The greater is the better: the higher score, then the lesser `M`, then the lesser key.
fn compare<K: Ord, M: Ord>(entries: &[(K, M)], one: Candidate, other: Candidate) -> Ordering {
    one.score.cmp(&other.score).then_with(|| {
        let [(key, meta), (other_key, other_meta)] = [&entries[one.place], &entries[other.place]];
        other_meta.cmp(meta).then_with(|| other_key.cmp(key))
    })
}

impl<'a, K: Ord, M: Ord> Iterator for Ranked<'a, K, M> {
    type Item = Entry<'a, K, M>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.sorted.is_empty() {
            self.sort_more();
        }
        let (key, meta) = &self.entries[self.sorted.pop()?.place];
        Some(Entry { key, meta })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rest.len() + self.sorted.len();
        (left, Some(left))
    }
}

impl<K: Ord, M: Ord> ExactSizeIterator for Ranked<'_, K, M> {}
impl<K: Ord, M: Ord> FusedIterator for Ranked<'_, K, M> {}
