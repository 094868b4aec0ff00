//! Thirty pitches and paraphrased queries in several languages: is the meant pitch among the first five?

use std::collections::BTreeMap;

use semantic::{Encoder, Index};
use semantic_model::MODEL;

const CASES: &str = include_str!("../../../../benches/data/retrieval_eval.json");
const FIRST: usize = 5;
/// Of a hundred queries over English pitches.
const FOUND_PERCENT_MIN: usize = 85;
/// Of a hundred queries over pitches in six languages.
const FOUND_MIXED_PERCENT_MIN: usize = 75;

/// Queries found among the first five, and all, by language.
fn measure(field: &str) -> BTreeMap<String, (usize, usize)> {
    let encoder = Encoder::from_bytes(MODEL).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(CASES).unwrap();
    let mut index = Index::new(semantic::model::DIMS);
    for (number, case) in cases.iter().enumerate() {
        let pitch = case[field].as_str().or(case["pitch_en"].as_str()).unwrap();
        index.put(number, Some(&encoder.embed(pitch)), None, number).unwrap();
    }
    let mut found = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        for (language, query) in case["queries"].as_object().unwrap() {
            let query = encoder.embed(query.as_str().unwrap());
            let hit = index.ranked(&query, |_| true).unwrap().take(FIRST).any(|entry| *entry.key == number);
            let (hits, all) = found.entry(language.clone()).or_insert((0, 0));
            *hits += usize::from(hit);
            *all += 1;
        }
    }
    found
}

#[test]
fn paraphrases_find_their_pitch() {
    for (field, percent_min) in [("pitch_en", FOUND_PERCENT_MIN), ("pitch_other", FOUND_MIXED_PERCENT_MIN)] {
        let found = measure(field);
        let (hits, all) = found.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        println!("{field}: {hits} of {all} among the first {FIRST}; by language {found:?}");
        assert!(hits * 100 >= all * percent_min, "{field}: {hits} of {all}");
        assert!(all >= 100);
    }
}
