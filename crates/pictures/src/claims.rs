//! Whether an AVIF's container asks for no more than the file holds.
//!
//! Its tables may name the same bytes, or the same property, thousands of times, and a reader copies what each
//! of them names: a file of a megabyte becomes gigabytes before anything is decoded. Here it is only added up.

use crate::{
    INPUT_BYTES_MAX,
    properties::{Boxes, Cursor, VERSION_BYTES, child},
};

/// The most places of data, and the most properties of items, that tables may name.
const NAMES_MAX: u64 = 4096;
/// The longest table of references between items.
const REFERENCES_BYTES_MAX: usize = 16 * 1024;

/// Whether the tables of a file are so small, and name so little, that they can be followed.
pub(crate) fn are_modest(file: &[u8]) -> bool {
    follow(file).is_some()
}

fn follow(file: &[u8]) -> Option<()> {
    let meta = child(file, *b"meta")?.get(VERSION_BYTES..)?;
    for (name, content) in whole(meta)? {
        match &name {
            b"iloc" => places(content, file.len())?,
            b"iprp" => properties(content)?,
            b"iref" if content.len() > REFERENCES_BYTES_MAX => return None,
            _ => {}
        }
    }
    Some(())
}

/// The boxes of a slice that consists of nothing else: what follows a broken one would be read by others.
fn whole(bytes: &[u8]) -> Option<Vec<([u8; 4], &[u8])>> {
    let mut boxes = Boxes(bytes);
    let found = boxes.by_ref().collect();
    boxes.0.is_empty().then_some(found)
}

/// What may still be named.
struct Rest {
    names: u64,
    bytes: u64,
}

impl Rest {
    const fn new() -> Self {
        Self { names: NAMES_MAX, bytes: INPUT_BYTES_MAX as u64 }
    }

    fn take(&mut self, bytes: u64) -> Option<()> {
        self.names = self.names.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(())
    }
}

/// Where the data of all items lie. A length of zero means all that there is.
fn places(table: &[u8], file_bytes: usize) -> Option<()> {
    let mut left = Rest::new();
    let mut table = Cursor(table);
    let (version, _) = table.version()?;
    let sizes = table.number(2)?;
    let size =
        |shift: u32| usize::try_from(sizes >> shift & 15).ok().filter(|size| matches!(size, 0 | 4 | 8));
    let (offset, length, base) = (size(12)?, size(8)?, size(4)?);
    let index = if version == 0 { 0 } else { size(0)? };
    let wide = if version < 2 { 2 } else { 4 };
    let items = table.number(wide)?;
    if items > NAMES_MAX {
        return None;
    }
    for _ in 0..items {
        // The item, how it is stored in later versions, and in which file.
        table.take(wide + if version == 0 { 0 } else { 2 } + 2 + base)?;
        for _ in 0..table.number(2)? {
            table.take(index + offset)?;
            let bytes = table.number(length)?;
            left.take(if bytes == 0 { u64::try_from(file_bytes).ok()? } else { bytes })?;
        }
    }
    Some(())
}

