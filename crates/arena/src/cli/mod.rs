//! The command line as types: what can be asked, in words that fit a screen. No command runs here.

pub(crate) mod admin;
pub(crate) mod client;
pub(crate) mod house;
pub(crate) mod root;
pub(crate) mod serve;
