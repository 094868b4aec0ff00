//! Apple's client secret: a short statement that we sign for each exchange, in place of a lasting secret.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::Moment;
use p256::{
    ecdsa::{Signature, SigningKey, signature::Signer},
    pkcs8::DecodePrivateKey,
};
use serde_json::json;

use crate::provider::SetupError;

/// Apple takes up to half a year; an exchange needs seconds.
const LIFE_SECONDS: i64 = 300;

pub(crate) struct Signatory {
    team_id: String,
    key_id: String,
    key: SigningKey,
}

impl Signatory {
    pub(crate) fn new(team_id: String, key_id: String, pem: &str) -> Result<Self, SetupError> {
        let key = SigningKey::from_pkcs8_pem(pem.trim()).map_err(|_| SetupError::Key)?;
        Ok(Self { team_id, key_id, key })
    }

    /// A JWT by ES256, whose signature is the same for the same statement.
    pub(crate) fn secret(&self, client_id: &str, issuer: &str, now: Moment) -> String {
        let iat = now.as_millis().div_euclid(1000);
        let header = json!({"alg": "ES256", "kid": self.key_id, "typ": "JWT"});
        let claims = json!({
            "iss": self.team_id, "iat": iat, "exp": iat + LIFE_SECONDS, "aud": issuer, "sub": client_id,
        });
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature: Signature = self.key.sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }
}
