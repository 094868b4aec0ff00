//! Apple, which wants a statement that we sign in place of a secret.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use p256::{
    SecretKey,
    ecdsa::{Signature, SigningKey, VerifyingKey, signature::Verifier},
    pkcs8::{EncodePrivateKey, LineEnding},
};
use serde_json::{Value, json};
use upstream::{Provider, Secret, SetupError, Upstream};

use crate::{
    issuer::{CALLBACK, Issuer, NOW, NOW_SECONDS, TOKEN, secrets},
    keys::Key,
};

fn pem() -> String {
    SecretKey::from_slice(&[9; 32]).unwrap().to_pkcs8_pem(LineEnding::LF).unwrap().to_string()
}

fn provider(issuer: &Issuer, pem: &str) -> Provider {
    Provider::Apple {
        client_id: "arena".to_owned(),
        team_id: "TEAM123456".to_owned(),
        key_id: "KEY1234567".to_owned(),
        private_key_pem: Secret::new(pem),
        issuer: issuer.base.clone(),
    }
}

#[tokio::test]
async fn the_secret_is_a_short_statement_of_ours() {
    let issuer = Issuer::honest().await;
    let upstream = Upstream::new(provider(&issuer, &pem()), CALLBACK).unwrap();
    let url = upstream.start(&secrets(), NOW).await.unwrap();
    let field =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    assert_eq!(field("response_mode").as_deref(), Some("form_post"));
    assert_eq!(field("scope").as_deref(), Some("openid email"));

    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    let profile = upstream.finish("code-1", None, &secrets(), NOW).await.unwrap();
    assert_eq!((profile.provider.as_str(), profile.subject.as_str()), ("apple", "ada-1"));
    let asked = issuer.take(TOKEN);
    assert_eq!(asked.authorization, None);
    assert_eq!(asked.field("client_id").as_deref(), Some("arena"));
    let secret = asked.field("client_secret").unwrap();
    let (signed, signature) = secret.rsplit_once('.').unwrap();
    let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let key = VerifyingKey::from(&SigningKey::from_slice(&[9; 32]).unwrap());
    key.verify(signed.as_bytes(), &signature).unwrap();
    let parts: Vec<Value> = signed
        .split('.')
        .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    assert_eq!(parts[0], json!({"alg": "ES256", "kid": "KEY1234567", "typ": "JWT"}));
    let claims = json!({
        "iss": "TEAM123456", "iat": NOW_SECONDS, "exp": NOW_SECONDS + 300, "aud": issuer.base, "sub": "arena",
    });
    assert_eq!(parts[1], claims);
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_at_once() {
    let issuer = Issuer::silent().await;
    let windows = pem().replace('\n', "\r\n");
    assert!(Upstream::new(provider(&issuer, &format!("\n{windows}\n")), CALLBACK).is_ok());
    for bad in ["-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "s3cret", &pem()[..100]] {
        let refused = Upstream::new(provider(&issuer, bad), CALLBACK).err();
        assert_eq!(refused, Some(SetupError::Key), "{bad}");
    }
}
