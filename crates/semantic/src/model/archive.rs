//! Reads the arrays out of an `.npz` archive: a ZIP file of arrays in the format of `numpy`. Encryption, ZIP64 and
//! whatever else the one file does not use are absent and refused.

use std::{collections::HashMap, ops::Range};

const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const NUMPY: &[u8] = b"\x93NUMPY\x01";
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
const NUMPY_BYTES: usize = 10;
/// No array of the model is larger. An archive that promises more is refused before it is inflated.
const ARRAY_BYTES_MAX: usize = 16 << 20;

/// An array as its bytes.
pub(super) struct Array {
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    U8,
    I8,
    F32,
    F64,
}

/// All arrays by name, without the ending `.npy`.
pub(super) fn read(archive: &[u8]) -> Result<HashMap<String, Array>, &'static str> {
    let end = (0..=archive.len().saturating_sub(END_BYTES))
        .rev()
        .find(|at| archive.get(*at..*at + END.len()) == Some(END))
        .ok_or("it is not a ZIP archive")?;
    let entries = short(archive, end + 10)?;
    let mut at = long(archive, end + 16)?;
    let mut arrays = HashMap::new();
    for _ in 0..entries {
        if part(archive, at..at + ENTRY.len())? != ENTRY {
            return Err("its directory is damaged");
        }
        let method = short(archive, at + 10)?;
        let (packed, size) = (long(archive, at + 20)?, long(archive, at + 24)?);
        let lengths = [short(archive, at + 28)?, short(archive, at + 30)?, short(archive, at + 32)?];
        let local = long(archive, at + 42)?;
        let name = part(archive, at + ENTRY_BYTES..at + ENTRY_BYTES + lengths[0])?;
        let name = std::str::from_utf8(name).map_err(|_| "a name in it is not UTF-8")?;
        at += ENTRY_BYTES + lengths.iter().sum::<usize>();

        if part(archive, local..local + LOCAL.len())? != LOCAL {
            return Err("an entry of it is damaged");
        }
        let from = local + LOCAL_BYTES + short(archive, local + 26)? + short(archive, local + 28)?;
        let bytes = inflate(method, part(archive, from..from + packed)?, size)?;
        let name = name.strip_suffix(".npy").unwrap_or(name);
        arrays.insert(name.to_owned(), array(&bytes)?);
    }
    Ok(arrays)
}

fn inflate(method: usize, packed: &[u8], size: usize) -> Result<Vec<u8>, &'static str> {
    if size > ARRAY_BYTES_MAX {
        return Err("an array of it is too large");
    }
    let bytes = match method {
        0 => packed.to_vec(),
        8 => miniz_oxide::inflate::decompress_to_vec_with_limit(packed, size)
            .map_err(|_| "an array of it cannot be inflated")?,
        _ => return Err("it is packed in a way that is not supported"),
    };
    if bytes.len() == size { Ok(bytes) } else { Err("an array of it has another length than it says") }
}

fn array(bytes: &[u8]) -> Result<Array, &'static str> {
    if !bytes.starts_with(NUMPY) {
        return Err("it holds something that is not a NumPy array of version 1");
    }
    let from = NUMPY_BYTES + short(bytes, 8)?;
    let header = String::from_utf8_lossy(part(bytes, NUMPY_BYTES..from)?);
    let kinds = [("'|u1'", Kind::U8), ("'|i1'", Kind::I8), ("'<f4'", Kind::F32), ("'<f8'", Kind::F64)];
    let kind = kinds.iter().find(|(name, _)| header.contains(name)).ok_or("an array has unknown numbers")?.1;
    if !header.contains("'fortran_order': False") {
        return Err("an array of it is stored by columns");
    }
    Ok(Array { kind, bytes: part(bytes, from..bytes.len())?.to_vec() })
}

fn part(bytes: &[u8], range: Range<usize>) -> Result<&[u8], &'static str> {
    bytes.get(range).ok_or("it ends too early")
}

fn short(bytes: &[u8], at: usize) -> Result<usize, &'static str> {
    Ok(part(bytes, at..at + 2)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

fn long(bytes: &[u8], at: usize) -> Result<usize, &'static str> {
    Ok(part(bytes, at..at + 4)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}
