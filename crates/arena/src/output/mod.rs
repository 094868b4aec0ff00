//! What the program prints: data to standard output, everything else to standard error.

pub(crate) mod escape;
pub(crate) mod print;
pub(crate) mod table;
pub(crate) mod terminal;
