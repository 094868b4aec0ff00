//! Who a `client_id` is: a registration of ours, or a document on the web that describes the client
//! (Client ID Metadata Document).

use identity::oauth::clients::{self, Client, ID_PREFIX};
use kernel::{Fault, Kind};
use serde::Deserialize;
use url::Url;

use crate::{auth::Auth, body};

/// The longest document that is read.
pub(in crate::auth) const DOCUMENT_BYTES_MAX: usize = 64 * 1024;
const CLIENT_ID_CHARS_MAX: usize = 2_000;
const DOCUMENT_DEPTH_MAX: usize = 16;

/// What of a document counts; everything else is the client's own business.
#[derive(Debug, Deserialize)]
struct Document {
    client_id: String,
    #[serde(default)]
    client_name: Option<String>,
    redirect_uris: Vec<String>,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    client_secret: Option<serde_json::Value>,
    #[serde(default)]
    client_secret_expires_at: Option<serde_json::Value>,
}

pub(super) fn unknown() -> Fault {
    Fault::of(
        Kind::NotFound,
        "this client is not registered here, or not any more; the program has to register again (remove and add the server in it)",
    )
}

/// Whether an id may be that of a client; says nothing of whether it is one.
pub(super) fn is_document(id: &str) -> bool {
    id.starts_with("https://")
}

/// The client of an id. A document is fetched each time: its author may have taken an address back.
pub(in crate::auth) async fn find(auth: &Auth, id: &str) -> Result<Client, Fault> {
    if id.starts_with(ID_PREFIX) && id.len() <= CLIENT_ID_CHARS_MAX {
        let id = id.to_owned();
        return auth.house.store.read(move |tx| clients::get(tx, &id)).await?.ok_or_else(unknown);
    }
    check_id(id)?;
    let text = auth.config.documents.fetch(id, DOCUMENT_BYTES_MAX).await.map_err(|fault| {
        if fault.kind == Kind::Invalid {
            return Fault::invalid(format!("the client's document was not fetched: {}", fault.message));
        }
        fault
    })?;
    parse(id, &text)
}

/// What the draft asks of the address of a document.
fn check_id(id: &str) -> Result<(), Fault> {
    let refuse = |why: &str| {
        Err(Fault::invalid(format!(
            "client_id {why}; send the id of a registration here, or an https address of a client's metadata document"
        )))
    };
    if id.chars().count() > CLIENT_ID_CHARS_MAX || !is_document(id) {
        return refuse("is neither registered here nor an https address");
    }
    let Ok(url) = Url::parse(id) else { return refuse("is no address") };
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return refuse("has a user name or a fragment");
    }
    if url.path() == "/" || url.path().is_empty() {
        return refuse("has no path");
    }
    // A parser resolves dots; what was written must be what is fetched.
    if url.as_str() != id || id.split('/').any(|part| matches!(part, "." | "..")) {
        return refuse("is not written as it is fetched");
    }
    Ok(())
}

fn parse(id: &str, text: &[u8]) -> Result<Client, Fault> {
    let refuse =
        |why: &str| Fault::invalid(format!("the client's document {why}; its author has to mend it"));
    if body::is_deeper_than(text, DOCUMENT_DEPTH_MAX) {
        return Err(refuse("nests too deep"));
    }
    let document: Document =
        serde_json::from_slice(text).map_err(|_| refuse("is not JSON with client_id and redirect_uris"))?;
    if document.client_id != id {
        return Err(refuse("names another client_id than its own address"));
    }
    if document.client_secret.is_some() || document.client_secret_expires_at.is_some() {
        return Err(refuse("holds a secret, which everybody can read"));
    }
    if document.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
        return Err(refuse("asks for another token_endpoint_auth_method than none"));
    }
    Ok(Client {
        id: id.to_owned(),
        name: clients::name_of(document.client_name.as_deref())?,
        redirect_uris: clients::checked(&document.redirect_uris)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_as_they_are_fetched() {
        for (id, ok) in [
            ("https://client.example/oauth/client.json", true),
            ("https://client.example/a?b=c", true),
            ("http://client.example/a", false),
            ("https://client.example", false),
            ("https://client.example/", false),
            ("https://client.example/a/../b", false),
            ("https://client.example/a/./b", false),
            ("https://client.example/a#b", false),
            ("https://u@client.example/a", false),
            ("https://CLIENT.example/a", false),
            ("https://client.example:443/a", false),
            ("dcr", false),
            ("", false),
        ] {
            assert_eq!(check_id(id).is_ok(), ok, "{id}");
        }
    }

    #[test]
    fn a_document_is_of_its_own_address() {
        const ID: &str = "https://client.example/c.json";
        let good = format!(
            r#"{{"client_id":"{ID}","client_name":"C","redirect_uris":["http://127.0.0.1/cb"],"more":1}}"#
        );
        let client = parse(ID, good.as_bytes()).unwrap();
        assert_eq!((client.name.as_str(), client.is_local()), ("C", true));
        for bad in [
            good.replace(ID, "https://other.example/c.json"),
            good.replace("\"more\":1", "\"client_secret\":\"x\""),
            good.replace("\"more\":1", "\"token_endpoint_auth_method\":\"client_secret_basic\""),
            good.replace("http://127.0.0.1/cb", "http://evil.example/cb"),
            good.replace("[\"http://127.0.0.1/cb\"]", "[]"),
            "<html>".to_owned(),
            "[".repeat(100),
        ] {
            assert!(parse(ID, bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
