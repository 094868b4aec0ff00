//! Duels on real stores of both engines, through the same first step and commands as the doors.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests are not in test functions, and a reference predicts refusals too"
)]

mod avatars;
mod bios;
mod contract;
mod cursors;
mod deadlines;
mod events;
mod export;
mod gallery;
mod histories;
mod letters;
mod pages;
mod publics;
mod rates;
mod scripts;
mod search;
mod skills;
mod world;
