//! What an issuer says of itself: its document and its keys, checked and kept for a while.

use std::sync::Arc;

use kernel::Moment;
use openidconnect::core::{CoreJsonWebKeySet, CoreJwsSigningAlgorithm};
use serde::Deserialize;
use url::Url;

use crate::{
    cached::Cached,
    error::{Part, UpstreamError},
    http::{Http, is_safe},
    provider::under,
};

/// How long document and keys are kept.
pub const DISCOVERY_MS: i64 = 60 * 60_000;
/// The pause between two looks for a key that is not among those kept.
pub const KEYS_RENEWED_MS: i64 = 60_000;

/// What is read of the document. Everything else in it is for others.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    id_token_signing_alg_values_supported: Option<Vec<String>>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// The document after its checks.
pub(crate) struct Discovery {
    pub(crate) authorize: String,
    pub(crate) token: String,
    keys: String,
    /// Those of the issuer that are signatures by a key pair.
    pub(crate) algorithms: Vec<CoreJwsSigningAlgorithm>,
    /// Whether the secret goes into the form, because the issuer does not take it as a header.
    pub(crate) secret_in_form: bool,
    /// RFC 9207: whether every answer names the issuer.
    pub(crate) names_itself: bool,
}

pub(crate) struct Issuer {
    /// Exactly what it calls itself.
    pub(crate) name: String,
    http: Http,
    document: Cached<Discovery>,
    keys: Cached<CoreJsonWebKeySet>,
}

impl Issuer {
    pub(crate) fn new(name: String, http: Http) -> Self {
        Self { name, http, document: Cached::new(DISCOVERY_MS), keys: Cached::new(DISCOVERY_MS) }
    }

    pub(crate) async fn discovery(&self, now: Moment) -> Result<Arc<Discovery>, UpstreamError> {
        let fetch = async || {
            let url = under(&self.name, ".well-known/openid-configuration");
            Discovery::read(&self.name, &self.http.get(Part::Discovery, &url).await?)
        };
        self.document.get(now, fetch).await
    }

    pub(crate) async fn keys(
        &self,
        now: Moment,
        discovery: &Discovery,
    ) -> Result<Arc<CoreJsonWebKeySet>, UpstreamError> {
        self.keys.get(now, async || self.fetch_keys(discovery).await).await
    }

    /// Keys after a rotation, if it is time to look.
    pub(crate) async fn newer_keys(
        &self,
        now: Moment,
        discovery: &Discovery,
        seen: &Arc<CoreJsonWebKeySet>,
    ) -> Result<Option<Arc<CoreJsonWebKeySet>>, UpstreamError> {
        self.keys.renew(now, seen, KEYS_RENEWED_MS, async || self.fetch_keys(discovery).await).await
    }

    async fn fetch_keys(&self, discovery: &Discovery) -> Result<CoreJsonWebKeySet, UpstreamError> {
        let body = self.http.get(Part::Keys, &discovery.keys).await?;
        serde_json::from_slice(&body).map_err(|_| UpstreamError::Nonsense(Part::Keys))
    }
}

impl Discovery {
    fn read(issuer: &str, body: &[u8]) -> Result<Self, UpstreamError> {
        let document: Document =
            serde_json::from_slice(body).map_err(|_| UpstreamError::Nonsense(Part::Discovery))?;
        if document.issuer != issuer {
            return Err(UpstreamError::ForeignDiscovery);
        }
        // A browser is sent to the first one; the others get secrets.
        for address in [&document.authorization_endpoint, &document.token_endpoint, &document.jwks_uri] {
            let url = Url::parse(address).map_err(|_| UpstreamError::Nonsense(Part::Discovery))?;
            if !is_safe(&url) {
                return Err(UpstreamError::Insecure(Part::Discovery));
            }
        }
        let named = document.id_token_signing_alg_values_supported;
        let algorithms: Vec<_> = match &named {
            Some(names) => names.iter().filter_map(|name| algorithm(name)).collect(),
            None => algorithm("RS256").into_iter().collect(),
        };
        if algorithms.is_empty() {
            return Err(UpstreamError::ForbiddenAlgorithm);
        }
        // Absent means the header, says the specification.
        let methods = document.token_endpoint_auth_methods_supported.unwrap_or_default();
        let takes = |name: &str| methods.iter().any(|method| method == name);
        Ok(Self {
            authorize: document.authorization_endpoint,
            token: document.token_endpoint,
            keys: document.jwks_uri,
            algorithms,
            secret_in_form: takes("client_secret_post") && !takes("client_secret_basic"),
            names_itself: document.authorization_response_iss_parameter_supported,
        })
    }
}

