//! Tokens of a small vocabulary, and packed models of which a part is missing or changed.

use proptest::prelude::*;

use super::Encoder;
use crate::model::{DIMS, FlatError, sample};

const HEADER_BYTES: usize = 256;

#[test]
fn the_best_cut_is_found() {
    let encoder = Encoder::from_copy(&sample::packed()).unwrap();
    for (text, tokens) in [
        ("", vec![1, 2]),
        (" a", vec![1, 4, 2]),
        ("ab", vec![1, 8, 2]),
        ("abab", vec![1, 8, 7, 2]),
        ("hello ab", vec![1, 11, 8, 2]),
        ("é好", vec![1, 3, 9, 10, 2]),
        // Characters without a piece: a run of them is one.
        ("xyz", vec![1, 3, 0, 2]),
        ("axbyz", vec![1, 4, 0, 6, 0, 2]),
    ] {
        assert_eq!(encoder.tokens(text), tokens, "{text:?}");
    }
}

#[test]
fn a_model_at_an_odd_address_is_the_same() {
    let packed = sample::packed();
    let mut shifted = vec![0; packed.len() + 1];
    shifted[1..].copy_from_slice(&packed);
    let (one, two) = (Encoder::from_copy(&packed).unwrap(), Encoder::from_copy(&shifted[1..]).unwrap());
    assert_eq!(one.encode("hello ab"), two.encode("hello ab"));
}

#[test]
fn a_model_that_ends_early_is_refused_in_words() {
    let packed = sample::packed();
    let lengths =
        (0..HEADER_BYTES + 8).chain((HEADER_BYTES..packed.len()).step_by(1 << 20)).chain([packed.len() - 1]);
    for length in lengths {
        let error = Encoder::from_copy(&packed[..length]).unwrap_err();
        assert!(error.to_string().contains("build Arena again"), "{length}: {error}");
    }
    let mut longer = packed.clone();
    longer.push(0);
    let expected = packed.len() as u64;
    assert_eq!(
        Encoder::from_copy(&longer).unwrap_err(),
        FlatError::Length { expected, found: packed.len() + 1 }
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Up to the end of the sum every bit counts.
    #[test]
    fn a_changed_header_is_refused(at in 0_usize..216, bit in 0_u32..8) {
        let mut packed = sample::packed();
        packed[at] ^= 1 << bit;
        let error = Encoder::from_copy(&packed).unwrap_err();
        let expected = if at < 8 { FlatError::Magic } else { FlatError::Header };
        prop_assert_eq!(error, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Behind the header nothing is summed up, since that would touch every page. What is wrong there
    /// gives wrong vectors, but never a panic or an endless loop.
    #[test]
    fn changed_contents_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut packed = sample::packed();
        // The vocabulary is the end of the file.
        let from = packed.len() - 2_048;
        for (at, byte) in changes {
            packed[from + at.index(2_048)] = byte;
        }
        if let Ok(encoder) = Encoder::from_copy(&packed) {
            for text in ["", "hello ab é好 xyz", "ababab"] {
                prop_assert_eq!(encoder.encode(text).len(), DIMS);
                prop_assert_eq!(encoder.embed(text).dims(), DIMS);
            }
        }
    }
}
