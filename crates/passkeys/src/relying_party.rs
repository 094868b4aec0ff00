//! This server as browsers know it, and both halves of both ceremonies.

use kernel::Fault;
use sha2::{Digest, Sha256};
use url::{Host, Url};
use uuid::Uuid;
use webauthn_rs::{
    Webauthn, WebauthnBuilder,
    prelude::{
        DiscoverableAuthentication, Passkey, PasskeyRegistration, PublicKeyCredential,
        RegisterPublicKeyCredential,
    },
};

use crate::Refused;

/// The server under the one name and origin at which its passkeys count.
pub struct RelyingParty {
    rules: Webauthn,
    name: String,
    address: String,
    /// Whether the server has this name beside the number that it is known by.
    is_alias: bool,
}

/// The first half of a ceremony.
#[derive(Debug, Clone)]
pub struct Asked {
    /// JSON for the browser.
    pub options: String,
    /// For the second half, kept where the browser does not reach.
    pub state: String,
}

/// A passkey that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// How authenticators call it.
    pub credential: Vec<u8>,
    /// What its signatures are checked with, and the counter of the last one.
    pub key: String,
}

/// Which passkey says that it signed, before anything is checked.
#[derive(Debug, Clone)]
pub struct Claim {
    pub credential: Vec<u8>,
    answer: PublicKeyCredential,
}

impl RelyingParty {
    /// `None` where browsers have no passkeys: they want a name, and https unless it is the same machine. A
    /// server known by a loopback address is also `localhost`.
    pub fn of(public_url: &Url, title: &str) -> Option<Self> {
        let mut origin = public_url.clone();
        let is_loopback = match origin.host()? {
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
            Host::Domain(_) => false,
        };
        if is_loopback {
            origin.set_host(Some("localhost")).ok()?;
        }
        let name = origin.domain()?.to_owned();
        let is_trusted = origin.scheme() == "https" || name == "localhost" || name.ends_with(".localhost");
        if !is_trusted {
            return None;
        }
        let builder = WebauthnBuilder::new(&name, &origin).ok()?.rp_name(title);
        let rules = builder.build().ok()?;
        Some(Self { rules, name, address: origin.origin().ascii_serialization(), is_alias: is_loopback })
    }

    /// Whether a page that was reached by this host can use passkeys. A server that has a name is always reached
    /// by it, whatever a proxy in between calls it.
    pub fn is_reached_by(&self, host: Option<&str>) -> bool {
        !self.is_alias || host.is_some_and(|host| host.eq_ignore_ascii_case(&self.name))
    }

    /// Where the page must be, for example `http://localhost:7878`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Asks for a new passkey of a person, on none of the authenticators that hold one of `known` already.
    pub fn ask_to_make(&self, person: &str, nickname: &str, known: Vec<Vec<u8>>) -> Result<Asked, Fault> {
        let (options, state) = self
            .rules
            .start_passkey_registration(handle(person), nickname, nickname, Some(known))
            .map_err(Fault::internal)?;
        let mut options = serde_json::to_value(options).map_err(Fault::internal)?;
        // Nobody types a nickname before signing in, so that the authenticator must remember whose passkey it is.
        let selection = &mut options["publicKey"]["authenticatorSelection"];
        selection["residentKey"] = "required".into();
        selection["requireResidentKey"] = true.into();
        Ok(Asked { options: options.to_string(), state: written(&state)? })
    }

    /// The passkey that was made as it was asked for.
    pub fn made(&self, state: &str, answer: &str) -> Result<Made, Refused> {
        let state: PasskeyRegistration = read(state)?;
        let answer: RegisterPublicKeyCredential =
            serde_json::from_str(answer).map_err(Refused::unreadable)?;
        let passkey =
            self.rules.finish_passkey_registration(&answer, &state).map_err(|error| Refused::of(&error))?;
        let key = written(&passkey).map_err(Refused::Answer)?;
        Ok(Made { credential: passkey.cred_id().clone(), key })
    }

    /// Asks for the signature of any passkey of this server.
    pub fn ask_to_sign(&self) -> Result<Asked, Fault> {
        let (options, state) = self.rules.start_discoverable_authentication().map_err(Fault::internal)?;
        let mut options = serde_json::to_value(options).map_err(Fault::internal)?;
        // The library offers these for a field that completes itself; here is a button.
        if let Some(options) = options.as_object_mut() {
            options.remove("mediation");
        }
        Ok(Asked { options: options.to_string(), state: written(&state)? })
    }

    /// Reads which passkey is meant.
    pub fn claim(answer: &str) -> Result<Claim, Refused> {
        let answer: PublicKeyCredential = serde_json::from_str(answer).map_err(Refused::unreadable)?;
        Ok(Claim { credential: answer.get_credential_id().to_vec(), answer })
    }

    /// Checks the signature of a passkey of a person; answers its key as it is to be kept from now on.
    pub fn used(&self, state: &str, claim: &Claim, person: &str, key: &str) -> Result<String, Refused> {
        let state: DiscoverableAuthentication = read(state)?;
        let mut passkey: Passkey = read(key)?;
        if claim.answer.get_user_unique_id() != Some(handle(person).as_bytes().as_slice()) {
            return Err(Refused::stranger());
        }
        let result = self
            .rules
            .finish_discoverable_authentication_v2(&claim.answer, state, &passkey)
            .map_err(|error| Refused::of(&error))?;
        passkey.update_credential(&result);
        written(&passkey).map_err(Refused::Answer)
    }
}

/// How authenticators call a person: nothing that anybody else could read.
fn handle(person: &str) -> Uuid {
    let digest = Sha256::digest(format!("arena passkey of\n{person}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(bytes)
}

fn written(value: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(Fault::internal)
}

/// Reads what we wrote ourselves.
fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Refused> {
    serde_json::from_str(text).map_err(|error| Refused::Answer(Fault::internal(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passkeys_need_a_name_that_browsers_trust() {
        for (url, at) in [
            ("https://arena.example/", Some("https://arena.example")),
            ("https://arena.example:8443/", Some("https://arena.example:8443")),
            ("http://localhost:7878/", Some("http://localhost:7878")),
            ("http://127.0.0.1:7878/", Some("http://localhost:7878")),
            ("http://[::1]:7878/", Some("http://localhost:7878")),
            ("http://arena.example/", None),
            ("http://192.168.1.2:7878/", None),
            ("https://192.168.1.2/", None),
        ] {
            let party = RelyingParty::of(&Url::parse(url).unwrap(), "Arena");
            assert_eq!(party.as_ref().map(RelyingParty::address), at, "{url}");
        }
    }

    #[test]
    fn a_number_is_not_the_name_beside_it() {
        let of = |url: &str| RelyingParty::of(&Url::parse(url).unwrap(), "Arena").unwrap();
        let (named, numbered) = (of("https://arena.example/"), of("http://127.0.0.1:7878/"));
        for (host, by_number) in [(Some("LocalHost"), true), (Some("127.0.0.1"), false), (None, false)] {
            assert!(named.is_reached_by(host));
            assert_eq!(numbered.is_reached_by(host), by_number, "{host:?}");
        }
    }

    #[test]
    fn every_person_has_a_handle_of_their_own() {
        assert_eq!(handle("a"), handle("a"));
        assert_ne!(handle("a"), handle("b"));
    }
}
