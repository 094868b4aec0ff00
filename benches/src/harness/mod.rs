//! What measuring needs: processes, a load, a cluster, and the figures of repeated rounds.

pub(crate) mod cluster;
pub(crate) mod http;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod people;
pub(crate) mod process;
pub(crate) mod progress;
pub(crate) mod rounds;

/// Whatever ends a measurement is told to a person, and nothing here reacts to its kind.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
