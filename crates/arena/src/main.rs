//! The `arena` program: reads the command line and the environment, runs one command, and answers
//! with its exit code. What a command does is in the module of its name.

mod admin;
mod cli;
mod config;
mod demo;
mod denied;
mod doctor;
mod duels_export;
mod duels_run;
mod exit;
mod failure;
mod help;
mod login;
mod mcp_stdio;
mod opening;
mod output;
mod picture;
mod remote;
mod run;
mod serve;
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::process().into()
}
