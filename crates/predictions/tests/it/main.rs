//! The rules of the exchange against naive references, and the exchange itself on both engines.
#![cfg(test)]

mod book;
mod floor;
mod histories;
mod scoring;
mod world;
