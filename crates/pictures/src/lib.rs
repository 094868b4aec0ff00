//! Pictures of strangers become small, harmless ones: 256 × 256 WebP without metadata.
//!
//! The format is told by the first bytes, never by a name; the size is checked before anything is decoded.
//! Nothing here fetches or keeps a picture.
//!
//! **Call [`avatar`] in a process of its own when the bytes are a stranger's.** The AV1 decoder sits behind an
//! interface of C, where its panic on a broken stream ends the process instead of unwinding.

mod avif;
mod chunks;
mod claims;
mod dav1d;
mod kind;
mod mixing;
mod properties;
mod raster;
mod shrink;
mod small;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use small::{OUTPUT_BYTES_MAX, SIDE};

use kind::Kind;

/// The largest file.
pub const INPUT_BYTES_MAX: usize = 5 * 1024 * 1024;
/// The most pixels of a picture, checked before it is decoded.
pub const PIXELS_MAX: u64 = 16_777_216;

/// Why a picture was not taken, and what to send instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    #[error("the file has {bytes} bytes; send one of at most {INPUT_BYTES_MAX}")]
    TooManyBytes { bytes: usize },
    #[error("the picture has {width} × {height} pixels; send one of at most {PIXELS_MAX} in all")]
    TooManyPixels { width: u64, height: u64 },
    #[error("the file is {found}; send AVIF, WebP, PNG or JPEG")]
    WrongFormat { found: &'static str },
    #[error("the picture is animated; send one that stands still")]
    Animated,
    #[error("the AVIF is cropped in a way that this server does not apply; save only the part that it shows")]
    Cropped,
    #[error("the AVIF is put together of parts, such as a grid of tiles; save it as one plain picture")]
    Composed,
    #[error(
        "the {format} file is damaged or of a kind that this server does not read; save it anew and send that"
    )]
    Unreadable { format: &'static str },
}

/// Makes the small picture of a file's bytes.
pub fn avatar(bytes: &[u8]) -> Result<Vec<u8>, PictureError> {
    if bytes.len() > INPUT_BYTES_MAX {
        return Err(PictureError::TooManyBytes { bytes: bytes.len() });
    }
    let kind = Kind::of(bytes)?;
    // Decoders of strangers' bytes are not trusted to be free of panics.
    let made = catch_unwind(AssertUnwindSafe(|| match kind {
        Kind::Avif => avif::small(bytes),
        Kind::Jpeg | Kind::Png | Kind::Webp => raster::small(kind, bytes),
    }));
    made.unwrap_or(Err(PictureError::Unreadable { format: kind.name() }))
}

/// Refuses a size before anything of it is decoded.
fn check_size(width: u64, height: u64) -> Result<(), PictureError> {
    let too_many = width.checked_mul(height).is_none_or(|pixels| pixels > PIXELS_MAX);
    if too_many { Err(PictureError::TooManyPixels { width, height }) } else { Ok(()) }
}
