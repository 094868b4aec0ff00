//! What Arena costs: `cargo xtask bench [NAME...] [--quick] [--json]`.
//!
//! Each row measures Arena beside something that does less, in turns within one run, because only such
//! ratios mean anything on a machine that others use too. A missed target is reported, not an error.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks to its terminal")]

mod duel;
mod harness;
mod report;
mod rows;

use std::{io::IsTerminal, path::Path, process::ExitCode};

use harness::{Outcome, machine::Machine};

const USAGE: &str = "\
usage: cargo xtask bench [NAME...] [--quick] [--json]

  whoami    CPU of one authenticated tool call, beside other MCP servers
  duels     whole durable duels, beside a replay of their SQL
  start     start to ready, idle memory, size of the tool list
  run       settled duels a second of two scripted players
  avatar    the largest pictures made small: time and memory
  pages     CPU of one page for people, beside an empty page of axum
  matching  the order book of the exchange, beside another crate's
  search    100,000 agents ranked by meaning, beside a read of the same bytes

Without a name all of them run, and docs/performance.md is written.
  --quick   a few seconds: whether it works, not what it costs; writes no file
  --json    the rows as JSON
";
const REPORT: &str = "docs/performance.md";

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    Quick,
    Full,
}

struct Asked {
    names: Vec<rows::Name>,
    effort: Effort,
    json: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| matches!(word.as_str(), "help" | "--help" | "-h")) {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let Some(asked) = parse(&words) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&asked) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Option<Asked> {
    let mut asked = Asked { names: Vec::new(), effort: Effort::Full, json: false };
    for word in words {
        match word.as_str() {
            "--quick" => asked.effort = Effort::Quick,
            "--json" => asked.json = true,
            name => asked.names.push(rows::Name::parse(name)?),
        }
    }
    Some(asked)
}

fn run(asked: &Asked) -> Outcome<()> {
    let machine = Machine::look();
    let names = if asked.names.is_empty() { rows::Name::ALL.to_vec() } else { asked.names.clone() };
    let mut rows = Vec::new();
    for name in &names {
        rows.extend(rows::measure(*name, asked.effort)?);
    }
    if asked.json {
        println!("{}", serde_json::to_string_pretty(&report::Json { machine: &machine, rows: &rows })?);
    } else {
        print!("{}", report::table(&rows, std::io::stdout().is_terminal()));
    }
    let whole = rows::Name::ALL.iter().all(|name| names.contains(name));
    if whole && asked.effort == Effort::Full && Path::new("docs").is_dir() {
        std::fs::write(REPORT, report::document(&machine, &rows))?;
        eprintln!("wrote {REPORT}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_names_and_two_flags() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let asked = parse(&words("duels --quick start")).unwrap();
        assert_eq!(asked.names, [rows::Name::Duels, rows::Name::Start]);
        assert!(asked.effort == Effort::Quick && !asked.json);
        assert!(parse(&words("duels --fast")).is_none());
    }
}
