//! What a file is, by its first bytes.

use crate::PictureError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Avif,
    Jpeg,
    Png,
    Webp,
}

/// What people send by mistake, by its first bytes.
const OTHERS: [(&[u8], &str); 10] = [
    (b"GIF8", "a GIF"),
    (b"BM", "a BMP"),
    (b"%PDF", "a PDF"),
    (b"II*\0", "a TIFF"),
    (b"MM\0*", "a TIFF"),
    (b"\0\0\x01\0", "an ICO"),
    (b"\xff\x0a", "a JPEG XL"),
    (b"\0\0\0\x0cJXL ", "a JPEG XL"),
    (b"\x1f\x8b", "a compressed file"),
    (b"PK\x03\x04", "an archive"),
];

impl Kind {
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, PictureError> {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            return Ok(Self::Png);
        }
        if bytes.starts_with(b"\xff\xd8\xff") {
            return Ok(Self::Jpeg);
        }
        if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            return Ok(Self::Webp);
        }
        if bytes.get(4..8) == Some(b"ftyp") {
            return match bytes.get(8..12) {
                Some(b"avif") => Ok(Self::Avif),
                Some(b"avis") => Err(PictureError::Animated),
                // A general brand may list AVIF among the compatible ones.
                Some(b"mif1" | b"miaf")
                    if bytes
                        .get(16..64)
                        .is_some_and(|brands| brands.chunks(4).any(|brand| brand == b"avif")) =>
                {
                    Ok(Self::Avif)
                }
                Some(b"heic" | b"heix" | b"mif1" | b"msf1") => {
                    Err(PictureError::WrongFormat { found: "a HEIC" })
                }
                _ => Err(PictureError::WrongFormat { found: "a video or another container" }),
            };
        }
        let found = OTHERS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, found)| *found);
        let text = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<');
        let found = found.unwrap_or(match (bytes.is_empty(), text) {
            (true, _) => "empty",
            (_, true) => "a text such as HTML or SVG",
            _ => "of no known format",
        });
        Err(PictureError::WrongFormat { found })
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Avif => "AVIF",
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Webp => "WebP",
        }
    }
}
