//! Makes the flat file of the two original files. It runs when `semantic-model` is built, and at run
//! time for a model in a directory.

use std::collections::HashMap;

use super::{
    SENTENCEPIECE, WEIGHTS,
    archive::{self, Kind},
    flat::{Parts, write},
    protobuf, shape, trie,
};

/// Why two files do not become a model. The words name the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct PackError {
    pub file: &'static str,
    pub problem: String,
}

impl PackError {
    fn new(file: &'static str, problem: impl Into<String>) -> Self {
        Self { file, problem: problem.into() }
    }
}

/// Checks both files by their sums and lays them out flat.
pub fn pack(weights: &[u8], sentencepiece: &[u8]) -> Result<Vec<u8>, PackError> {
    WEIGHTS.check(weights).map_err(|problem| PackError::new(WEIGHTS.name, problem))?;
    SENTENCEPIECE.check(sentencepiece).map_err(|problem| PackError::new(SENTENCEPIECE.name, problem))?;
    let of_weights = |problem| PackError::new(WEIGHTS.name, problem);
    let of_pieces = |problem| PackError::new(SENTENCEPIECE.name, problem);

    let vocabulary = protobuf::read(sentencepiece).map_err(of_pieces)?;
    let pieces = vocabulary.pieces.len();
    let normal = vocabulary.pieces.iter().zip(0_u32..).filter(|(piece, _)| piece.normal);
    let texts = normal.map(|(piece, number)| (piece.text, number)).collect();
    let trie = trie::build(texts).map_err(of_pieces)?;
    let mut arrays = archive::read(weights).map_err(of_weights)?;
    Ok(write(&Parts {
        table: table(&mut arrays, pieces).map_err(of_weights)?,
        floats: floats(&arrays).map_err(of_weights)?,
        units: vocabulary.units.to_vec(),
        replacements: vocabulary.replacements.to_vec(),
        trie,
        scores: vocabulary.pieces.iter().map(|piece| piece.score).collect(),
    }))
}

/// Every token's row in the order of the tokens; the archive has them in groups by remainder.
fn table(arrays: &mut HashMap<String, archive::Array>, pieces: usize) -> Result<Vec<u8>, &'static str> {
    let mut groups = Vec::with_capacity(shape::GROUPS);
    for group in 1..=shape::GROUPS {
        let array = arrays.remove(&format!("q{group}")).ok_or("a part of the table is missing")?;
        if array.kind != Kind::U8 {
            return Err("the table has other numbers than expected");
        }
        groups.push(array.bytes);
    }
    let mut table = Vec::with_capacity(pieces * shape::WIDTH);
    for piece in 0..pieces {
        let from = piece / shape::GROUPS * shape::WIDTH;
        let row = groups[piece % shape::GROUPS].get(from..from + shape::WIDTH);
        table.extend_from_slice(row.ok_or("the table has fewer rows than there are pieces")?);
    }
    Ok(table)
}

/// All weights in the order of the flat file, matrices in panels of columns.
fn floats(arrays: &HashMap<String, archive::Array>) -> Result<Vec<f32>, &'static str> {
    let mut floats = Vec::with_capacity(shape::floats());
    for expected in shape::arrays() {
        let array = arrays.get(&expected.name).ok_or("an array is missing")?;
        let numbers: Vec<f32> =
            array.bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        if array.kind != Kind::F32 || numbers.len() != expected.len() {
            return Err("an array has another shape than expected");
        }
        if expected.columns == 0 {
            floats.extend(numbers);
            continue;
        }
        for panel in (0..expected.columns).step_by(shape::PANEL) {
            for row in numbers.chunks_exact(expected.columns) {
                floats.extend_from_slice(&row[panel..panel + shape::PANEL]);
            }
        }
    }
    Ok(floats)
}
