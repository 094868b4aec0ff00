//! Clients that registered themselves (RFC 7591), and which addresses a client may be sent back to.

use std::net::IpAddr;

use kernel::{
    Fault, Kind,
    id::Ids,
    tx::{Row, Tx},
};
use url::{Host, Url};

kernel::statements! {
    ADD = "INSERT INTO oauth_client (id, name, redirect_uris, created_ms, used_ms) VALUES ($1, $2, $3, $4, $4)";
    GET = "SELECT id, name, redirect_uris FROM oauth_client WHERE id = $1";
    USE = "UPDATE oauth_client SET used_ms = $2 WHERE id = $1 AND used_ms < $3";
    COUNT = "SELECT COUNT(*) FROM oauth_client";
    UNUSED = "DELETE FROM oauth_client WHERE used_ms < $1 AND NOT EXISTS (SELECT 1 FROM oauth_grant g WHERE g.client = oauth_client.id)";
}

/// Registered ids begin so; everything else is a document on the web.
pub const ID_PREFIX: &str = "dcr_";
/// Clients that may be registered at once.
pub const CLIENTS_MAX: i64 = 10_000;
/// A client that nobody ever allowed anything is forgotten after so long.
pub const UNUSED_MS: i64 = 90 * 24 * 3_600_000;
pub const NAME_CHARS_MAX: usize = 100;
pub const REDIRECT_URIS_MAX: usize = 10;
pub const REDIRECT_URI_CHARS_MAX: usize = 2_000;
/// How often the use of a client is written down at most.
const USED_EVERY_MS: i64 = 24 * 3_600_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub id: String,
    /// What the client calls itself; untrusted.
    pub name: String,
    pub redirect_uris: Vec<String>,
}

impl Client {
    /// A registration, checked.
    pub fn draw(ids: &dyn Ids, name: Option<&str>, redirect_uris: &[String]) -> Result<Self, Fault> {
        Ok(Self {
            id: format!("{ID_PREFIX}{}", ids.slug()),
            name: name_of(name)?,
            redirect_uris: checked(redirect_uris)?,
        })
    }

    /// Whether the client may be sent back to `uri`: one of its own, character by character; for a
    /// loopback address the port is free, because a program takes whichever it gets (RFC 8252, 7.3).
    pub fn allows(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|own| own == uri)
            || loopback_without_port(uri).is_some_and(|asked| {
                self.redirect_uris.iter().filter_map(|own| loopback_without_port(own)).any(|own| own == asked)
            })
    }

    /// Whether it can only be sent back to the person's own machine, where any program may listen.
    pub fn is_local(&self) -> bool {
        self.redirect_uris.iter().all(|uri| loopback_without_port(uri).is_some())
    }
}

/// The name that people are shown: of plain characters, never empty.
pub fn name_of(name: Option<&str>) -> Result<String, Fault> {
    let name = kernel::text::shown_only(name.unwrap_or_default());
    let name = name.trim();
    match name.chars().count() {
        0 => Ok("A program without a name".to_owned()),
        1..=NAME_CHARS_MAX => Ok(name.to_owned()),
        _ => Err(Fault::invalid(format!(
            "client_name has more than {NAME_CHARS_MAX} characters; send a shorter one"
        ))),
    }
}

/// Redirect addresses as a client may register them: https, loopback http, or a scheme of an app of its own.
pub fn checked(uris: &[String]) -> Result<Vec<String>, Fault> {
    if uris.is_empty() || uris.len() > REDIRECT_URIS_MAX {
        return Err(Fault::invalid(format!(
            "redirect_uris takes 1 to {REDIRECT_URIS_MAX} addresses; send so many"
        )));
    }
    for uri in uris {
        check_redirect(uri)?;
    }
    Ok(uris.to_vec())
}

fn check_redirect(uri: &str) -> Result<(), Fault> {
    let refuse = |why: &str| {
        Err(Fault::invalid(format!(
            "a redirect_uri {why}; send https://…, http://127.0.0.1/… or an address of your app's own scheme"
        )))
    };
    if uri.chars().count() > REDIRECT_URI_CHARS_MAX || !uri.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refuse("is too long or holds characters that an address has not");
    }
    let Ok(url) = Url::parse(uri) else { return refuse("is no address") };
    if url.fragment().is_some() || uri.contains('#') {
        return refuse("has a fragment");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("has a user name");
    }
    match url.scheme() {
        "https" if url.has_host() => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        "http" => refuse("is plain http to another machine"),
        // A page of the browser's own, a script, a file: none of them is a program that waits for a code.
        "javascript" | "data" | "file" | "blob" | "about" | "ws" | "wss" | "ftp" | "mailto" | "vbscript" => {
            refuse("has a scheme that no app owns")
        }
        scheme if scheme.contains('.') || scheme.len() >= 4 => Ok(()),
        _ => refuse("has a scheme that no app owns"),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// A loopback address without its port, for comparison; `None` for any other.
fn loopback_without_port(uri: &str) -> Option<Url> {
    let mut url = Url::parse(uri).ok().filter(|url| url.scheme() == "http" && is_loopback(url))?;
    // What names a user or a fragment is no address of a client.
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return None;
    }
    url.set_port(None).ok()?;
    Some(url)
}

