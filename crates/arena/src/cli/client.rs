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

#[derive(Debug, Subcommand)]
pub(crate) enum DuelsCommand {
    /// Recompute the sealed demands of a settled duel
    Verify {
        #[arg(
            help = "Address of the duel, for example https://arena.example/duels/0123456789abcdef01234567"
        )]
        url: String,
    },
}
