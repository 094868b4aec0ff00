//! Public records of duels as Apache Parquet.
//!
//! A crate of its own, so that nothing but the binary builds a Parquet writer. Knows no server and no file:
//! records come in as they were published, bytes go out.

mod columns;
mod record;
mod writer;

pub use record::{Message, Party, Record};
pub use writer::{ExportError, Writer};
