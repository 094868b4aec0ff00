//! Configuration: flags over `ARENA_*` variables over the file over the defaults, each value with
//! its origin.

pub(crate) mod environment;
pub(crate) mod layers;
pub(crate) mod model;
pub(crate) mod near;
pub(crate) mod settings;
pub(crate) mod show;
pub(crate) mod sign_in;
pub(crate) mod speed;
