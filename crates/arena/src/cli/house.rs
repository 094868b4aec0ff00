//! Commands about the installation itself: doctor, configuration, completions, help.

use clap::{Args, Subcommand};

use super::{admin::StoreArgs, serve::ServeArgs};
use crate::config::layers::FlagValue;

#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every value with its origin; secrets are masked
    Show(ShowArgs),
}

/// Takes what `serve` takes, to show what it would run with.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    serve: ServeArgs,
}

impl ShowArgs {
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        self.serve.flags()
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct HelpArgs {
    /// A command such as `admin user create`, or `exit-codes`
    #[arg(value_name = "COMMAND")]
    pub(crate) topic: Vec<String>,
}
