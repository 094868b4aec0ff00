//! The flat file: a header with a sum, then aligned sections that are used where they lie. Reading it
//! touches the header only, so that the pages of the table come into memory when a text needs them.

use std::borrow::Cow;

use bytemuck::Pod;
use sha2::{Digest, Sha256};

use super::{DIMS, MODEL_ID, shape, trie::Trie};

const MAGIC: [u8; 8] = *b"ARENAUSE";
const VERSION: u32 = 1;
const ALIGNMENT: usize = 64;
const SECTIONS: usize = 8;
const ID_AT: usize = 12;
const ID_BYTES: usize = 36;
const SECTIONS_AT: usize = ID_AT + ID_BYTES;
const LENGTH_AT: usize = SECTIONS_AT + SECTIONS * 16;
const SUM_AT: usize = LENGTH_AT + 8;
const SUM_BYTES: usize = 32;
const HEADER_BYTES: usize = SUM_AT + SUM_BYTES;

// The numbers of the file are little-endian and are used in place.
const _: () = assert!(cfg!(target_endian = "little"), "the model needs a little-endian machine");

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlatError {
    #[error("the packed model is not one: build Arena again from a clean checkout")]
    Magic,
    #[error("the packed model has version {0}, this build reads {VERSION}: build Arena again")]
    Version(u32),
    #[error("the packed model is of another kind than {MODEL_ID}: build Arena again")]
    Id,
    #[error("the packed model's header is damaged: build Arena again from a clean checkout")]
    Header,
    #[error(
        "the packed model has {found} bytes instead of {expected}: build Arena again from a clean checkout"
    )]
    Length { expected: u64, found: usize },
    #[error("section {0} of the packed model has a wrong size: build Arena again from a clean checkout")]
    Section(usize),
}

/// What goes into the file.
pub(super) struct Parts {
    pub(super) table: Vec<u8>,
    pub(super) floats: Vec<f32>,
    pub(super) units: Vec<u8>,
    pub(super) replacements: Vec<u8>,
    pub(super) trie: Trie,
    pub(super) scores: Vec<f32>,
}

pub(super) fn write(parts: &Parts) -> Vec<u8> {
    let sections: [&[u8]; SECTIONS] = [
        &parts.table,
        bytemuck::cast_slice(&parts.floats),
        &parts.units,
        &parts.replacements,
        bytemuck::cast_slice(&parts.trie.first),
        &parts.trie.label,
        bytemuck::cast_slice(&parts.trie.piece),
        bytemuck::cast_slice(&parts.scores),
    ];
    let body: usize = sections.iter().map(|section| section.len().next_multiple_of(ALIGNMENT)).sum();
    let mut file = Vec::with_capacity(HEADER_BYTES.next_multiple_of(ALIGNMENT) + body);
    file.extend(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.extend(id());
    let mut at = HEADER_BYTES.next_multiple_of(ALIGNMENT);
    for section in sections {
        file.extend((at as u64).to_le_bytes());
        file.extend((section.len() as u64).to_le_bytes());
        at += section.len().next_multiple_of(ALIGNMENT);
    }
    file.extend((at as u64).to_le_bytes());
    let sum = Sha256::digest(&file);
    file.extend(sum);
    for section in sections {
        file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        file.extend_from_slice(section);
    }
    file.resize(at, 0);
    file
}

fn id() -> [u8; ID_BYTES] {
    let mut id = [0; ID_BYTES];
    for (to, from) in id.iter_mut().zip(MODEL_ID.bytes()) {
        *to = from;
    }
    id
}

/// The parts of a model, borrowed from the file or owned.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    /// A row of bytes a token.
    pub(crate) table: Cow<'a, [u8]>,
    pub(crate) scale: Cow<'a, [f32]>,
    pub(crate) offset: Cow<'a, [f32]>,
    pub(crate) branches: Vec<Branch<'a>>,
    pub(crate) norm: Norm<'a>,
    /// From the summed features to the sentence.
    pub(crate) sentence: Cow<'a, [f32]>,
    pub(crate) sentence_bias: Cow<'a, [f32]>,
    pub(crate) dense: Dense<'a>,
    pub(crate) vocabulary: Vocabulary<'a>,
}

