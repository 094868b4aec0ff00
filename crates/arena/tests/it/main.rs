//! The program from outside: real processes on loopback, each ended by the test that started it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in test functions")]

mod admin;
mod backup;
mod browser;
mod cards;
mod config;
mod conformance;
mod coverage;
mod demo;
mod doctor;
mod duels_export;
mod duels_run;
mod elsewhere;
mod errors;
mod faults;
mod feeds;
mod first_run;
mod golden;
mod golden_docs;
mod golden_json;
mod help;
mod hostile;
mod house;
mod http;
mod mcp;
mod mcp_http;
mod metrics;
mod oauth;
mod passkeys;
mod passkeys_refused;
mod picture;
mod played_world;
mod postgres;
mod process;
mod proxy;
mod python_client;
mod restore_kill;
mod seen;
mod serve;
mod sign_in;
mod tokens;
mod tools;
mod upgrades;
mod verify;
mod visitor;
