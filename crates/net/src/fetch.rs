//! One guarded request: checked address, one resolution, one pinned connection, a bounded body.

use std::{
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use reqwest::dns;
use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer};
use url::{Host, Url};

use crate::address::is_public;

/// The longest address.
pub const URL_CHARS_MAX: usize = 2048;
pub const CONNECT_TIME: Duration = Duration::from_secs(3);
/// From the look-up of the name to the last byte.
pub const TOTAL_TIME: Duration = Duration::from_secs(10);

/// Why nothing was fetched. Nothing here says which addresses a name has or what is at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error(
        "it is not an https address of at most {URL_CHARS_MAX} characters without user name and port; send such a one"
    )]
    BadAddress,
    /// Also for a name that nobody knows, so that nobody learns which names are known on the inside.
    #[error("its host is not known on the public internet; send an address that anybody can open")]
    NotPublic,
    #[error("its server could not be reached over TLS; check that the address opens in a browser")]
    Unreachable,
    #[error("its server redirects; send the address that it leads to")]
    Redirect,
    #[error("its server answered with the status {0}; send an address that answers with the file")]
    Status(u16),
    #[error("the file has more than {max} bytes; send a smaller one")]
    TooLarge { max: usize },
    #[error("its server took longer than {} seconds; send an address that answers faster", TOTAL_TIME.as_secs())]
    TooSlow,
    #[error("its server broke off; try again")]
    BrokenOff,
}

/// The addresses of a host, later.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Looks names up.
pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

struct System;

impl Resolve for System {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 443)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// What tests change: names, the addresses that may be connected to, the port, and whom to trust.
pub struct Policy {
    pub resolver: Arc<dyn Resolve>,
    pub allows: fn(IpAddr) -> bool,
    pub any_port: bool,
    /// A certificate in DER that is trusted beside the built-in ones.
    pub root: Option<Vec<u8>>,
}

/// Fetches from addresses that strangers name.
pub struct Fetcher {
    policy: Policy,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Fetcher {
    /// Public addresses, the standard port, the system's names.
    pub fn new() -> Self {
        Self::with(Policy { resolver: Arc::new(System), allows: is_public, any_port: false, root: None })
    }

    pub fn with(policy: Policy) -> Self {
        Self { policy }
    }

    /// The body at `url`, of at most `bytes_max` bytes.
    pub async fn fetch(&self, url: &str, bytes_max: usize) -> Result<Vec<u8>, FetchError> {
        let url = self.checked(url)?;
        match tokio::time::timeout(TOTAL_TIME, self.fetched(&url, bytes_max)).await {
            Ok(fetched) => fetched,
            Err(_elapsed) => Err(FetchError::TooSlow),
        }
    }

    fn checked(&self, text: &str) -> Result<Url, FetchError> {
        if text.chars().count() > URL_CHARS_MAX {
            return Err(FetchError::BadAddress);
        }
        let url = Url::parse(text).map_err(|_| FetchError::BadAddress)?;
        let plain = url.scheme() == "https"
            && url.username().is_empty()
            && url.password().is_none()
            && (self.policy.any_port || url.port().is_none());
        if plain && url.host().is_some() { Ok(url) } else { Err(FetchError::BadAddress) }
    }

    /// The one address that is connected to. One that is not public among several refuses them all: such
    /// an answer is an attack or a mistake.
    async fn pinned(&self, url: &Url) -> Result<SocketAddr, FetchError> {
        let port = url.port_or_known_default().unwrap_or(443);
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![address.into()],
            Some(Host::Ipv6(address)) => vec![address.into()],
            Some(Host::Domain(name)) => {
                self.policy.resolver.resolve(name).await.map_err(|_| FetchError::NotPublic)?
            }
            None => return Err(FetchError::BadAddress),
        };
        let Some(first) = addresses.first() else { return Err(FetchError::NotPublic) };
        if !addresses.iter().all(|address| (self.policy.allows)(*address)) {
            return Err(FetchError::NotPublic);
        }
        Ok(SocketAddr::new(*first, port))
    }

    async fn fetched(&self, url: &Url, bytes_max: usize) -> Result<Vec<u8>, FetchError> {
        let pinned = self.pinned(url).await?;
        // A client for this one request: its names, pools and cookies are nobody else's.
        let tls = trust(self.policy.root.as_deref()).map_err(|_| FetchError::Unreachable)?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .https_only(true)
            .referer(false)
            // Other crates may switch these on for the whole build.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .pool_max_idle_per_host(0)
            .connect_timeout(CONNECT_TIME)
            .timeout(TOTAL_TIME)
            .dns_resolver(Arc::new(Pinned(pinned)))
            .build()
            .map_err(|_| FetchError::Unreachable)?;
        let mut response = client.get(url.clone()).send().await.map_err(|error| reason(&error))?;
        // The pin is the library's promise; it is checked all the same.
        if response.remote_addr().is_none_or(|address| address.ip() != pinned.ip()) {
            return Err(FetchError::NotPublic);
        }
        let status = response.status();
        if status.is_redirection() {
            return Err(FetchError::Redirect);
        }
        if status.as_u16() != 200 {
            return Err(FetchError::Status(status.as_u16()));
        }
        let too_large = FetchError::TooLarge { max: bytes_max };
        let announced = response.content_length().map(usize::try_from);
        if announced.is_some_and(|length| length.map_or(true, |length| length > bytes_max)) {
            return Err(too_large);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| reason(&error))? {
            if body.len() + chunk.len() > bytes_max {
                return Err(too_large);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Answers every name with the one checked address, so that no other look-up can happen.
struct Pinned(SocketAddr);

impl dns::Resolve for Pinned {
    fn resolve(&self, _name: dns::Name) -> dns::Resolving {
        let only: dns::Addrs = Box::new(std::iter::once(self.0));
        Box::pin(std::future::ready(Ok(only)))
    }
}

/// The authorities that browsers trust, and `root`. They are built in, so that a container without
/// certificates fetches, too; a configuration of its own for each request resumes nobody's session.
fn trust(root: Option<&[u8]>) -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(root) = root {
        roots.add(CertificateDer::from(root))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

fn reason(error: &reqwest::Error) -> FetchError {
    if error.is_connect() {
        FetchError::Unreachable
    } else if error.is_timeout() {
        FetchError::TooSlow
    } else {
        FetchError::BrokenOff
    }
}
