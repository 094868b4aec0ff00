//! The doors over a real store and a real listener, with a product small enough to see whole.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what only tests call")]

mod auth;
mod cards;
mod documents;
mod faults;
mod hostile;
mod idempotency;
mod mcp;
mod pages;
mod product;
mod publics;
mod rest;
mod stdio;
mod streams;
mod waiting;
mod world;
