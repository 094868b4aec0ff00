//! The rows as a table on a terminal, as JSON, and as docs/performance.md.

use std::fmt::Write;

use serde::Serialize;

use crate::{
    harness::machine::Machine,
    rows::{Row, Verdict},
};

#[derive(Serialize)]
pub(crate) struct Json<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) rows: &'a [Row],
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Miss => "MISS",
        Verdict::Reported => "",
        Verdict::Absent => "-",
    }
}

fn cells(row: &Row) -> [String; 6] {
    [
        row.part.to_owned(),
        row.what.clone(),
        row.value.clone(),
        row.target.clone().unwrap_or_default(),
        word(row.verdict).to_owned(),
        row.spread.clone(),
    ]
}

const HEAD: [&str; 6] = ["row", "what", "median", "target", "", "min to max"];

pub(crate) fn table(rows: &[Row], colour: bool) -> String {
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let widths: [usize; 6] =
        std::array::from_fn(|at| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0));
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let style = match number.checked_sub(1).map(|row| rows[row].verdict) {
            None => "\u{1b}[1m",
            Some(Verdict::Pass) => "\u{1b}[32m",
            Some(Verdict::Miss) => "\u{1b}[31m",
            Some(Verdict::Absent) => "\u{1b}[2m",
            Some(Verdict::Reported) => "",
        };
        let text: Vec<String> =
            line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let text = text.join("  ");
        let text = text.trim_end();
        // Writing to a String cannot fail.
        if colour && !style.is_empty() {
            let _ = writeln!(out, "{style}{text}\u{1b}[0m");
        } else {
            let _ = writeln!(out, "{text}");
        }
    }
    out
}

const MEANING: &str = "\
## What the rows mean

**whoami.** One `tools/call whoami` over MCP 2026-07-28 and keep-alive HTTP/1.1. The figure is the
server's CPU time (user and system, all threads) per request, because the load generator runs on the
same cores: requests a second and latencies are beside it, but say as much about the generator. Arena
is the release program as it ships, with metrics on; each call checks a key, passes a budget and reads
the agent's row. 32 accounts call over 32 connections. An account may call 200 times a minute, so the
server runs with `--clock-speed 100000`: a minute of Arena time is 0.6 ms, every call still goes
through the budget, and none is refused. The bare rmcp server (`benches/src/bin/bare.rs`) answers the
same fields from constants; raw axum sends the same bytes without reading the request. Every answer is
checked: status 200 and the caller's nickname. On PostgreSQL the budget is rows, so a call is a commit.

**duels.** 256 agents, 128 pairs at a time, no pair twice: a challenge, two messages, two demands and
the settlement, as five commands of the catalog on a store in this process, `synchronous=FULL`, on the
disk that holds the build. While they are played, every statement of their commands is recorded with
its arguments, savepoints and commits. Then a loop runs that recording on a copy of the same database:
statements compiled before, one thread, no checks, no answers. The ratio is the speed of the duels
over that loop's; the duels' time includes the recording, the validation of input, the first steps on
reader threads and the answers in JSON. After every replay both databases are compared row by row.
One-row commands show what the store's own path costs: the same number of callers, one `INSERT` each.
Through the door the same duels are REST calls to `arena serve`, with keys and budgets.

**start.** From starting the process to the first 200 of `/readyz`, with a data directory that does not
exist before; resident memory two seconds later, and two seconds after three searches, which bring the
model into memory (it is part of the program file, of which only the rows of used tokens are read); and the tokens (o200k) of name, description and
inputSchema of every tool that `/duels/mcp` lists.

**run.** `arena duels run` with two scripted players, as a whole process: its own `seconds`, which begin after
the store is open. One thread makes every call of the catalog on SQLite in memory; behaviour summaries are
queued and not written.

**avatar.** `arena picture` from its start to the picture's last byte, fed with the largest picture that is
taken; memory is the kernel's high-water mark of the process (`VmHWM`), looked at every millisecond.

**pages.** One GET with `Accept: text/html` over keep-alive HTTP/1.1, 16 connections, on an arena where each of 24
agents has duelled every other; every answer is checked for status 200 and its end. CPU is the server's, as above. The
latency is of a second load, 100 requests a second whether or not answers come, each timed from when it was due. The
empty page is one line that bare axum sends from a constant.

**matching.** One million orders and cancels around a price that wanders, on one thread, without a store. The stream
is drawn so that no order could be filled in part, because ours fill whole or not at all; both books then have the
same fills in the same order, which is checked in every round. Ours also looks at each owner, for self-trade.

**search.** An index of 100,000 agents with two vectors each, 512 components of one byte: random ones, so
that nothing is skipped and nothing is near. A search embeds a query of the evaluation set and takes the best
twenty. Beside it, in the same round: embedding the same query, and one sequential read of as many bytes
in another place of the memory. The ratio is the search over the sum of both. The whole order is compared
with a sort by scores that are computed one by one without the index. For retrieval, every query of
`benches/data/retrieval_eval.json` (paraphrases in four languages) ranks its 30 pitches; a query counts if
its pitch is among the first five. Then the same on a database: as many present agents as rows, and
`search_agents` as a door calls it: the query checked, both budgets charged in a durable commit, the query
embedded, changes of presences read, and the twenty found looked up in the tables.
";

pub(crate) fn document(machine: &Machine, rows: &[Row]) -> String {
    let Machine { cpu, cores, memory_mib, kernel, load, date, sqlite } = machine;
    let mut out = format!(
        "# Performance\n\n\
         Written by `cargo xtask bench`; to repeat it, run that. It builds in release mode and takes some\n\
         minutes. Names run single rows (`cargo xtask bench whoami duels`), `--quick` shows only\n\
         that they work, `--json` prints data. The servers of other SDKs are measured when `python3`\n\
         (or `ARENA_TEST_PYTHON`) and `node` (or `ARENA_TEST_NODE_BIN` and `ARENA_TEST_NODE_MODULES`)\n\
         have them; PostgreSQL when its programs are installed.\n\n\
         Only ratios within one run carry over to another machine. Every figure is a median over rounds in\n\
         which all sides took turns; the last column has the extremes.\n\n\
         | machine | |\n|---|---|\n\
         | date | {date} |\n| CPU | {cpu}, {cores} cores |\n| memory | {memory_mib} MiB |\n| kernel | {kernel} |\n\
         | load before | {load} |\n| SQLite | {sqlite} |\n\n"
    );
    out.push_str("| row | what | median | target | | min to max |\n|---|---|---|---|---|---|\n");
    for row in rows {
        let [part, what, value, target, verdict, spread] = cells(row).map(|cell| cell.replace('|', "\\|"));
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| {part} | {what} | {value} | {target} | {verdict} | {spread} |");
    }
    out.push('\n');
    out.push_str(MEANING);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Name;

    #[test]
    fn a_miss_is_said_and_a_machine_without_colour_gets_none() {
        let row = Row::reported(Name::Start, "idle", 70.0, "70 MiB".to_owned(), String::new());
        let rows = [row.clone().at_most(60.0, "60 MiB"), row.at_most(80.0, "80 MiB")];
        let plain = table(&rows, false);
        assert!(plain.contains("≤ 60 MiB  MISS") && plain.contains("≤ 80 MiB  pass"), "{plain}");
        assert!(!plain.contains('\u{1b}') && table(&rows, true).contains("\u{1b}[31m"));
        assert!(document(&Machine::look(), &rows).contains("| start | idle | 70 MiB | ≤ 60 MiB | MISS |"));
    }
}
