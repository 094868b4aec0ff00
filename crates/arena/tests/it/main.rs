//! The program from outside: real processes on loopback, each ended by the test that started it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in test functions")]

mod admin;
mod config;
mod demo;
mod doctor;
mod errors;
mod help;
mod http;
mod mcp;
mod metrics;
mod postgres;
mod process;
mod serve;
mod verify;
