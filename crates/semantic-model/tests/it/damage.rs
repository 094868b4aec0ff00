//! The two original files in a directory: whole, missing, damaged; and the packed model with damaged
//! tables of the tokenizer.

use std::{fs, path::Path};

use semantic::{Encoder, model::DIMS};
use semantic_model::MODEL;

fn originals() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/model"))
}

#[test]
fn a_directory_gives_the_model_of_the_binary() {
    let (one, two) = (Encoder::from_directory(originals()).unwrap(), Encoder::from_bytes(MODEL).unwrap());
    for text in ["I always split evenly.", "我总是平分奖池。", "ﬁnal 🤝"] {
        assert_eq!(one.encode(text), two.encode(text));
    }
}

#[test]
fn a_missing_or_damaged_file_is_named_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let words = || Encoder::from_directory(directory.path()).unwrap_err().to_string();
    assert!(words().contains("weights.npz") && words().contains("cannot read"), "{}", words());

    for name in ["weights.npz", "sp.model"] {
        fs::copy(originals().join(name), directory.path().join(name)).unwrap();
    }
    assert!(Encoder::from_directory(directory.path()).is_ok());

    for (name, at) in [("sp.model", 2_000_000), ("weights.npz", 17)] {
        let mut bytes = fs::read(originals().join(name)).unwrap();
        bytes[at] ^= 1;
        fs::write(directory.path().join(name), &bytes).unwrap();
        let found = words();
        assert!(found.starts_with(name) && found.contains("SHA-256") && found.contains("copy"), "{found}");
        fs::write(directory.path().join(name), &bytes[..at]).unwrap();
        assert!(words().contains(&format!("found {at} bytes")), "{}", words());
    }
}

/// The header's sum does not cover the contents. Whatever they are, texts get a vector of some kind.
#[test]
fn damaged_tables_never_panic() {
    let texts = ["", "a b c", "Ｆｕｌｌ ﬁ 我总是 ﷺ 👩‍👩‍👧‍👦 हिन्दी", "\u{10ffff}"];
    let mut seed = 7_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap()
    };
    let mut packed = MODEL.to_vec();
    // The weights are the first 77 MB; the tokenizer's tables are the rest.
    let tables = packed.len() - (5 << 20);
    for _ in 0..16 {
        for _ in 0..20_000 {
            let at = tables + next() % (packed.len() - tables);
            packed[at] = next().to_le_bytes()[0];
        }
        let encoder = Encoder::from_copy(&packed).unwrap();
        for text in texts {
            assert_eq!(encoder.encode(text).len(), DIMS);
        }
    }
}