/// One convolution branch. Matrices are in panels, see `shape::PANEL`.
#[derive(Debug)]
pub(crate) struct Branch<'a> {
    pub(crate) projection: Cow<'a, [f32]>,
    pub(crate) projection_bias: Cow<'a, [f32]>,
    pub(crate) norm: Norm<'a>,
    pub(crate) convolutions: [Convolution<'a>; 2],
}

#[derive(Debug)]
pub(crate) struct Convolution<'a> {
    pub(crate) matrix: Cow<'a, [f32]>,
    pub(crate) bias: Cow<'a, [f32]>,
}

/// What a normalised row is multiplied by, and what is added.
#[derive(Debug)]
pub(crate) struct Norm<'a> {
    pub(crate) gain: Cow<'a, [f32]>,
    pub(crate) bias: Cow<'a, [f32]>,
}

/// The last layers. Those named `past` skip one.
#[derive(Debug)]
pub(crate) struct Dense<'a> {
    pub(crate) zero: Cow<'a, [f32]>,
    pub(crate) past_zero: Cow<'a, [f32]>,
    pub(crate) one: Cow<'a, [f32]>,
    pub(crate) two: Cow<'a, [f32]>,
    pub(crate) past_two: Cow<'a, [f32]>,
    pub(crate) three: Cow<'a, [f32]>,
}

/// What the tokenizer knows.
#[derive(Debug)]
pub(crate) struct Vocabulary<'a> {
    pub(crate) units: Cow<'a, [u32]>,
    pub(crate) replacements: Cow<'a, [u8]>,
    pub(crate) first: Cow<'a, [u32]>,
    pub(crate) label: Cow<'a, [u8]>,
    pub(crate) piece: Cow<'a, [u32]>,
    /// One a piece. Their number is the number of tokens.
    pub(crate) scores: Cow<'a, [f32]>,
}

impl<'a> Model<'a> {
    /// Checks the header and the sizes of everything; the contents are used as they are.
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, FlatError> {
        let [table, floats, units, replacements, first, label, piece, scores] = sections(file)?;
        let floats: Cow<'a, [f32]> = numbers(floats, 1)?;
        let vocabulary = Vocabulary {
            units: numbers(units, 2)?,
            replacements: Cow::Borrowed(replacements),
            first: numbers(first, 4)?,
            label: Cow::Borrowed(label),
            piece: numbers(piece, 6)?,
            scores: numbers(scores, 7)?,
        };
        let sizes = [
            (0, table.len() == vocabulary.scores.len() * shape::WIDTH),
            (1, floats.len() == shape::floats()),
            (2, !vocabulary.units.is_empty()),
            (4, vocabulary.first.len() == label.len() + 1),
            (5, !label.is_empty()),
            (6, vocabulary.piece.len() == label.len()),
            (7, !vocabulary.scores.is_empty()),
        ];
        if let Some((section, _)) = sizes.iter().find(|(_, fits)| !fits) {
            return Err(FlatError::Section(*section));
        }
        let mut rest = Rest(floats);
        let mut part = |length: usize| rest.take(length);
        Ok(Self {
            table: Cow::Borrowed(table),
            scale: part(shape::GROUPS),
            offset: part(shape::GROUPS),
            branches: shape::BRANCHES
                .iter()
                .map(|(tokens, _)| {
                    let (narrow, wide) = (shape::BRANCH_WIDTH, shape::WIDTH);
                    Branch {
                        projection: part(wide * narrow),
                        projection_bias: part(narrow),
                        norm: Norm { gain: part(narrow), bias: part(narrow) },
                        convolutions: [
                            Convolution { matrix: part(tokens * narrow * narrow), bias: part(narrow) },
                            Convolution { matrix: part(tokens * narrow * narrow), bias: part(narrow) },
                        ],
                    }
                })
                .collect(),
            norm: Norm { gain: part(shape::FEATURES), bias: part(shape::FEATURES) },
            sentence: part(shape::FEATURES * DIMS),
            sentence_bias: part(DIMS),
            dense: Dense {
                zero: part(DIMS * shape::HIDDEN),
                past_zero: part(DIMS * shape::HIDDEN),
                one: part(shape::HIDDEN * shape::HIDDEN),
                two: part(shape::HIDDEN * DIMS),
                past_two: part(shape::HIDDEN * DIMS),
                three: part(DIMS * DIMS),
            },
            vocabulary,
        })
    }