/// The signatures that prove something here. `none` proves nothing, and with HS256 whoever checks can also sign.
fn algorithm(name: &str) -> Option<CoreJwsSigningAlgorithm> {
    Some(match name {
        "RS256" => CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
        "RS384" => CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
        "RS512" => CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
        "PS256" => CoreJwsSigningAlgorithm::RsaSsaPssSha256,
        "PS384" => CoreJwsSigningAlgorithm::RsaSsaPssSha384,
        "PS512" => CoreJwsSigningAlgorithm::RsaSsaPssSha512,
        "ES256" => CoreJwsSigningAlgorithm::EcdsaP256Sha256,
        "ES384" => CoreJwsSigningAlgorithm::EcdsaP384Sha384,
        "EdDSA" => CoreJwsSigningAlgorithm::EdDsa,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ISSUER: &str = "https://id.example";

    fn read(change: impl FnOnce(&mut Value)) -> Result<Discovery, UpstreamError> {
        let mut document = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example/auth",
            "token_endpoint": "https://id.example/token",
            "jwks_uri": "https://keys.example/jwks",
        });
        change(&mut document);
        Discovery::read(ISSUER, document.to_string().as_bytes())
    }

    #[test]
    fn what_is_absent_is_what_the_specification_says() {
        let discovery = read(|_| {}).unwrap();
        assert_eq!(discovery.algorithms, [CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256]);
        assert!(!discovery.secret_in_form && !discovery.names_itself);
    }

    #[test]
    fn what_the_issuer_can_is_used() {
        let discovery = read(|document| {
            document["id_token_signing_alg_values_supported"] = json!(["none", "HS256", "ES256", "ES256K"]);
            document["token_endpoint_auth_methods_supported"] = json!(["client_secret_post"]);
            document["authorization_response_iss_parameter_supported"] = json!(true);
        })
        .unwrap();
        assert_eq!(discovery.algorithms, [CoreJwsSigningAlgorithm::EcdsaP256Sha256]);
        assert!(discovery.secret_in_form && discovery.names_itself);
    }

    #[test]
    fn a_document_that_cannot_be_trusted_is_refused() {
        let error = |change: fn(&mut Value)| read(change).err().unwrap();
        assert_eq!(error(|d| d["issuer"] = json!("https://id.example/")), UpstreamError::ForeignDiscovery);
        for name in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
            let refused = |address: &str| read(|d| d[name] = json!(address)).err();
            let insecure = Some(UpstreamError::Insecure(Part::Discovery));
            for address in ["http://id.example/x", "javascript:alert(1)", "https://a:b@id.example/x"] {
                assert_eq!(refused(address), insecure, "{name} {address}");
            }
            assert_eq!(refused("/x"), Some(UpstreamError::Nonsense(Part::Discovery)));
        }
        let only_shared =
            |d: &mut Value| d["id_token_signing_alg_values_supported"] = json!(["HS256", "none"]);
        assert_eq!(error(only_shared), UpstreamError::ForbiddenAlgorithm);
        let missing = |d: &mut Value| drop(d.as_object_mut().unwrap().remove("jwks_uri"));
        assert_eq!(error(missing), UpstreamError::Nonsense(Part::Discovery));
    }
}
