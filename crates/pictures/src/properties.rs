//! What the container of an AVIF says about its picture beside the coded data: turns, a crop, the meaning of
//! the colours.
//!
//! Only the properties of the primary item are read, and only those that change how it looks.

use image::metadata::Orientation;

/// Version and flags at the start of many boxes.
pub(crate) const VERSION_BYTES: usize = 4;

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
pub(crate) fn child(bytes: &[u8], wanted: Name) -> Option<&[u8]> {
    Boxes(bytes).find(|(name, _)| *name == wanted).map(|(_, content)| content)
}

/// The boxes one after another; it ends where a length makes no sense.
pub(crate) struct Boxes<'a>(pub(crate) &'a [u8]);

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
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn number(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Version and flags.
    pub(crate) fn version(&mut self) -> Option<(u64, u64)> {
        Some((self.number(1)?, self.number(3)?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TURNED: &[u8] = include_bytes!("../tests/it/data/turned-mirrored.avif");
    const GRID: &[u8] = include_bytes!("../tests/it/data/grid.avif");

    #[test]
    fn the_primary_item_is_read_whatever_the_form_of_its_box() {
        let found = Properties::of(TURNED).unwrap();
        assert_eq!(found.turns, [Orientation::Rotate270, Orientation::FlipVertical]);
        assert_eq!(found.colours, Some(Colours { matrix: 6, is_full_range: true }));
        assert!(!found.is_composed && !found.is_cropped);
        assert!(Properties::of(GRID).unwrap().is_composed);
        let at = TURNED.windows(4).position(|name| name == b"meta").unwrap() - 4;
        let length = u32::from_be_bytes(*TURNED[at..].first_chunk().unwrap());
        // A length of 64 bits, and a box that goes on to the end.
        let mut wide = TURNED[..at].to_vec();
        wide.extend(b"\0\0\0\x01meta");
        wide.extend((u64::from(length) + 8).to_be_bytes());
        wide.extend(&TURNED[at + 8..]);
        assert_eq!(Properties::of(&wide).unwrap().turns, found.turns);
        let mut open = TURNED[..at + length as usize].to_vec();
        open[at..at + 4].fill(0);
        assert_eq!(Properties::of(&open).unwrap().turns, found.turns);
    }

    #[test]
    fn a_container_that_lies_about_lengths_is_not_read() {
        for (bytes, what) in [
            (&b""[..], "nothing"),
            (b"\0\0\0\x08meta", "no version"),
            (b"\0\0\0\x04meta\0\0\0\0", "shorter than its head"),
            (b"\xff\xff\xff\xffmeta\0\0\0\0", "longer than the file"),
            (b"\0\0\0\x01meta\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", "longer than anything"),
            (b"\0\0\0\x0cmeta\0\0\0\0", "no primary item"),
        ] {
            assert_eq!(Properties::of(bytes), None, "{what}");
        }
    }

    proptest! {
        /// Damage gives other properties or none, and always an end.
        #[test]
        fn damage_ends_the_reading_at_most(
            grid in any::<bool>(),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = if grid { GRID.to_vec() } else { TURNED.to_vec() };
            let whole = bytes.len();
            for (at, value) in &flips {
                bytes[at.index(whole)] = *value;
            }
            if flips.len() % 2 == 1 {
                bytes.truncate(cut.index(whole));
            }
            let found = Properties::of(&bytes);
            prop_assert!(found.is_none_or(|found| found.turns.len() <= 2));
        }
    }
}
