//! The server's address: the URL with limits on waiting, and TLS where the URL asks for it.

use std::{sync::Arc, time::Duration};

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio_postgres::{
    Client, Config, NoTls,
    config::{Host, SslMode, TargetSessionAttrs},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::OpenError;

const CONNECT_PATIENCE: Duration = Duration::from_secs(2);
/// Data that the server has not acknowledged for so long means that the connection is lost.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(10);
/// A statement of the catalog takes milliseconds; one that takes so long is stopped by the server.
pub(super) const STATEMENT_MS_MAX: u64 = 10_000;
const LOCK_MS_MAX: u64 = 5_000;
/// A frozen node holds its locks no longer than this.
const IDLE_IN_TRANSACTION_MS_MAX: u64 = 15_000;
/// Migration may rewrite a table, and waits for the other opener's turn.
const MIGRATION_LOCK_MS_MAX: u64 = 300_000;

pub(super) struct Address {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    /// Host, port and database: what may be shown.
    pub(super) shown: String,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, OpenError> {
        let failed = |cause: String| OpenError::Url { cause };
        let mut config: Config = url.parse().map_err(|error| failed(described(&error)))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(failed("it names no host".to_owned()));
        }
        if !url.contains("sslmode=") {
            config.ssl_mode(SslMode::Disable);
        }
        let tls = if config.get_ssl_mode() == SslMode::Disable {
            None
        } else {
            Some(tls().map_err(|error| failed(error.to_string()))?)
        };
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_PATIENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("arena");
        }
        config.tcp_user_timeout(UNACKNOWLEDGED_MAX);
        if config.get_hosts().len() > 1 {
            // Of a primary and its standbys, the one that takes writes.
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let shown = shown(&config);
        Ok(Self { config, tls, shown })
    }

    /// Connects for commands and reads.
    pub(super) async fn connect(&self) -> Result<(Client, Driver), tokio_postgres::Error> {
        self.connect_with(&format!(
            "-c statement_timeout={STATEMENT_MS_MAX} -c lock_timeout={LOCK_MS_MAX} \
             -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_MS_MAX}"
        ))
        .await
    }

    /// Connects to migrate, without a limit on a statement.
    pub(super) async fn connect_to_migrate(&self) -> Result<(Client, Driver), tokio_postgres::Error> {
        self.connect_with(&format!("-c statement_timeout=0 -c lock_timeout={MIGRATION_LOCK_MS_MAX}")).await
    }

    async fn connect_with(&self, limits: &str) -> Result<(Client, Driver), tokio_postgres::Error> {
        let mut config = self.config.clone();
        // Later settings win, so the limits hold over what the URL says.
        config.options(format!("{} {limits}", self.config.get_options().unwrap_or_default()));
        if let Some(tls) = &self.tls {
            let (client, connection) = config.connect(tls.clone()).await?;
            return Ok((client, tokio::spawn(connection)));
        }
        let (client, connection) = config.connect(NoTls).await?;
        Ok((client, tokio::spawn(connection)))
    }
}

/// The task that moves a connection's bytes.
pub(super) type Driver = tokio::task::JoinHandle<Result<(), tokio_postgres::Error>>;

fn tls() -> Result<MakeRustlsConnect, rustls::Error> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn shown(config: &Config) -> String {
    let hosts: Vec<_> = config
        .get_hosts()
        .iter()
        .map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        })
        .collect();
    let ports: Vec<_> = config.get_ports().iter().map(u16::to_string).collect();
    let port = if ports.is_empty() { "5432".to_owned() } else { ports.join(",") };
    format!("{}:{port}/{}", hosts.join(","), config.get_dbname().unwrap_or("(default)"))
}

/// An error with its causes, for the operator; the library's own text names only the outermost.
pub(super) fn described(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown_and_limits_are_set() {
        let address = Address::parse("postgres://me:hush@db.example:6432/arena").unwrap();
        assert_eq!(address.shown, "db.example:6432/arena");
        assert_eq!(address.config.get_ssl_mode(), SslMode::Disable);
        assert_eq!(address.config.get_connect_timeout(), Some(&CONNECT_PATIENCE));
        assert!(address.tls.is_none());
        let address = Address::parse("postgres://db.example/arena?sslmode=require").unwrap();
        assert!(address.tls.is_some());
    }

    #[test]
    fn unusable_urls_are_refused_without_their_password() {
        for url in ["postgres:///arena", "mysql://me:hush@h/x", "postgres://me:hush@h/x?sslmode=maybe"] {
            let Err(error) = Address::parse(url) else { panic!("{url} was taken") };
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }
}
