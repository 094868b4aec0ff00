//! `arena admin`: people and keys. Works with the server stopped, running, or never started.

use clap::{Args, Subcommand};

use crate::config::layers::FlagValue;

/// Which store a command opens.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    /// PostgreSQL URL [default: SQLite in the data directory]
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
}

impl StoreArgs {
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        FlagValue::given("database.url", "--database-url", self.database_url.as_ref()).into_iter().collect()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Manage people
    #[command(subcommand)]
    User(UserCommand),
    /// Manage the keys of a person
    #[command(subcommand)]
    Key(KeyCommand),
    /// Show who did what: every privileged act, the newest first
    Audit {
        /// How many, 1 to 1000
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=1000))]
        limit: i64,
        /// Only acts before the one with this id
        #[arg(long, value_name = "ID")]
        before: Option<String>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Write everything to one file, also while the server runs
    Backup(FileArgs),
    /// Put a backup in the place of the data directory's content
    #[command(
        after_help = "The server must be stopped. What was there before is moved aside, never deleted."
    )]
    Restore(FileArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct FileArgs {
    /// The backup
    pub(crate) file: std::path::PathBuf,
    /// Replace a file or data that is there already
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Create a person with a first key, which is shown once
    Create {
        /// 3 to 30 of a-z, 0-9, - and _, starting with a letter; permanent
        nickname: String,
        #[command(flatten)]
        key: KeyArgs,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List everybody
    List {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Shut a person out at once: keys, browsers and programs stop; what the person owns stays
    Disable(PersonArgs),
    /// Let a person in again
    Enable(PersonArgs),
    /// End all keys, browsers and programs of a person, who may sign in again
    SignOut(PersonArgs),
    /// Make a link that lets a person in once in a browser: the first time, or after a lost password
    Link(PersonArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PersonArgs {
    /// Whose
    pub(crate) nickname: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create another key, which is shown once
    Create {
        /// Whose
        nickname: String,
        #[command(flatten)]
        key: KeyArgs,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List the keys of a person, without their secrets
    List {
        /// Whose
        nickname: String,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Revoke a key; the next request with it is refused
    Revoke {
        /// Whose
        nickname: String,
        /// The key's id, or its first characters as the list shows them
        #[arg(value_name = "PREFIX_OR_ID")]
        key: String,
        #[command(flatten)]
        store: StoreArgs,
    },
}

/// What a new key may do and for how long.
#[derive(Debug, Clone, Args)]
pub(crate) struct KeyArgs {
    /// What the key may do, separated by commas
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "duels:play")]
    pub(crate) scopes: Vec<String>,
    /// Days until the key ends, 1 to 365 [default: never]
    #[arg(long, value_name = "N")]
    pub(crate) expires_in_days: Option<i64>,
}

impl AdminCommand {
    pub(crate) const fn store(&self) -> &StoreArgs {
        match self {
            Self::User(
                UserCommand::Create { store, .. }
                | UserCommand::List { store }
                | UserCommand::Disable(PersonArgs { store, .. })
                | UserCommand::Enable(PersonArgs { store, .. })
                | UserCommand::SignOut(PersonArgs { store, .. })
                | UserCommand::Link(PersonArgs { store, .. }),
            )
            | Self::Audit { store, .. }
            | Self::Key(
                KeyCommand::Create { store, .. }
                | KeyCommand::List { store, .. }
                | KeyCommand::Revoke { store, .. },
            ) => store,
            Self::Backup(args) | Self::Restore(args) => &args.store,
        }
    }
}
