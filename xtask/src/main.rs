//! The project's own tool: `cargo xtask test | tidy | golden | bench`.
//!
//! It knows files, processes and Cargo. It links no crate of Arena, so that it builds in seconds
//! and still runs when they do not compile.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks to its terminal")]
#![expect(clippy::disallowed_methods, reason = "the environment is how its callers set it up")]

mod bench;
mod cargo;
mod golden;
mod ground;
mod keeper;
mod run;
mod setup;
mod tally;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  test [--only PATTERN]   set up what the tests need, then run them all
                          PATTERN: a package, a package::filter, or a part of a test's name
  tidy                    the checks that Cargo, rustfmt and clippy cannot make
  golden [--check]        write (or only compare) the files under golden/
  bench [NAME...]         build in release mode and run the measurements
";

/// How a command ended. The process exits 0 only for `Good`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Good,
    Bad,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test"] => test::test(None),
        ["test", "--only", pattern] => test::test(Some(pattern)),
        ["tidy"] => tidy::tidy(),
        ["golden"] => golden::golden(golden::Mode::Write),
        ["golden", "--check"] => golden::golden(golden::Mode::Check),
        ["bench", names @ ..] => bench::bench(names),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Bad) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}
