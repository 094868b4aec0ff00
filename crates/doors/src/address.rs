//! One server, several names: on loopback `localhost` and the number lead to the same place, and a client compares
//! what it is answered with the address that it was given, letter by letter.

use http::{HeaderMap, Uri, header};
use url::Url;

/// The public address, under the name by which the request called it if that is the same place.
pub(crate) fn as_called(public_url: &str, uri: &Uri, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let called = host
        .or_else(|| uri.authority().map(http::uri::Authority::as_str))
        .and_then(|host| Url::parse(&format!("http://{host}")).ok())
        .filter(|called| called.path() == "/" && called.query().is_none() && called.fragment().is_none());
    let ours = Url::parse(public_url).ok();
    match (called, ours) {
        (Some(called), Some(ours)) if is_same(&ours, &called) => {
            format!("{}{}", called.as_str().trim_end_matches('/'), ours.path().trim_end_matches('/'))
        }
        _ => public_url.to_owned(),
    }
}

/// An address of ours as we write it, without a slash at the end; one of somewhere else stays as it is.
pub(crate) fn as_ours(public_url: &str, address: &str) -> String {
    let address = address.strip_suffix('/').unwrap_or(address);
    let (Ok(ours), Ok(mut named)) = (Url::parse(public_url), Url::parse(address)) else {
        return address.to_owned();
    };
    if is_same(&ours, &named) && named.set_host(ours.host_str()).is_ok() {
        return named.into();
    }
    address.to_owned()
}

/// Whether both are one place: the same host, or `localhost` and a number of loopback. The port counts: another one is another server,
/// and a token for us must not be given to it.
fn is_same(ours: &Url, other: &Url) -> bool {
    let plain = |url: &Url| url.username().is_empty() && url.password().is_none();
    let hosts = (ours.host_str().unwrap_or_default(), other.host_str().unwrap_or_default());
    let same_host = match hosts {
        ("localhost", number) | (number, "localhost") => {
            matches!(number, "localhost" | "127.0.0.1" | "[::1]")
        }
        (one, two) => one == two,
    };
    ours.scheme() == "http"
        && other.scheme() == "http"
        && same_host
        && ours.port_or_known_default() == other.port_or_known_default()
        && plain(other)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const NUMBER: &str = "http://127.0.0.1:7878";
    const NAME: &str = "http://localhost:7878";

    #[test]
    fn an_answer_names_the_address_that_was_called() {
        for (public, host, told) in [
            (NUMBER, "127.0.0.1:7878", NUMBER),
            (NUMBER, "localhost:7878", NAME),
            (NUMBER, "LocalHost:7878", NAME),
            (NAME, "127.0.0.1:7878", NUMBER),
            ("http://[::1]:7878", "localhost:7878", NAME),
            ("http://127.0.0.1:80", "localhost", "http://localhost"),
            // Another port, number, name or scheme is another place.
            (NUMBER, "localhost:7879", NUMBER),
            (NUMBER, "localhost", NUMBER),
            (NUMBER, "[::1]:7878", NUMBER),
            (NUMBER, "localhost.evil.example:7878", NUMBER),
            (NUMBER, "a@localhost:7878", NUMBER),
            (NUMBER, "localhost:7878/x", NUMBER),
            (NUMBER, "localhost:7878?x", NUMBER),
            ("https://arena.example", "localhost", "https://arena.example"),
            ("http://arena.example", "localhost", "http://arena.example"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
            assert_eq!(as_called(public, &Uri::from_static("/x"), &headers), told, "{public} {host}");
        }
        let authority = Uri::from_static("http://localhost:7878/x");
        assert_eq!(as_called(NUMBER, &authority, &HeaderMap::new()), NAME);
    }

    #[test]
    fn what_a_client_names_is_kept_as_we_write_it() {
        for (named, ours) in [
            ("http://localhost:7878/duels/mcp", "http://127.0.0.1:7878/duels/mcp"),
            ("http://127.0.0.1:7878/duels/mcp", "http://127.0.0.1:7878/duels/mcp"),
            ("http://localhost:7879/duels/mcp", "http://localhost:7879/duels/mcp"),
            ("https://localhost:7878/duels/mcp", "https://localhost:7878/duels/mcp"),
            ("http://localhost.evil.example:7878/mcp", "http://localhost.evil.example:7878/mcp"),
            ("http://a@localhost:7878/mcp", "http://a@localhost:7878/mcp"),
            ("http://localhost:7878/mcp?x", "http://127.0.0.1:7878/mcp?x"),
            ("no address", "no address"),
        ] {
            assert_eq!(as_ours(NUMBER, named), ours, "{named}");
        }
        assert_eq!(as_ours("https://arena.example", "http://localhost/mcp"), "http://localhost/mcp");
    }
}
