//! What the wiring passes in, and the limits of the HTTP side.

use std::{sync::Arc, time::Duration};

use kernel::{Fault, card::Card, id::Ids, operation::Product, principal::Principal, time::Clock, tx::Tx};
use store::{Store, limits::Limits};
use thiserror::Error;
use url::Url;

use crate::auth::SignIn;

/// Turns a bearer token into the caller, inside the transaction that also reads the state.
pub type Authenticate = Arc<dyn Fn(&mut dyn Tx, &str) -> Result<Principal, Fault> + Send + Sync>;

/// Called once for each answered request, after its answer is known.
pub type OnRequest = Arc<dyn Fn(&RequestSeen) + Send + Sync>;

/// Draws share cards. The doors decide when and keep what was drawn.
pub trait CardPress: Send + Sync {
    /// Names the picture of a card: the same for the same picture, another when it would look different.
    fn mark(&self, card: &Card) -> String;
    /// The picture as PNG. It may take long, and is called where waiting is allowed.
    fn draw(&self, card: &Card) -> Result<Vec<u8>, Fault>;
    /// Of every picture, in pixels.
    fn size(&self) -> [u32; 2];
}

/// Everything that the doors need.
pub struct DoorsConfig {
    pub store: Store,
    pub products: Vec<Product>,
    pub authenticate: Authenticate,
    pub limiter: Arc<Limits>,
    pub ids: Arc<dyn Ids>,
    /// Real time, the same source as the store's.
    pub clock: Arc<dyn Clock>,
    pub server: ServerName,
    /// The address that clients use, without a path: `https://arena.example`.
    pub public_url: Url,
    /// Host names beside the public one and loopback under which the server answers, without ports.
    pub allowed_hosts: Vec<String>,
    /// Browser origins beside the public one, for example `https://inspector.example`.
    pub allowed_origins: Vec<String>,
    /// Whether pages from a loopback origin may call: true for a listener on loopback.
    pub loopback_origins: bool,
    /// The product that answers at `/mcp`.
    pub root_mcp: String,
    pub limits: HttpLimits,
    /// Routes that are no operations: pages of products, streams, raw bodies. They get the request id,
    /// the host check, the time limit and the log line like all others.
    pub extra: axum::Router,
    /// Who draws share cards; without it there are none.
    pub cards: Option<Arc<dyn CardPress>>,
    /// How people sign in; without it there are keys only.
    pub sign_in: Option<SignIn>,
    pub on_request: Option<OnRequest>,
}

/// How the server names itself to MCP clients and on pages.
#[derive(Debug, Clone)]
pub struct ServerName {
    pub name: String,
    pub title: String,
    pub version: String,
}

/// Limits of the HTTP side; over one of them a request gets a clear error.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    pub header_bytes_max: usize,
    pub body_bytes_max: usize,
    pub json_depth_max: usize,
    pub request_time: Duration,
    /// Open connections; more wait in the listener's queue.
    pub connections_max: usize,
    /// Of them, from one address; a proxy on the same machine is not counted. More are closed.
    pub connections_of_address_max: usize,
    /// For a client to take the next part of an answer; who reads nothing holds a connection no longer.
    pub write_time: Duration,
    /// From an open connection to the end of the next request's header.
    pub header_time: Duration,
    /// For requests under way when the server is told to stop.
    pub drain_time: Duration,
    /// Commands waiting for the writer above which `/readyz` says no.
    pub ready_queue_max: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            header_bytes_max: 16 * 1024,
            body_bytes_max: 64 * 1024,
            json_depth_max: 32,
            request_time: Duration::from_secs(30),
            connections_max: 4096,
            connections_of_address_max: 1024,
            write_time: Duration::from_secs(20),
            header_time: Duration::from_mins(1),
            drain_time: Duration::from_secs(30),
            ready_queue_max: 2048,
        }
    }
}

/// Which door a request came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Door {
    Mcp,
    Rest,
    Public,
    Page,
    Health,
    /// No route took it.
    Nowhere,
}

impl Door {
    /// The name in log lines and metric labels.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Rest => "rest",
            Self::Public => "public",
            Self::Page => "page",
            Self::Health => "health",
            Self::Nowhere => "nowhere",
        }
    }
}

/// One answered request. Every label comes from a closed set, never from the caller.
#[derive(Debug, Clone, Copy)]
pub struct RequestSeen {
    pub door: Door,
    pub product: Option<&'static str>,
    /// The operation, public read or MCP method that answered.
    pub operation: Option<&'static str>,
    pub status: u16,
    /// The product's code of a refusal.
    pub code: Option<&'static str>,
    pub elapsed: Duration,
}

/// Why the doors cannot open.
#[derive(Debug, Error)]
pub enum WiringError {
    #[error("no product is named `{0}`; set http.root_mcp to one that exists")]
    UnknownRoot(String),
    #[error("the public URL {0} has no host; give one like https://arena.example")]
    PublicUrl(Url),
    #[error("the origin `{0}` is not a URL; give one like https://inspector.example")]
    Origin(String),
    #[error("two routes claim {0}; every path of a catalog is unique")]
    Path(String),
    #[error("the store cannot tell the time: {0}")]
    Clock(#[from] Fault),
    #[error("the example of {0} is not JSON; mend its documentation")]
    Example(&'static str),
}
