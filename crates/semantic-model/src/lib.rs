//! The embedded model's bytes, packed by the build script, and nothing else. Only the binary names
//! this crate: what depends on it carries 77 MB.

/// Bytes at an address where numbers can be used in place.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

static ALIGNED: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/model.bin")));

/// The packed model, for `semantic::Encoder::from_bytes`.
pub static MODEL: &[u8] = &ALIGNED.0;
