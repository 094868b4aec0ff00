//! Keys of issuers, and proofs that are signed with them or should have been.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use openidconnect::{PrivateSigningKey, core::CoreHmacKey, core::CoreJwsSigningAlgorithm};
use p256::ecdsa::{Signature, SigningKey, signature::Signer};
use serde_json::{Value, json};

pub(crate) struct Key {
    kid: String,
    key: SigningKey,
}

impl Key {
    /// The same for the same number.
    pub(crate) fn new(number: u8) -> Self {
        Self { kid: format!("key-{number}"), key: SigningKey::from_slice(&[number; 32]).unwrap() }
    }

    pub(crate) fn called(self, kid: &str) -> Self {
        Self { kid: kid.to_owned(), ..self }
    }

    /// As a JWK.
    pub(crate) fn public(&self) -> Value {
        let point = self.point();
        let coordinate = |from: usize| URL_SAFE_NO_PAD.encode(&point[from..from + 32]);
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": self.kid, "x": coordinate(1), "y": coordinate(33)})
    }

    /// 65 bytes that everybody may know.
    pub(crate) fn point(&self) -> Vec<u8> {
        self.key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let signed = unsigned(&json!({"alg": "ES256", "kid": self.kid}), claims);
        let signature: Signature = self.key.sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }
}

/// Signed by whoever knows `secret`.
pub(crate) fn hs256(secret: &[u8], kid: Option<&str>, claims: &Value) -> String {
    let signed = unsigned(&json!({"alg": "HS256", "kid": kid}), claims);
    let key = CoreHmacKey::new(secret);
    let signature = key.sign(&CoreJwsSigningAlgorithm::HmacSha256, signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Header and claims, without a signature.
pub(crate) fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}