    pub(crate) fn into_owned(self) -> Model<'static> {
        Model {
            table: own(self.table),
            scale: own(self.scale),
            offset: own(self.offset),
            branches: self.branches.into_iter().map(Branch::into_owned).collect(),
            norm: self.norm.into_owned(),
            sentence: own(self.sentence),
            sentence_bias: own(self.sentence_bias),
            dense: Dense {
                zero: own(self.dense.zero),
                past_zero: own(self.dense.past_zero),
                one: own(self.dense.one),
                two: own(self.dense.two),
                past_two: own(self.dense.past_two),
                three: own(self.dense.three),
            },
            vocabulary: Vocabulary {
                units: own(self.vocabulary.units),
                replacements: own(self.vocabulary.replacements),
                first: own(self.vocabulary.first),
                label: own(self.vocabulary.label),
                piece: own(self.vocabulary.piece),
                scores: own(self.vocabulary.scores),
            },
        }
    }
}

impl Branch<'_> {
    fn into_owned(self) -> Branch<'static> {
        Branch {
            projection: own(self.projection),
            projection_bias: own(self.projection_bias),
            norm: self.norm.into_owned(),
            convolutions: self.convolutions.map(Convolution::into_owned),
        }
    }
}

impl Convolution<'_> {
    fn into_owned(self) -> Convolution<'static> {
        Convolution { matrix: own(self.matrix), bias: own(self.bias) }
    }
}

impl Norm<'_> {
    fn into_owned(self) -> Norm<'static> {
        Norm { gain: own(self.gain), bias: own(self.bias) }
    }
}

fn own<T: Clone>(part: Cow<'_, [T]>) -> Cow<'static, [T]> {
    Cow::Owned(part.into_owned())
}

/// Takes one array after the other from a list of known length.
struct Rest<'a>(Cow<'a, [f32]>);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Cow<'a, [f32]> {
        match &mut self.0 {
            Cow::Borrowed(rest) => {
                let (part, after) = rest.split_at(length.min(rest.len()));
                *rest = after;
                Cow::Borrowed(part)
            }
            Cow::Owned(rest) => Cow::Owned(rest.drain(..length.min(rest.len())).collect()),
        }
    }
}

/// Numbers in place, or copied if they do not lie at a fitting address.
fn numbers<T: Pod>(section: &[u8], number: usize) -> Result<Cow<'_, [T]>, FlatError> {
    if !section.len().is_multiple_of(size_of::<T>()) {
        return Err(FlatError::Section(number));
    }
    Ok(bytemuck::try_cast_slice(section)
        .map_or_else(|_| Cow::Owned(bytemuck::allocation::pod_collect_to_vec(section)), Cow::Borrowed))
}

fn sections(file: &[u8]) -> Result<[&[u8]; SECTIONS], FlatError> {
    if !file.starts_with(&MAGIC) {
        return Err(FlatError::Magic);
    }
    let header = file.get(..HEADER_BYTES).ok_or(FlatError::Header)?;
    let (told, sum) = header.split_at(SUM_AT);
    if Sha256::digest(told).as_slice() != sum {
        return Err(FlatError::Header);
    }
    let version = long(header, MAGIC.len()) & u64::from(u32::MAX);
    if version != u64::from(VERSION) {
        return Err(FlatError::Version(u32::try_from(version).unwrap_or(u32::MAX)));
    }
    if header[ID_AT..SECTIONS_AT] != id() {
        return Err(FlatError::Id);
    }
    let expected = long(header, LENGTH_AT);
    if expected != file.len() as u64 {
        return Err(FlatError::Length { expected, found: file.len() });
    }
    let mut sections = [[].as_slice(); SECTIONS];
    for (number, section) in sections.iter_mut().enumerate() {
        let at = SECTIONS_AT + number * 16;
        let [from, length] = [long(header, at), long(header, at + 8)]
            .map(|value| usize::try_from(value).unwrap_or(usize::MAX));
        *section =
            from.checked_add(length).and_then(|to| file.get(from..to)).ok_or(FlatError::Section(number))?;
    }
    Ok(sections)
}

/// Eight bytes of the header as a number.
fn long(header: &[u8], at: usize) -> u64 {
    header[at..at + 8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
