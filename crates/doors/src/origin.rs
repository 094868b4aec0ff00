//! Which `Host` and `Origin` values are ours: the guard against DNS rebinding and foreign pages.
//!
//! Ports are not compared for hosts (a proxy or a forwarded port changes them); the name decides.

use http::{HeaderMap, Uri, header, uri::Authority};
use url::{Host, Url};

use crate::config::WiringError;

/// The names and origins under which the server answers.
pub(crate) struct Callers {
    hosts: Vec<String>,
    pages: Vec<url::Origin>,
    loopback_pages: bool,
}

impl Callers {
    pub(crate) fn new(
        public_url: &Url,
        hosts: &[String],
        origins: &[String],
        loopback_pages: bool,
    ) -> Result<Self, WiringError> {
        let Some(public_host) = public_url.host_str() else {
            return Err(WiringError::PublicUrl(public_url.clone()));
        };
        let mut pages = vec![public_url.origin()];
        for text in origins {
            let url = Url::parse(text).ok().filter(Url::has_host);
            pages.push(url.ok_or_else(|| WiringError::Origin(text.clone()))?.origin());
        }
        let hosts = std::iter::once(public_host.to_owned())
            .chain(hosts.iter().cloned())
            .map(|host| bare(&host).to_ascii_lowercase())
            .collect();
        Ok(Self { hosts, pages, loopback_pages })
    }

    /// Whether the request names one of our hosts.
    pub(crate) fn host_is_ours(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        host(uri, headers).is_some_and(|host| {
            is_loopback(host) || self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
        })
    }

    /// Whether a page of this origin may call us; a request without `Origin` comes from no page.
    pub(crate) fn origin_is_ours(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(header::ORIGIN).iter();
        let Some(value) = values.next() else { return true };
        if values.next().is_some() {
            return false;
        }
        let Some(url) = value.to_str().ok().and_then(|text| Url::parse(text).ok()) else { return false };
        let origin = url.origin();
        self.pages.contains(&origin)
            || (self.loopback_pages
                && matches!(url.scheme(), "http" | "https")
                && match url.host() {
                    Some(Host::Ipv4(ip)) => ip.is_loopback(),
                    Some(Host::Ipv6(ip)) => ip.is_loopback(),
                    Some(Host::Domain(name)) => name == "localhost",
                    None => false,
                })
    }
}

/// The name or the number by which a request calls us, without a port and brackets.
pub(crate) fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut values = headers.get_all(header::HOST).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return None;
    }
    let host = match (first, uri.authority()) {
        (Some(value), _) => value.to_str().ok().and_then(host_name),
        (None, Some(authority)) => Some(authority.host()),
        (None, None) => None,
    };
    host.map(bare)
}

/// The name in a `Host` header. The common forms are told apart without building an `Authority`.
fn host_name(value: &str) -> Option<&str> {
    let (name, port) = match value.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (value, "0"),
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let port_ok = port.parse::<u16>().is_ok();
    if port_ok && !name.is_empty() && name.bytes().all(plain) {
        return Some(name);
    }
    // Only a bracketed IPv6 address is left.
    let valid = port_ok && name.starts_with('[') && value.parse::<Authority>().is_ok();
    valid.then_some(name)
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1" || host == "::1"
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn callers(loopback: bool) -> Callers {
        let url = Url::parse("https://arena.example").unwrap();
        let (hosts, pages) = (["Other.example".to_owned()], ["https://inspector.example".to_owned()]);
        Callers::new(&url, &hosts, &pages, loopback).unwrap()
    }

    #[test]
    fn hosts_are_compared_by_name() {
        for (host, ours) in [
            ("arena.example", true),
            ("ARENA.example:8443", true),
            ("other.example", true),
            ("localhost:7878", true),
            ("127.0.0.1", true),
            ("[::1]:80", true),
            ("[::1]", true),
            ("evil.example", false),
            ("arena.example.evil.example", false),
            ("arena.example@evil.example", false),
            ("evil.example:80:arena.example", false),
            ("arena.example:99999", false),
            ("[::2]", false),
            ("", false),
            ("127.0.0.2", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            assert_eq!(callers(true).host_is_ours(&Uri::from_static("/x"), &headers), ours, "{host}");
        }
        assert!(!callers(true).host_is_ours(&Uri::from_static("/x"), &HeaderMap::new()), "no host at all");
        let mut twice = HeaderMap::new();
        twice.append(header::HOST, HeaderValue::from_static("localhost"));
        twice.append(header::HOST, HeaderValue::from_static("localhost"));
        assert!(!callers(true).host_is_ours(&Uri::from_static("/x"), &twice), "two hosts");
    }

    #[test]
    fn origins_are_compared_whole() {
        for (origin, on_loopback, in_public) in [
            ("https://arena.example", true, true),
            ("https://arena.example:443", true, true),
            ("https://arena.example:444", false, false),
            ("http://arena.example", false, false),
            ("https://inspector.example", true, true),
            ("http://localhost:6274", true, false),
            ("http://127.0.0.1:1", true, false),
            ("http://[::1]:1", true, false),
            ("http://localhost.evil.example", false, false),
            ("https://evil.example", false, false),
            ("null", false, false),
            ("", false, false),
            ("file://localhost", false, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            assert_eq!(callers(true).origin_is_ours(&headers), on_loopback, "{origin} on loopback");
            assert_eq!(callers(false).origin_is_ours(&headers), in_public, "{origin} in public");
        }
        assert!(callers(false).origin_is_ours(&HeaderMap::new()));
    }
}