/// Which items have which properties.
fn properties(content: &[u8]) -> Option<()> {
    let mut left = Rest::new();
    let boxes = whole(content)?;
    let kinds = boxes.iter().rfind(|(name, _)| name == b"ipco").map_or(&[][..], |(_, content)| content);
    let kinds = whole(kinds)?;
    for (_, table) in boxes.iter().filter(|(name, _)| name == b"ipma") {
        let mut table = Cursor(table);
        let (version, flags) = table.version()?;
        let wide = if flags & 1 == 1 { 2 } else { 1 };
        for _ in 0..table.number(4)? {
            table.take(if version == 0 { 2 } else { 4 })?;
            for _ in 0..table.number(1)? {
                let index = table.number(wide)? & (0x7fff >> (16 - 8 * wide));
                let kind = usize::try_from(index).ok()?.checked_sub(1).and_then(|at| kinds.get(at));
                left.take(kind.map_or(0, |(_, content)| content.len() as u64))?;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(name: [u8; 4], content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 8).unwrap();
        [&length.to_be_bytes(), &name[..], content].concat()
    }

    /// A file whose only tables are these.
    fn file(tables: &[u8]) -> Vec<u8> {
        boxed(*b"meta", &[&[0; 4], tables].concat())
    }

    /// One item of many places, in each version of the table.
    fn placed(version: u8, places: u16, bytes: u32) -> Vec<u8> {
        let mut table = vec![version, 0, 0, 0, 0x44, 0];
        table.extend(if version < 2 { &[0, 1][..] } else { &[0, 0, 0, 1] });
        table.extend(if version < 2 { &[0, 9][..] } else { &[0, 0, 0, 9] });
        table.extend(if version == 0 { &[0, 0][..] } else { &[0, 0, 0, 0] });
        table.extend(places.to_be_bytes());
        for _ in 0..places {
            table.extend([0, 0, 0, 50]);
            table.extend(bytes.to_be_bytes());
        }
        file(&boxed(*b"iloc", &table))
    }

    #[test]
    fn places_are_added_up_in_every_version() {
        for version in 0..3 {
            assert!(are_modest(&placed(version, 1, 5 << 20)));
            assert!(!are_modest(&placed(version, 1, (5 << 20) + 1)));
            assert!(!are_modest(&placed(version, 41, 1 << 17)));
            assert!(are_modest(&placed(version, 4096, 1)));
            assert!(!are_modest(&placed(version, 4097, 1)));
        }
    }

    #[test]
    fn places_without_any_bytes_of_their_own_count_too() {
        // Lengths that are not written are the whole file each.
        let table = boxed(*b"iloc", &[0, 0, 0, 0, 0, 0, 0, 1, 0, 9, 0, 0, 0xff, 0xff]);
        assert!(!are_modest(&file(&table)));
        let items = boxed(*b"iloc", &[2, 0, 0, 0, 0x44, 0, 0xff, 0xff, 0xff, 0xff]);
        assert!(!are_modest(&file(&items)));
        let odd_size = boxed(*b"iloc", &[0, 0, 0, 0, 0x34, 0, 0, 0]);
        assert!(!are_modest(&file(&odd_size)));
    }

    /// Items that each have the first property, of so many bytes, so often.
    fn associated(bytes: usize, items: u32, times: u8, wide: bool) -> Vec<u8> {
        let mut table = vec![0, 0, 0, u8::from(wide)];
        table.extend(items.to_be_bytes());
        for _ in 0..items {
            table.extend([0, 1, times]);
            for _ in 0..times {
                table.extend(if wide { &[0x80, 1][..] } else { &[0x81] });
            }
        }
        let kinds = boxed(*b"ipco", &boxed(*b"auxC", &vec![0; bytes]));
        file(&boxed(*b"iprp", &[kinds, boxed(*b"ipma", &table)].concat()))
    }

    #[test]
    fn properties_are_added_up_as_often_as_they_are_named() {
        for wide in [false, true] {
            assert!(are_modest(&associated(1 << 20, 1, 5, wide)));
            assert!(!are_modest(&associated(1 << 20, 2, 3, wide)));
            assert!(are_modest(&associated(4, 16, 255, wide)));
            assert!(!are_modest(&associated(4, 17, 255, wide)));
        }
    }

    #[test]
    fn what_does_not_fit_into_its_box_is_not_followed() {
        let mut table = boxed(*b"iloc", &[0, 0, 0, 0, 0x44, 0, 0, 0]);
        assert!(are_modest(&file(&table)));
        table[3] += 1;
        assert!(!are_modest(&file(&table)));
        assert!(!are_modest(&file(&boxed(*b"iref", &vec![0; REFERENCES_BYTES_MAX + 1]))));
        assert!(!are_modest(b""));
    }
}
