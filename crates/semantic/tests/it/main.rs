//! The parts of the crate that need no model, from outside.

mod index;