pub fn insert(tx: &mut dyn Tx, client: &Client) -> Result<(), Fault> {
    let count = tx.row(&COUNT, &[])?.map_or(Ok(0), |row| row.i64(0))?;
    if count >= CLIENTS_MAX {
        return Err(Fault::of(
            Kind::Unavailable,
            "as many clients are registered as this server keeps; use a Client ID Metadata Document instead",
        ));
    }
    let real = tx.real_ms();
    let uris = serde_json::to_string(&client.redirect_uris).map_err(Fault::internal)?;
    tx.exec(&ADD, &[(&client.id).into(), (&client.name).into(), uris.into(), real.into()]).map(|_| ())
}

pub fn get(tx: &mut dyn Tx, id: &str) -> Result<Option<Client>, Fault> {
    let client = |row: &Row| {
        Ok(Client {
            id: row.text(0)?,
            name: row.text(1)?,
            redirect_uris: serde_json::from_str(&row.text(2)?).map_err(Fault::internal)?,
        })
    };
    tx.row(&GET, &[id.into()])?.as_ref().map(client).transpose()
}

/// Writes down that a client was used, at most once a day.
pub fn used(tx: &mut dyn Tx, id: &str) -> Result<(), Fault> {
    let real = tx.real_ms();
    tx.exec(&USE, &[id.into(), real.into(), (real - USED_EVERY_MS).into()]).map(|_| ())
}

/// Forgets clients that nobody allowed anything; answers how many.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&UNUSED, &[(real - UNUSED_MS).into()])
}

#[cfg(test)]
mod tests {
    use kernel::id::SeededIds;

    use super::*;

    fn client(uris: &[&str]) -> Result<Client, Fault> {
        let uris: Vec<String> = uris.iter().map(|uri| (*uri).to_owned()).collect();
        Client::draw(&SeededIds::new(1), Some("A client"), &uris)
    }

    #[test]
    fn only_addresses_of_programs_are_registered() {
        for (uri, ok) in [
            ("https://client.example/callback", true),
            ("https://client.example/callback?x=1", true),
            ("http://127.0.0.1:33418/callback", true),
            ("http://[::1]/callback", true),
            ("http://localhost:1/", true),
            ("cursor://anysphere.cursor-retrieval/oauth/callback", true),
            ("com.example.app:/callback", true),
            ("http://client.example/callback", false),
            ("http://127.0.0.1.evil.example/", false),
            ("http://localhost.evil.example/", false),
            ("https://user@client.example/", false),
            ("https://client.example/#part", false),
            ("https://client.example/#", false),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("file:///etc/passwd", false),
            ("https://", false),
            ("/callback", false),
            ("https://client.example/a b", false),
            ("https://client.example/\u{e9}", false),
            ("", false),
        ] {
            assert_eq!(client(&[uri]).is_ok(), ok, "{uri}");
        }
        assert!(client(&[]).is_err());
        assert!(client(&["https://c.example/"; 11]).is_err());
    }

    #[test]
    fn addresses_are_compared_whole_and_ports_of_loopback_are_free() {
        let local = client(&["http://127.0.0.1/callback", "https://client.example/callback"]).unwrap();
        for (uri, ok) in [
            ("http://127.0.0.1/callback", true),
            ("http://127.0.0.1:1/callback", true),
            ("http://127.0.0.1:65535/callback", true),
            ("http://127.0.0.1:1/callback/", false),
            ("http://127.0.0.1:1/callback?x=1", false),
            ("http://127.0.0.1:1/callback#x", false),
            ("http://user@127.0.0.1:1/callback", false),
            ("http://localhost:1/callback", false),
            ("https://127.0.0.1:1/callback", false),
            ("https://client.example/callback", true),
            ("https://client.example:443/callback", false),
            ("https://client.example/callback/../callback", false),
            ("https://client.example/callback?x=1", false),
            ("https://evil.example/callback", false),
        ] {
            assert_eq!(local.allows(uri), ok, "{uri}");
        }
        assert!(!local.is_local());
        assert!(client(&["http://localhost/a", "http://[::1]:9/b"]).unwrap().is_local());
    }

    #[test]
    fn names_are_for_eyes() {
        assert_eq!(name_of(None).unwrap(), "A program without a name");
        assert_eq!(name_of(Some("\u{202e} \u{200b}")).unwrap(), "A program without a name");
        assert_eq!(name_of(Some("  Claude Code ")).unwrap(), "Claude Code");
        assert!(name_of(Some(&"x".repeat(101))).is_err());
    }
}
