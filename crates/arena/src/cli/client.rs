//! Commands that are clients of some server: `arena mcp` and `arena duels`.

use clap::{Args, Subcommand};

use kernel::Moment;

use crate::{config::layers::FlagValue, duels_export::output::Format};

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// The duels tools; lists them even with no server and no key
    Duels(McpArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct McpArgs {
    #[arg(long, value_name = "URL", help = "Server that the calls go to [default: http://127.0.0.1:7878]")]
    pub(crate) server: Option<String>,
    /// Key to send; `ARENA_API_KEY` keeps it out of the process list
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
}

impl McpCommand {
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        let Self::Duels(args) = self;
        [
            FlagValue::given("server", "--server", args.server.as_ref()),
            FlagValue::given("api_key", "--key", args.key.as_ref()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct LoginArgs {
    #[arg(long, value_name = "URL", help = "Server to sign in to [default: http://127.0.0.1:7878]")]
    pub(crate) server: Option<String>,
}

impl LoginArgs {
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        FlagValue::given("server", "--server", self.server.as_ref()).into_iter().collect()
    }
}

/// Points of an account in a run: at the least two stakes, so that one lost duel leaves enough for another.
const RUN_POINTS: std::ops::RangeInclusive<i64> = 10..=1_000_000_000;
/// How long a run may wait for a settlement, in seconds.
const PATIENCE_SECONDS: std::ops::RangeInclusive<u64> = 1..=86_400;

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// One side: honest, greedy, tit-for-tat, random, or the command of a program
    #[arg(long, value_name = "PLAYER")]
    pub(crate) a: String,
    /// The other side, the same way
    #[arg(long, value_name = "PLAYER")]
    pub(crate) b: String,
    /// How many duels
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) rounds: u64,
    /// What chance is drawn from; two scripted sides play the same duels from the same seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Points that an account starts with, and gets again when it has fewer than 10
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(i64).range(RUN_POINTS))]
    pub(crate) points: i64,
    /// Write every settled duel to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) transcripts: Option<std::path::PathBuf>,
    /// Seconds of Arena time in a real second where a program plays, 1 to 1000
    #[arg(long, value_name = "N", default_value = "60")]
    pub(crate) clock_speed: crate::config::speed::Speed,
    /// Real seconds without a settlement after which the run is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(PATIENCE_SECONDS))]
    pub(crate) patience: u64,
}

/// How a program takes part.
const RUN_HELP: &str = "\
A program is started with ARENA_MCP_URL, ARENA_URL, ARENA_API_KEY and
ARENA_NICKNAME, and the other side's ARENA_OPPONENT and the number of duels,
ARENA_DUELS. It connects as to any server: it enters, challenges or is
challenged, talks and demands. At speed 60 a duel's ten minutes are ten seconds;
an agent that thinks for longer needs --clock-speed 5 and more --patience. The
wait between two duels is skipped.

  arena duels run --a honest --b greedy --rounds 2000
  arena duels run --a tit-for-tat --b \"python3 examples/agent.py\" --rounds 20";

/// An instant, or the beginning of a day in UTC.
fn moment(text: &str) -> Result<Moment, String> {
    let is_day = text.len() == "2026-08-24".len();
    let whole = if is_day { format!("{text}T00:00:00Z") } else { text.to_owned() };
    whole
        .parse()
        .map_err(|()| "write an instant like 2026-08-24T14:27:00Z, or a day like 2026-08-24".to_owned())
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// Duels that finished then or later: an instant (RFC 3339) or a day (UTC)
    #[arg(long, value_name = "WHEN", value_parser = moment, required_unless_present = "after")]
    pub(crate) since: Option<Moment>,
    /// Duels that finished before then [default: all until now]
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    pub(crate) until: Option<Moment>,
    /// Only duels after those of an earlier export, which told this number at its end
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) after: Option<i64>,
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Jsonl, help = "How to write them")]
    pub(crate) format: Format,
    /// Where to write [default: arena-duels.jsonl or arena-duels.parquet]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<std::path::PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[arg(long, value_name = "URL", help = "Server to read from [default: http://127.0.0.1:7878]")]
    pub(crate) server: Option<String>,
}

/// What an export is made of.
const EXPORT_HELP: &str = "\
No key is needed: an export holds what the server publishes. A line of JSON is
the record that the address of the duel answers, with the whole transcript. In
Parquet the sides are columns, a_ the challenger's and b_ the other's, and the
transcript is a list. The order is that of settlement. The file appears when it
is whole, or not at all.

  arena duels export --since 2026-08-24 --output duels.jsonl
  arena duels export --since 2026-08-24 --server https://arena.example
  arena duels export --after 1234 --format parquet --output later.parquet";

impl DuelsCommand {
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        match self {
            Self::Export(args) => {
                FlagValue::given("server", "--server", args.server.as_ref()).into_iter().collect()
            }
            Self::Run(_) | Self::Verify { .. } => Vec::new(),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum DuelsCommand {
    /// Write the settled duels of a server to a file
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Play many duels between two players and compare them
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Recompute the sealed demands of a settled duel
    Verify {
        #[arg(
            help = "Address of the duel, for example https://arena.example/duels/0123456789abcdef01234567"
        )]
        url: String,
    },
}
