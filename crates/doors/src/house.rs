//! What all doors share while the server runs.

use std::sync::Arc;

use kernel::{
    Moment,
    id::Ids,
    operation::{Entry, Product},
};
use store::{
    Store,
    limits::{Limits, Windows},
};

use crate::{
    clock::ArenaClock,
    config::{Authenticate, DoorsConfig, HttpLimits, OnRequest, ServerName, WiringError},
    origin::Callers,
    web::{cards::Cards, health::Readiness, live::Hub, seats::Seats},
};

/// A product with what is computed from it once.
pub(crate) struct Mounted {
    pub(crate) product: Product,
    pub(crate) windows: Windows,
}

pub(crate) struct House {
    pub(crate) store: Store,
    pub(crate) products: Vec<Mounted>,
    pub(crate) authenticate: Authenticate,
    pub(crate) limiter: Arc<Limits>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) server: ServerName,
    /// Without a trailing slash.
    pub(crate) public_url: String,
    pub(crate) callers: Callers,
    /// Index of the product that answers at `/mcp`.
    pub(crate) root: usize,
    pub(crate) limits: HttpLimits,
    pub(crate) on_request: Option<OnRequest>,
    pub(crate) live: Hub,
    /// Of the streams, by account.
    pub(crate) streams: Seats<String>,
    pub(crate) readiness: Readiness,
    /// Share cards, if somebody draws them.
    pub(crate) cards: Option<Cards>,
    /// Whether people can sign in here.
    pub(crate) has_accounts: bool,
    clock: ArenaClock,
}

impl House {
    pub(crate) fn new(config: DoorsConfig) -> Result<Self, WiringError> {
        let callers = Callers::new(
            &config.public_url,
            &config.allowed_hosts,
            &config.allowed_origins,
            config.loopback_origins,
        )?;
        let root = config
            .products
            .iter()
            .position(|product| product.name == config.root_mcp)
            .ok_or(WiringError::UnknownRoot(config.root_mcp))?;
        let products = config
            .products
            .into_iter()
            .map(|product| Mounted { windows: Windows::from_budget(product.budget), product })
            .collect();
        let clock = ArenaClock::new(config.store.clone(), config.clock)?;
        Ok(Self {
            store: config.store,
            products,
            authenticate: config.authenticate,
            limiter: config.limiter,
            ids: config.ids,
            server: config.server,
            public_url: config.public_url.as_str().trim_end_matches('/').to_owned(),
            callers,
            root,
            limits: config.limits,
            on_request: config.on_request,
            live: Hub::new(),
            streams: Seats::default(),
            readiness: Readiness::default(),
            cards: config.cards.map(Cards::new),
            has_accounts: config.sign_in.is_some(),
            clock,
        })
    }

    /// Where people get keys, for whoever has none.
    pub(crate) fn source_of_keys(&self) -> String {
        if self.has_accounts {
            format!("{}/account/keys", self.public_url)
        } else {
            "the operator of this server".to_owned()
        }
    }

    /// Arena time for an answer that no transaction dates.
    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// How many real seconds are enough for so many Arena seconds.
    pub(crate) fn real_seconds(&self, arena_seconds: i64) -> i64 {
        self.clock.real_seconds(arena_seconds)
    }

    /// The speed of Arena time as text, when it is not that of real time.
    pub(crate) fn clock_speed(&self) -> Option<String> {
        self.clock.speed()
    }

    pub(crate) fn entry(&self, product: usize, entry: usize) -> &Entry {
        &self.products[product].product.operations[entry]
    }
}
