//! The index against a list that is sorted: random entries with ties, replacements and removals.

use std::{cmp::Reverse, collections::BTreeMap};

use proptest::{collection::vec, prelude::*};
use semantic::{Index, Vector, index::WrongDims};

const DIMS: usize = 5;

/// An entry as the naive list keeps it.
#[derive(Debug, Clone)]
struct Naive {
    pitch: Option<Vector>,
    bio: Option<Vector>,
    nickname: String,
}

#[derive(Debug, Clone)]
enum Change {
    Put(u8, Naive),
    Rename(u8, String),
    Remove(u8),
    Clear,
}

/// Few different components, so that many vectors and many scores are equal.
fn vector() -> impl Strategy<Value = Vector> {
    vec(-1_i8..=2, DIMS)
        .prop_map(|components| Vector::quantise(&components.into_iter().map(f32::from).collect::<Vec<_>>()))
}

fn change() -> impl Strategy<Value = Change> {
    let entry = (prop::option::weighted(0.8, vector()), prop::option::of(vector()), "[a-c]{1,2}");
    let naive = entry.prop_map(|(pitch, bio, nickname)| Naive { pitch, bio, nickname });
    prop_oneof![
        30 => (0_u8..40, naive).prop_map(|(key, naive)| Change::Put(key, naive)),
        10 => (0_u8..40).prop_map(Change::Remove),
        5 => (0_u8..40, "[a-c]{1,2}").prop_map(|(key, nickname)| Change::Rename(key, nickname)),
        1 => Just(Change::Clear),
    ]
}

/// Ten times the weighted cosines, times the query's length, in units of 2^-44, by the definition.
fn score(query: &Vector, naive: &Naive) -> Option<i128> {
    let part = |vector: &Vector| -> i128 {
        let square = u128::from(vector.dot(vector).unsigned_abs());
        let length = (1_u128 << 88).checked_div(square).map_or(0, u128::isqrt);
        i128::from(query.dot(vector)) * i128::try_from(length).unwrap_or(i128::MAX)
    };
    let pitch = part(naive.pitch.as_ref()?);
    Some(naive.bio.as_ref().map_or(10 * pitch, |bio| 7 * pitch + 3 * part(bio)))
}

fn sorted<'a>(query: &Vector, entries: &'a BTreeMap<u8, Naive>) -> Vec<(&'a str, u8)> {
    let mut list: Vec<_> = entries
        .iter()
        .map(|(key, naive)| (Reverse(score(query, naive)), naive.nickname.as_str(), *key))
        .collect();
    list.sort_unstable();
    list.into_iter().map(|(_, nickname, key)| (nickname, key)).collect()
}

fn ranked<'a>(index: &'a Index<u8, String>, query: &Vector) -> Vec<(&'a str, u8)> {
    let Ok(ranked) = index.ranked(query, |_| true) else { return Vec::new() };
    ranked.map(|entry| (entry.meta.as_str(), *entry.key)).collect()
}

fn put(index: &mut Index<u8, String>, key: u8, naive: &Naive) -> Result<(), WrongDims> {
    index.put(key, naive.pitch.as_ref(), naive.bio.as_ref(), naive.nickname.clone())
}

proptest! {
    #[test]
    fn any_history_ranks_as_a_sorted_list(changes in vec(change(), 0..120), query in vector()) {
        let mut index = Index::new(DIMS);
        let mut naive = BTreeMap::new();
        for change in changes {
            match change {
                Change::Put(key, entry) => {
                    prop_assert_eq!(put(&mut index, key, &entry), Ok(()));
                    naive.insert(key, entry);
                }
                Change::Rename(key, nickname) => {
                    if let Some(entry) = naive.get_mut(&key) {
                        entry.nickname.clone_from(&nickname);
                    }
                    let kept = index.get_mut(&key);
                    prop_assert_eq!(kept.is_some(), naive.contains_key(&key));
                    if let Some(kept) = kept {
                        *kept = nickname;
                    }
                }
                Change::Remove(key) => {
                    prop_assert_eq!(index.remove(&key), naive.remove(&key).map(|entry| entry.nickname));
                }
                Change::Clear => {
                    index.clear();
                    naive.clear();
                }
            }
            prop_assert_eq!((index.len(), index.is_empty()), (naive.len(), naive.is_empty()));
        }
        for key in 0..40 {
            prop_assert_eq!(index.get(&key), naive.get(&key).map(|entry| &entry.nickname));
        }
        prop_assert_eq!(ranked(&index, &query), sorted(&query, &naive));

        // The same entries, put in another order into a new index.
        let mut again = Index::new(DIMS);
        for (key, entry) in naive.iter().rev() {
            prop_assert_eq!(put(&mut again, *key, entry), Ok(()));
        }
        prop_assert_eq!(ranked(&again, &query), ranked(&index, &query));

        // Who is not admitted is left out, and nothing else moves.
        let admitted = index.ranked(&query, |nickname| nickname.starts_with('a')).map(Iterator::collect::<Vec<_>>);
        let admitted: Vec<_> = admitted.iter().flatten().map(|entry| (entry.meta.as_str(), *entry.key)).collect();
        let expected: Vec<_> =
            sorted(&query, &naive).into_iter().filter(|(nickname, _)| nickname.starts_with('a')).collect();
        prop_assert_eq!(admitted, expected);
    }
}

#[test]
fn a_bio_counts_three_tenths() {
    let [here, there] = [[1.0, 0.0], [0.0, 1.0]].map(|components| Vector::quantise(&components));
    let mut index = Index::new(2);
    let entries = [
        ("both", Some(&here), Some(&here)),
        ("pitch, no bio", Some(&here), None),
        ("pitch, other bio", Some(&here), Some(&there)),
        ("bio, other pitch", Some(&there), Some(&here)),
        ("other pitch, no bio", Some(&there), None),
        ("no pitch, bio", None, Some(&here)),
        ("no pitch", None, None),
    ];
    for (number, (name, pitch, bio)) in entries.into_iter().enumerate() {
        assert_eq!(index.put(number, pitch, bio, name), Ok(()));
    }
    let order =
        index.ranked(&here, |_| true).map(|ranked| ranked.map(|entry| *entry.meta).collect::<Vec<_>>());
    let expected: Vec<&str> = entries.iter().map(|(name, _, _)| *name).collect();
    // Of equal scores the least name is first.
    assert_eq!(order.as_ref(), Ok(&[&expected[..5], &["no pitch", "no pitch, bio"]].concat()));
}

#[test]
fn vectors_of_another_model_are_refused() {
    let [two, three] = [2, 3].map(|dims| Vector::quantise(&vec![1.0; dims]));
    let mut index = Index::new(3);
    let wrong = WrongDims { expected: 3, found: 2 };
    assert_eq!(index.put(1, Some(&two), None, ()), Err(wrong));
    assert_eq!(index.put(1, Some(&three), Some(&two), ()), Err(wrong));
    assert!(index.is_empty());
    assert_eq!(index.put(1, Some(&three), None, ()), Ok(()));
    assert_eq!(index.ranked(&two, |()| true).map(Iterator::count), Err(wrong));
    assert_eq!(index.ranked(&three, |()| true).map(Iterator::count), Ok(1));
    assert!(wrong.to_string().ends_with("embed the text again"));
}
