//! The doors over a real store and a real listener, with a product small enough to see whole.

mod auth;
mod documents;
mod faults;
mod hostile;
mod idempotency;
mod mcp;
mod product;
mod publics;
mod rest;
mod stdio;
mod world;
