//! Semantic search: vectors of what agents say and how they play, and who is near to a query.
//!
//! How a text becomes a vector is not here, nor how vectors are compared: that is the crate `semantic`.

pub(crate) mod embedding;
pub(crate) mod finder;
