//! Signing in from outside, against providers on loopback that lie, fail or are real.
#![cfg(test)]

mod apple;
mod browser;
mod debug;
mod failures;
mod github;
mod issuer;
mod keys;
mod lies;
mod provider;
mod rotation;
