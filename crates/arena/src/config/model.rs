//! The configuration as the program uses it, every value checked.

use std::net::{SocketAddr, ToSocketAddrs};

use serde::Deserialize;

use super::{sign_in::SignIn, speed::Speed};
use crate::failure::Failure;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    pub(crate) api_key: Option<String>,
    #[serde(default)]
    pub(crate) server: Option<String>,
    #[serde(default)]
    pub(crate) avatars: Avatars,
    pub(crate) clock: Clock,
    pub(crate) database: Database,
    pub(crate) duels: Duels,
    pub(crate) http: Http,
    #[serde(default)]
    pub(crate) log: Log,
    pub(crate) metrics: Metrics,
    pub(crate) semantic: Semantic,
    pub(crate) sign_in: SignIn,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Avatars {
    #[serde(default)]
    pub(crate) dir: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clock {
    pub(crate) speed: Speed,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Database {
    #[serde(default)]
    pub(crate) url: Option<String>,
    pub(crate) connections: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Duels {
    pub(crate) opening_points: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Http {
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) listen: String,
    #[serde(default)]
    pub(crate) public_url: Option<String>,
    pub(crate) root_mcp: String,
    pub(crate) drain_seconds: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    #[serde(default)]
    pub(crate) filter: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metrics {
    pub(crate) listen: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Semantic {
    #[serde(default)]
    pub(crate) chat_key: Option<String>,
    #[serde(default)]
    pub(crate) chat_model: Option<String>,
    #[serde(default)]
    pub(crate) chat_url: Option<String>,
    #[serde(default)]
    pub(crate) embed_dims: Option<String>,
    #[serde(default)]
    pub(crate) embed_key: Option<String>,
    #[serde(default)]
    pub(crate) embed_model: Option<String>,
    #[serde(default)]
    pub(crate) embed_url: Option<String>,
    pub(crate) load: Switch,
    #[serde(default)]
    pub(crate) model_dir: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    On,
    Off,
}

/// The most connections that one node may hold.
const CONNECTIONS_MAX: usize = 64;
/// The longest wait of a stopping server.
const DRAIN_SECONDS_MAX: u64 = 3600;
/// The most points that a new agent may start with.
const OPENING_POINTS_MAX: i64 = 1_000_000_000;

impl Config {
    /// Checks what types alone do not say; a refusal names the key.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        address("http.listen", &self.http.listen)?;
        self.metrics.address()?;
        within("database.connections", self.database.connections, 1, CONNECTIONS_MAX)?;
        within("http.drain_seconds", self.http.drain_seconds, 0, DRAIN_SECONDS_MAX)?;
        within("duels.opening_points", self.duels.opening_points, 5, OPENING_POINTS_MAX)?;
        self.semantic.check()?;
        self.sign_in.check()?;
        for (key, url) in [
            ("http.public_url", &self.http.public_url),
            ("semantic.chat_url", &self.semantic.chat_url),
            ("semantic.embed_url", &self.semantic.embed_url),
            ("server", &self.server),
        ] {
            if let Some(url) = url {
                web_url(key, url)?;
            }
        }
        if let Some(url) = &self.database.url
            && !url.starts_with("postgres://")
            && !url.starts_with("postgresql://")
        {
            return Err(Failure::usage("database.url is not a PostgreSQL URL")
                .hint("write postgres://user:password@host:5432/database, or leave it out to use SQLite"));
        }
        Ok(())
    }
}

/// Components that a vector may have.
const DIMS_MAX: usize = 8_192;

impl Semantic {
    /// What is set together is set together.
    fn check(&self) -> Result<(), Failure> {
        self.dims()?;
        for (url, model, name) in
            [(&self.chat_url, &self.chat_model, "chat"), (&self.embed_url, &self.embed_model, "embed")]
        {
            if url.is_some() != model.is_some() {
                return Err(Failure::usage(format!(
                    "of semantic.{name}_url and semantic.{name}_model one is set"
                ))
                .hint("set both, or neither"));
            }
        }
        if self.embed_url.is_some() != self.embed_dims.is_some() {
            return Err(Failure::usage("of semantic.embed_url and semantic.embed_dims one is set")
                .hint("set both: the number of components is in the description of the model"));
        }
        Ok(())
    }

    /// The components of vectors from the endpoint.
    pub(crate) fn dims(&self) -> Result<Option<usize>, Failure> {
        let Some(text) = &self.embed_dims else { return Ok(None) };
        let dims = text.parse().ok().filter(|dims| (1..=DIMS_MAX).contains(dims));
        dims.map(Some).ok_or_else(|| {
            Failure::usage(format!(
                "semantic.embed_dims is {text:?}; use a whole number from 1 to {DIMS_MAX}"
            ))
        })
    }
}

impl Metrics {
    /// Where the metrics listener goes; `None` when it is off.
    pub(crate) fn address(&self) -> Result<Option<SocketAddr>, Failure> {
        if self.listen == "off" { Ok(None) } else { address("metrics.listen", &self.listen).map(Some) }
    }
}

/// The socket address that `text` names.
pub(crate) fn address(key: &str, text: &str) -> Result<SocketAddr, Failure> {
    let wrong = || {
        Failure::usage(format!("{key} is {text:?}, which is not HOST:PORT"))
            .hint("write for example 127.0.0.1:7878, or [::1]:7878")
    };
    text.to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)
}

fn within<T: PartialOrd + std::fmt::Display + Copy>(
    key: &str,
    value: T,
    min: T,
    max: T,
) -> Result<(), Failure> {
    if value < min || value > max {
        return Err(Failure::usage(format!("{key} is {value}; use {min} to {max}")));
    }
    Ok(())
}

/// An http or https URL without credentials, query or fragment.
pub(crate) fn web_url(key: &str, text: &str) -> Result<url::Url, Failure> {
    let wrong = || {
        Failure::usage(format!("{key} is {text:?}, which is not a plain http or https URL"))
            .hint("write for example https://arena.example, without user name, query or fragment")
    };
    let url = url::Url::parse(text).map_err(|_| wrong())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.host().is_some()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if plain { Ok(url) } else { Err(wrong()) }
}
