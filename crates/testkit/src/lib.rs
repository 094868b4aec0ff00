//! What tests of the whole house share: places to keep state in, on both engines.
//!
//! Nothing here stands in for a part of ours; production code never depends on it.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "only tests run this: what goes wrong here fails them, and what is skipped is said on stderr"
)]

pub mod authenticator;
pub mod duels_model;
pub mod engines;
pub mod golden;
pub mod node;
pub mod skip;
pub mod still_clock;
pub mod trigram_embedder;

pub use engines::{TestPlace, prepare_all};
pub use still_clock::StillClock;
pub use trigram_embedder::TrigramEmbedder;
