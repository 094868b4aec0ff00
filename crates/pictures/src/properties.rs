//! What the container of an AVIF says about its picture beside the coded data: turns, a crop, the meaning of
//! the colours.
//!
//! Only the properties of the primary item are read, and only those that change how it looks.

use image::metadata::Orientation;

/// Version and flags at the start of many boxes.
const VERSION_BYTES: usize = 4;

/// The properties that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Properties {
    /// To be done in this order.
    pub(crate) turns: Vec<Orientation>,
    pub(crate) is_cropped: bool,
    /// The picture is not coded as one piece.
    pub(crate) is_composed: bool,
    pub(crate) colours: Option<Colours>,
}

/// What a container says of the colours, which counts more than what the coded data says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colours {
    /// The number of the matrix coefficients, of ITU-T H.273.
    pub(crate) matrix: u16,
    pub(crate) is_full_range: bool,
}

impl Properties {
    /// Reads the properties of a file's primary item; `None` if they cannot be told.
    pub(crate) fn of(file: &[u8]) -> Option<Self> {
        let meta = child(file, *b"meta")?.get(VERSION_BYTES..)?;
        let mut primary = Cursor(child(meta, *b"pitm")?);
        let primary = if primary.version()?.0 == 0 { primary.number(2)? } else { primary.number(4)? };
        let is_composed = kind(child(meta, *b"iinf")?, primary)? != *b"av01";
        let mut found = Self { is_composed, ..Self::default() };
        let Some(properties) = child(meta, *b"iprp") else { return Some(found) };
        let kinds: Vec<(Name, &[u8])> = Boxes(child(properties, *b"ipco")?).collect();
        let (mut turn, mut mirror) = (None, None);
        for (name, associations) in Boxes(properties) {
            if &name != b"ipma" {
                continue;
            }
            for index in associated(associations, primary)? {
                let Some((name, content)) = index.checked_sub(1).and_then(|at| kinds.get(at)) else {
                    continue;
                };
                match name {
                    b"irot" => turn = turned(*content.first()?),
                    b"imir" => mirror = Some(mirrored(*content.first()?)),
                    b"clap" => found.is_cropped = true,
                    b"colr" if content.starts_with(b"nclx") => found.colours = Some(Colours::of(content)?),
                    _ => {}
                }
            }
        }
        found.turns = turn.into_iter().chain(mirror).collect();
        Some(found)
    }
}

impl Colours {
    fn of(content: &[u8]) -> Option<Self> {
        // The name, then primaries, transfer and matrix of two bytes each, then one bit.
        let mut rest = Cursor(content.get(8..)?);
        let matrix = u16::try_from(rest.number(2)?).ok()?;
        Some(Self { matrix, is_full_range: rest.number(1)? & 0x80 != 0 })
    }
}

/// Quarters of a turn against the clock.
fn turned(angle: u8) -> Option<Orientation> {
    match angle & 3 {
        1 => Some(Orientation::Rotate270),
        2 => Some(Orientation::Rotate180),
        3 => Some(Orientation::Rotate90),
        _ => None,
    }
}

/// Top and bottom change places, or left and right.
fn mirrored(axis: u8) -> Orientation {
    if axis & 1 == 0 { Orientation::FlipVertical } else { Orientation::FlipHorizontal }
}

/// What an item is, of the list of all items.
fn kind(items: &[u8], wanted: u64) -> Option<Name> {
    let mut rest = Cursor(items);
    let (version, _) = rest.version()?;
    rest.number(if version == 0 { 2 } else { 4 })?;
    Boxes(rest.0).find_map(|(_, item)| {
        let mut item = Cursor(item);
        let (version, _) = item.version()?;
        let id = item.number(if version == 2 { 2 } else { 4 })?;
        let _protection = item.number(2)?;
        (id == wanted).then(|| item.take(4)?.first_chunk().copied())?
    })
}

/// The numbers, from one, of the properties of an item.
fn associated(content: &[u8], item: u64) -> Option<Vec<usize>> {
    let mut rest = Cursor(content);
    let (version, flags) = rest.version()?;
    let mut found = Vec::new();
    for _ in 0..rest.number(4)? {
        let id = rest.number(if version == 0 { 2 } else { 4 })?;
        for _ in 0..rest.number(1)? {
            // The uppermost bit says that a reader must know the property.
            let index = if flags & 1 == 1 { rest.number(2)? & 0x7fff } else { rest.number(1)? & 0x7f };
            if id == item {
                found.push(usize::try_from(index).ok()?);
            }
        }
    }
    Some(found)
}

type Name = [u8; 4];

/// The content of the first box of a name.
fn child(bytes: &[u8], wanted: Name) -> Option<&[u8]> {
    Boxes(bytes).find(|(name, _)| *name == wanted).map(|(_, content)| content)
}

/// The boxes one after another; it ends where a length makes no sense.
struct Boxes<'a>(&'a [u8]);

impl<'a> Iterator for Boxes<'a> {
    type Item = (Name, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = Cursor(self.0);
        let short = rest.number(4)?;
        let name = *rest.take(4)?.first_chunk()?;
        let length = match short {
            0 => self.0.len(),
            1 => usize::try_from(rest.number(8)?).ok()?,
            length => usize::try_from(length).ok()?,
        };
        let head = self.0.len() - rest.0.len();
        let content = self.0.get(head..length)?;
        self.0 = self.0.get(length..)?;
        Some((name, content))
    }
}

/// Big-endian numbers of a slice that gets shorter.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Version and flags.
    fn version(&mut self) -> Option<(u64, u64)> {
        Some((self.number(1)?, self.number(3)?))
    }
}
