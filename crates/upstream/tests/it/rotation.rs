//! Issuers that change their keys.

use serde_json::json;
use upstream::{KEYS_RENEWED_MS, Part, Upstream, UpstreamError};

use crate::{
    issuer::{Answer, Issuer, KEYS, NOW, secrets},
    keys::Key,
};

async fn came(upstream: &Upstream, ms: i64) -> Result<String, UpstreamError> {
    upstream.finish("code-1", None, &secrets(), NOW.plus_ms(ms)).await.map(|profile| profile.subject)
}

#[tokio::test]
async fn an_unknown_key_is_looked_for_once_a_minute() {
    let issuer = Issuer::honest().await;
    let upstream = issuer.upstream();
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    assert_eq!(came(&upstream, 0).await.unwrap(), "ada-1");
    // The issuer goes over to another key, and has the old one still.
    issuer.answers(KEYS, Answer::json(&json!({"keys": [Key::new(1).public(), Key::new(2).public()]})));
    issuer.proves(&Key::new(2).sign(&issuer.claims()));
    assert_eq!(came(&upstream, 1).await.unwrap(), "ada-1");
    assert_eq!(issuer.asked(KEYS), 2);
    // Somebody's own key does not make us ask again and again.
    issuer.proves(&Key::new(3).sign(&issuer.claims()));
    for ms in [2, 3, KEYS_RENEWED_MS] {
        assert_eq!(came(&upstream, ms).await, Err(UpstreamError::UnknownKey));
    }
    assert_eq!(issuer.asked(KEYS), 2);
    assert_eq!(came(&upstream, 1 + KEYS_RENEWED_MS).await, Err(UpstreamError::UnknownKey));
    assert_eq!(issuer.asked(KEYS), 3);
}

#[tokio::test]
async fn a_key_that_changed_under_its_name_is_found() {
    let issuer = Issuer::honest().await;
    let upstream = issuer.upstream();
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    came(&upstream, 0).await.unwrap();
    let other = Key::new(2).called("key-1");
    issuer.answers(KEYS, Answer::json(&json!({"keys": [other.public()]})));
    issuer.proves(&other.sign(&issuer.claims()));
    assert_eq!(came(&upstream, 1).await.unwrap(), "ada-1");
    // The old key is gone, and what it signs counts no longer.
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    assert_eq!(came(&upstream, 2).await, Err(UpstreamError::BadSignature));
}

#[tokio::test]
async fn keys_that_cannot_be_had_keep_nobody_out_who_needs_none() {
    let issuer = Issuer::honest().await;
    let upstream = issuer.upstream();
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    came(&upstream, 0).await.unwrap();
    issuer.answers(KEYS, Answer::status(500, &json!({})));
    issuer.proves(&Key::new(2).sign(&issuer.claims()));
    assert_eq!(came(&upstream, 1).await, Err(UpstreamError::Status(Part::Keys, 500)));
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    assert_eq!(came(&upstream, 2).await.unwrap(), "ada-1");
}

#[tokio::test]
async fn many_who_come_at_once_ask_once() {
    let issuer = Issuer::honest().await;
    let upstream = issuer.upstream();
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    let both = tokio::join!(came(&upstream, 0), came(&upstream, 0), came(&upstream, 1));
    assert_eq!(
        (both.0.unwrap(), both.1.unwrap(), both.2.unwrap()),
        ("ada-1".into(), "ada-1".into(), "ada-1".into())
    );
    assert_eq!(issuer.asked(KEYS), 1);
    issuer.answers(KEYS, Answer::json(&json!({"keys": [Key::new(2).public()]})));
    issuer.proves(&Key::new(2).sign(&issuer.claims()));
    let both = tokio::join!(came(&upstream, 1), came(&upstream, 1));
    assert_eq!((both.0.unwrap(), both.1.unwrap()), ("ada-1".into(), "ada-1".into()));
    assert_eq!(issuer.asked(KEYS), 2);
}

#[tokio::test]
async fn a_list_with_keys_of_other_kinds_is_read() {
    let issuer = Issuer::honest().await;
    let keys = json!([
        {"kty": "something new", "kid": "a"},
        {"kty": "EC", "crv": "secp256k1", "kid": "b", "x": "AA", "y": "AA"},
        {"kid": "c"},
        Key::new(1).public(),
    ]);
    issuer.answers(KEYS, Answer::json(&json!({"keys": keys})));
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    assert_eq!(issuer.finish().await.unwrap().subject, "ada-1");
}
