//! A connection that comes back: compiled statements of the present one, and the wait before the next.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use kernel::{Fault, tx::Sql};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Statement};

use super::address::{Address, Driver, described};
use crate::OpenError;

/// How long a command or query waits in all for a server that is away.
pub(super) const AWAY_PATIENCE: Duration = Duration::from_secs(5);
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_secs(1);
const GOODBYE_PATIENCE: Duration = Duration::from_secs(1);

/// One live connection.
pub(super) struct Link {
    pub(super) client: Client,
    driver: Driver,
    /// By the address of the statement.
    pub(super) compiled: HashMap<usize, Statement>,
    /// Sequences that are known to exist.
    pub(super) sequences: HashSet<&'static str>,
}

impl Link {
    pub(super) async fn compile(&mut self, sql: &'static Sql) -> Result<Statement, tokio_postgres::Error> {
        let key = std::ptr::from_ref(sql).addr();
        if let Some(statement) = self.compiled.get(&key) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql.text).await?;
        self.compiled.insert(key, statement.clone());
        Ok(statement)
    }
}

/// The place for a connection, empty while the server is away.
pub(super) struct Line<'s> {
    runtime: &'s Runtime,
    address: &'s Address,
    link: Option<Link>,
    backoff: Duration,
    next_try: Option<Instant>,
}

impl<'s> Line<'s> {
    pub(super) fn new(runtime: &'s Runtime, address: &'s Address) -> Self {
        Self { runtime, address, link: None, backoff: BACKOFF_FIRST, next_try: None }
    }

    /// The connection, made anew if need be, or a fault when that takes longer than `since` allows.
    pub(super) fn link(&mut self, since: Instant) -> Result<&mut Link, Fault> {
        let until = since + AWAY_PATIENCE;
        if self.link.as_ref().is_some_and(|link| link.client.is_closed()) {
            self.drop_link();
        }
        while self.link.is_none() {
            if let Some(next_try) = self.next_try {
                let now = Instant::now();
                if next_try > until.max(now) {
                    return Err(Fault::unavailable("PostgreSQL is away"));
                }
                std::thread::sleep(next_try.saturating_duration_since(now));
            }
            match self.runtime.block_on(self.address.connect()) {
                Ok((client, driver)) => {
                    (self.backoff, self.next_try) = (BACKOFF_FIRST, None);
                    let (compiled, sequences) = Default::default();
                    self.link = Some(Link { client, driver, compiled, sequences });
                }
                Err(error) => {
                    tracing::warn!(
                        server = self.address.shown,
                        cause = described(&error),
                        "PostgreSQL cannot be reached"
                    );
                    self.next_try = Some(Instant::now() + self.backoff);
                    self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
                }
            }
        }
        self.link.as_mut().ok_or_else(|| Fault::unavailable("PostgreSQL is away"))
    }

    /// Forgets a connection that cannot be trusted; the server rolls back what was open on it.
    pub(super) fn drop_link(&mut self) {
        if let Some(link) = self.link.take() {
            link.driver.abort();
        }
    }

    /// Ends the connection in good order.
    pub(super) fn hang_up(mut self) {
        if let Some(Link { client, driver, .. }) = self.link.take() {
            drop(client);
            let ended = self.runtime.block_on(async { tokio::time::timeout(GOODBYE_PATIENCE, driver).await });
            if ended.is_err() {
                tracing::debug!("a connection did not end in time");
            }
        }
    }
}

/// A runtime for one thread's connection.
pub(super) fn runtime() -> Result<Runtime, OpenError> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|cause| OpenError::Thread { cause })
}
