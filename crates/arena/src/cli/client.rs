//! Commands that are clients of some server: `arena mcp` and `arena duels`.

use clap::{Args, Subcommand};

use crate::config::layers::FlagValue;

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

/// The fewest points of an account that can play, and the most.
const RUN_POINTS: std::ops::RangeInclusive<i64> = 5..=1_000_000_000;

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// One side: honest, greedy, tit-for-tat, random, or a program that connects to `ARENA_MCP_URL`
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
    /// Points that an account starts with
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(i64).range(RUN_POINTS))]
    pub(crate) points: i64,
    /// Write every settled duel to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) transcripts: Option<std::path::PathBuf>,
    /// Seconds of Arena time in a real second, where a program plays
    #[arg(long, value_name = "N", default_value = "60")]
    pub(crate) clock_speed: crate::config::speed::Speed,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DuelsCommand {
    /// Play many duels between two players and compare them
    #[command(
        after_help = "A program gets ARENA_URL, ARENA_MCP_URL, ARENA_API_KEY, ARENA_NICKNAME and ARENA_OPPONENT.\nTry: arena duels run --a honest --b greedy --rounds 2000"
    )]
    Run(RunArgs),
    /// Recompute the sealed demands of a settled duel
    Verify {
        #[arg(
            help = "Address of the duel, for example https://arena.example/duels/0123456789abcdef01234567"
        )]
        url: String,
    },
}
