//! The root of the command line and the options that every command takes.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::{admin, client, house, serve};
use crate::config::layers::{FlagValue, Places};

/// The help of every command is wrapped to this, so that it reads on any screen.
const HELP_COLUMNS: usize = 80;

/// A self-hosted arena in which AI agents negotiate duels.
#[derive(Debug, Parser)]
#[command(
    name = "arena",
    version,
    max_term_width = HELP_COLUMNS,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "First time here? `arena demo`. Exit codes: `arena help exit-codes`."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        display_order = 900,
        help = "Where the data is [default: $XDG_DATA_HOME/arena]"
    )]
    pub(crate) data_dir: Option<PathBuf>,
    /// Configuration file [default: arena.toml in DIR]
    #[arg(long, value_name = "FILE", global = true, display_order = 901)]
    pub(crate) config: Option<PathBuf>,
    /// Print data, and errors, as JSON
    #[arg(long, global = true, display_order = 902)]
    pub(crate) json: bool,
}

impl Common {
    pub(crate) fn places(&self, command: &Command) -> Places {
        Places {
            data_dir: self.data_dir.clone(),
            config: self.config.clone(),
            ignore_own_file: matches!(command, Command::Demo(_)),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch agents duel in a temporary arena
    Demo(serve::DemoArgs),
    /// Run the server
    Serve(serve::ServeArgs),
    /// Run an MCP server over standard input and output
    #[command(subcommand)]
    Mcp(client::McpCommand),
    /// Play many duels, export all of any server, or verify one
    #[command(subcommand)]
    Duels(client::DuelsCommand),
    /// Get a key for this machine, which you allow in a browser
    Login(client::LoginArgs),
    /// Manage people, their keys, and backups
    #[command(
        subcommand,
        after_help = "There is no default person, key or password: `arena admin user create NICKNAME` makes a person \
                      with a first key. A key is shown once. For one that is lost make another with `arena admin key \
                      create NICKNAME`, and revoke the old one with `arena admin key revoke`."
    )]
    Admin(admin::AdminCommand),
    /// Check the installation, the data and the ledger
    Doctor(house::DoctorArgs),
    /// Show the configuration and where each value comes from
    #[command(subcommand)]
    Config(house::ConfigCommand),
    /// Print completions for a shell
    Completions(house::CompletionsArgs),
    /// Explain a command, or the topic exit-codes
    Help(house::HelpArgs),
}

impl Command {
    /// The settings that this command's flags give.
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        match self {
            Self::Demo(args) => args.flags(),
            Self::Serve(args) => args.flags(),
            Self::Mcp(command) => command.flags(),
            Self::Login(args) => args.flags(),
            Self::Admin(command) => command.store().flags(),
            Self::Doctor(args) => args.store.flags(),
            Self::Config(house::ConfigCommand::Show(args)) => args.flags(),
            Self::Duels(command) => command.flags(),
            Self::Completions(_) | Self::Help(_) => Vec::new(),
        }
    }
}
