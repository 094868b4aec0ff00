//! Binds listeners, and says in words why one could not be bound.

use std::{io, net::SocketAddr};

use tokio::net::TcpListener;
use url::Url;

use crate::{
    config::model::{self, Http},
    failure::Failure,
};

/// Why a listener could not be bound.
pub(crate) enum Refused {
    Busy,
    Other(io::Error),
}

pub(crate) async fn bind(at: SocketAddr) -> Result<TcpListener, Refused> {
    TcpListener::bind(at).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Refused::Busy,
        _ => Refused::Other(error),
    })
}

/// The words for a listener that is needed. `key` and `flag` say how to choose another.
pub(crate) fn failure(refused: &Refused, at: SocketAddr, how: &str) -> Failure {
    match refused {
        Refused::Busy => {
            Failure::failed(format!("port {} on {} is in use by another program", at.port(), at.ip()))
                .hint(format!("stop that program, or choose another port with {how}"))
        }
        Refused::Other(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Failure::failed(format!("this user may not listen on port {}", at.port()))
                .hint(format!("choose a port of 1024 or above with {how}"))
        }
        Refused::Other(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
            Failure::failed(format!("{} is not an address of this machine", at.ip()))
                .hint(format!("choose one that is with {how}, for example 127.0.0.1:7878"))
        }
        Refused::Other(error) => Failure::failed(format!("cannot listen on {at}: {error}"))
            .hint(format!("choose another with {how}")),
    }
}

/// The address as a person would open it: a listener on every interface is reached by loopback.
pub(crate) fn openable(at: SocketAddr) -> String {
    match at.ip() {
        ip if ip.is_unspecified() && at.is_ipv4() => format!("http://127.0.0.1:{}", at.port()),
        ip if ip.is_unspecified() => format!("http://[::1]:{}", at.port()),
        _ => format!("http://{at}"),
    }
}

/// The address that the configuration names, else that of the listener.
pub(crate) fn public_url(http: &Http, bound: SocketAddr) -> Result<Url, Failure> {
    match &http.public_url {
        Some(url) => model::web_url("http.public_url", url),
        None => Url::parse(&openable(bound))
            .map_err(|error| Failure::failed(format!("the listener has no address: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unspecified_address_is_opened_by_loopback() {
        for (at, url) in [
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:80", "http://[::1]:80"),
            ("127.0.0.1:7878", "http://127.0.0.1:7878"),
            ("[::1]:7878", "http://[::1]:7878"),
        ] {
            assert_eq!(openable(at.parse().unwrap()), url);
        }
    }
}
