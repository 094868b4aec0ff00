//! One request to a provider: a safe address, no redirect, no proxy, a deadline, a limit on the answer. What is asked
//! and what the answer means is not here.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use http::{Request, Response, StatusCode};
use openidconnect::AsyncHttpClient;
use reqwest::Client;
use rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use crate::{
    error::{Part, UpstreamError},
    provider::SetupError,
};

/// From the look-up of the name to the last byte.
pub const TIME_MAX: Duration = Duration::from_secs(10);
/// The largest answer.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// GitHub answers nobody without a name.
const USER_AGENT: &str = "arena";

/// Whether secrets may travel to an address: over TLS, or within this machine.
pub(crate) fn is_safe(url: &Url) -> bool {
    let loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return false,
    };
    let plain = url.username().is_empty() && url.password().is_none();
    plain && (url.scheme() == "https" || (url.scheme() == "http" && loopback))
}

#[derive(Clone)]
pub(crate) struct Http {
    client: Client,
}

impl Http {
    pub(crate) fn open() -> Result<Self, SetupError> {
        let client = Client::builder()
            .tls_backend_preconfigured(trust()?)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .user_agent(USER_AGENT)
            // Other crates may switch these on for the whole build, and a limit on what was inflated is none.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .timeout(TIME_MAX)
            .build()
            .map_err(|_| SetupError::Tls)?;
        Ok(Self { client })
    }

    /// The answer of a status below 500. Redirects are errors, because each of these addresses is final.
    pub(crate) async fn send(
        &self,
        part: Part,
        request: Request<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, UpstreamError> {
        let url = Url::parse(&request.uri().to_string()).map_err(|_| UpstreamError::Insecure(part))?;
        if !is_safe(&url) {
            return Err(UpstreamError::Insecure(part));
        }
        let request = reqwest::Request::try_from(request).map_err(|_| UpstreamError::Nonsense(part))?;
        let mut answer = self.client.execute(request).await.map_err(|error| reason(part, &error))?;
        let status = answer.status();
        if status.is_redirection() {
            return Err(UpstreamError::Redirect(part));
        }
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(UpstreamError::Status(part, status.as_u16()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| reason(part, &error))? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(UpstreamError::TooLarge(part));
            }
            body.extend_from_slice(&chunk);
        }
        let mut whole = Response::new(body);
        *whole.status_mut() = status;
        *whole.headers_mut() = std::mem::take(answer.headers_mut());
        Ok(whole)
    }

    /// The body at an address that answers with 200.
    pub(crate) async fn get(&self, part: Part, url: &str) -> Result<Vec<u8>, UpstreamError> {
        let request = Request::get(url).header(http::header::ACCEPT, "application/json").body(Vec::new());
        let answer = self.send(part, request.map_err(|_| UpstreamError::Insecure(part))?).await?;
        whole(part, answer)
    }
}

/// The body of an answer that has the status 200.
pub(crate) fn whole(part: Part, answer: Response<Vec<u8>>) -> Result<Vec<u8>, UpstreamError> {
    match answer.status() {
        StatusCode::OK => Ok(answer.into_body()),
        other => Err(UpstreamError::Status(part, other.as_u16())),
    }
}

/// The same client as the library of the protocol wants it, for one part.
pub(crate) struct Asking<'a> {
    pub(crate) http: &'a Http,
    pub(crate) part: Part,
}

impl<'c> AsyncHttpClient<'c> for Asking<'_> {
    type Error = UpstreamError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Vec<u8>>, UpstreamError>> + Send + 'c>>;

    fn call(&'c self, request: Request<Vec<u8>>) -> Self::Future {
        Box::pin(self.http.send(self.part, request))
    }
}

fn reason(part: Part, error: &reqwest::Error) -> UpstreamError {
    if error.is_timeout() { UpstreamError::TooSlow(part) } else { UpstreamError::Unreachable(part) }
}

/// The authorities that browsers trust, built in, so that a container without certificates signs people in; and those
/// of this machine, because an issuer on the inside has its certificate from the house's own.
fn trust() -> Result<ClientConfig, SetupError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| SetupError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_sent_where_anybody_can_read_it() {
        let http = Http::open().unwrap();
        for url in ["http://id.example/jwks", "ftp://127.0.0.1/jwks", "/jwks", "https://"] {
            assert_eq!(http.get(Part::Keys, url).await, Err(UpstreamError::Insecure(Part::Keys)), "{url}");
        }
    }
}
