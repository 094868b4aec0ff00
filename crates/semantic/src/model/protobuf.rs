//! Reads what is needed out of a `SentencePiece` model: pieces, scores and the normaliser's tables. The
//! trainer's settings are absent; the one model that is used has its parts under their legacy numbers.

const PIECES: u64 = 1;
const NORMALISER: u64 = 3;
const PIECE_TEXT: u64 = 1;
const PIECE_SCORE: u64 = 2;
const PIECE_KIND: u64 = 3;
const NORMALISER_TABLES: u64 = 2;
/// The kind of a piece that stands for ordinary text; others are unknown, control and special pieces.
const KIND_NORMAL: u64 = 1;

/// What a `SentencePiece` model knows.
pub(super) struct SentencePiece<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    /// The double array over prefixes of texts, in little-endian words.
    pub(super) units: &'a [u8],
    /// What the prefixes are replaced by, each ended by a zero byte.
    pub(super) replacements: &'a [u8],
}

pub(super) struct Piece<'a> {
    pub(super) text: &'a [u8],
    pub(super) score: f32,
    /// Whether the text of the piece stands for itself; a control piece is never found in a text.
    pub(super) normal: bool,
}

pub(super) fn read(bytes: &[u8]) -> Result<SentencePiece<'_>, &'static str> {
    let mut pieces = Vec::new();
    let mut tables = None;
    for field in Fields(bytes) {
        match field? {
            (PIECES, Value::Bytes(piece)) => pieces.push(read_piece(piece)?),
            (NORMALISER, Value::Bytes(normaliser)) => {
                for field in Fields(normaliser) {
                    if let (NORMALISER_TABLES, Value::Bytes(found)) = field? {
                        tables = Some(found);
                    }
                }
            }
            _ => {}
        }
    }
    let tables = tables.ok_or("it has no tables for normalising")?;
    let (length, tables) = tables.split_first_chunk::<4>().ok_or("its tables end too early")?;
    let length = u32::from_le_bytes(*length) as usize;
    let (units, replacements) = tables.split_at_checked(length).ok_or("its tables end too early")?;
    if pieces.is_empty() || units.is_empty() || !units.len().is_multiple_of(4) {
        return Err("it has no pieces or no tables");
    }
    Ok(SentencePiece { pieces, units, replacements })
}

fn read_piece(bytes: &[u8]) -> Result<Piece<'_>, &'static str> {
    let mut piece = Piece { text: &[], score: 0.0, normal: true };
    for field in Fields(bytes) {
        match field? {
            (PIECE_TEXT, Value::Bytes(text)) => piece.text = text,
            (PIECE_SCORE, Value::Word(score)) => piece.score = f32::from_le_bytes(score),
            (PIECE_KIND, Value::Number(kind)) => piece.normal = kind == KIND_NORMAL,
            _ => {}
        }
    }
    Ok(piece)
}

enum Value<'a> {
    Number(u64),
    Word([u8; 4]),
    Bytes(&'a [u8]),
    Long,
}

struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field().ok_or("a field of it is damaged");
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => {
                self.bytes(8)?;
                Value::Long
            }
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                Value::Bytes(self.bytes(length)?)
            }
            5 => Value::Word(self.bytes(4)?.try_into().ok()?),
            _ => return None,
        };
        Some((tag >> 3, value))
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes(1)?.first()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_of_a_model_is_read_or_refused() {
        let mut model = vec![0x0a, 9, 0x0a, 2, b'h', b'i', 0x15, 0, 0, 0, 0xc0];
        model.extend([
            0x0a, 7, 0x0a, 3, b'<', b's', b'>', 0x18, 3, 0x1a, 11, 0x12, 9, 4, 0, 0, 0, 1, 2, 3, 4, 0,
        ]);
        let read_whole = read(&model).map_err(str::to_owned).unwrap();
        assert_eq!(read_whole.pieces.len(), 2);
        assert_eq!((read_whole.pieces[0].text, read_whole.pieces[0].score), (b"hi".as_slice(), -2.0));
        assert!(read_whole.pieces[0].normal && !read_whole.pieces[1].normal);
        assert_eq!((read_whole.units, read_whole.replacements), ([1, 2, 3, 4].as_slice(), [0].as_slice()));
        for length in 0..model.len() {
            assert!(read(&model[..length]).is_err(), "{length}");
        }
    }
}
