//! Backup and restore of a data directory: one file with the database, the avatars and a manifest.

mod archive;
mod images;
pub(crate) mod make;
mod manifest;
mod postgres;
mod progress;
pub(crate) mod restore;
pub(crate) mod swap;
