//! Proofs that are not what they seem, each with its own refusal.

use serde_json::{Value, json};
use upstream::{Part, Profile, UpstreamError};

use crate::{
    issuer::{Answer, CALLBACK, CLIENT_SECRET, DISCOVERY, Issuer, KEYS, NOW, NOW_SECONDS, TOKEN, secrets},
    keys::{Key, hs256, unsigned},
};

#[tokio::test]
async fn an_honest_issuer_says_who_somebody_is() {
    let issuer = Issuer::honest().await;
    let upstream = issuer.upstream();
    assert_eq!(upstream.provider(), "oidc:house");
    let url = upstream.start(&secrets(), NOW).await.unwrap();
    assert!(url.as_str().starts_with(&format!("{}/auth?", issuer.base)), "{url}");
    let field = |name: &str| {
        let values: Vec<_> =
            url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value).collect();
        assert!(values.len() < 2, "{name} is there twice: {url}");
        values.first().map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(field("response_type"), "code");
    assert_eq!(field("client_id"), "arena");
    assert_eq!(field("redirect_uri"), CALLBACK);
    assert_eq!(field("scope"), "openid email profile");
    assert_eq!(field("state"), secrets().state);
    assert_eq!(field("nonce"), secrets().nonce);
    assert_eq!(field("code_challenge_method"), "S256");
    // SHA-256 of 43 times `v`, as base64url.
    assert_eq!(field("code_challenge"), "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM");
    assert_eq!(field("response_mode"), "");

    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    let profile = upstream.finish("code-1", None, &secrets(), NOW).await.unwrap();
    let ada = Profile {
        provider: "oidc:house".to_owned(),
        subject: "ada-1".to_owned(),
        login: None,
        email: Some("ada@example.test".to_owned()),
        email_verified: true,
        display_name: Some("Ada".to_owned()),
    };
    assert_eq!(profile, ada);
    let asked = issuer.take(TOKEN);
    assert_eq!(asked.field("grant_type").as_deref(), Some("authorization_code"));
    assert_eq!(asked.field("code").as_deref(), Some("code-1"));
    assert_eq!(asked.field("redirect_uri").as_deref(), Some(CALLBACK));
    assert_eq!(asked.field("code_verifier"), Some(secrets().verifier));
    assert_eq!(asked.field("client_secret"), None);
    // `arena:s3cret-of-arena`
    assert_eq!(asked.authorization.as_deref(), Some("Basic YXJlbmE6czNjcmV0LW9mLWFyZW5h"));
    // Both are kept: the second sign-in asks for the exchange alone.
    upstream.start(&secrets(), NOW.plus_ms(3_599_999)).await.unwrap();
    assert_eq!((issuer.asked(DISCOVERY), issuer.asked(KEYS)), (1, 1));
    upstream.start(&secrets(), NOW.plus_ms(3_600_000)).await.unwrap();
    assert_eq!(issuer.asked(DISCOVERY), 2);
}

#[tokio::test]
async fn claims_that_are_wrong_are_refused() {
    let issuer = Issuer::honest().await;
    let cases: [(&str, Value, UpstreamError); 15] = [
        ("iss", json!("https://evil.example"), UpstreamError::WrongIssuer),
        ("iss", json!(format!("{}/", issuer.base)), UpstreamError::WrongIssuer),
        ("iss", Value::Null, UpstreamError::Nonsense(Part::Token)),
        ("aud", json!("somebody-else"), UpstreamError::WrongAudience),
        ("aud", json!([]), UpstreamError::WrongAudience),
        ("aud", json!(["arena", "somebody-else"]), UpstreamError::WrongAudience),
        ("azp", json!("somebody-else"), UpstreamError::WrongParty),
        ("nonce", json!("m".repeat(43)), UpstreamError::WrongNonce),
        ("nonce", Value::Null, UpstreamError::WrongNonce),
        ("exp", json!(NOW_SECONDS - 60), UpstreamError::Expired),
        ("exp", Value::Null, UpstreamError::Nonsense(Part::Token)),
        ("iat", json!(NOW_SECONDS + 61), UpstreamError::ClockSkew),
        ("iat", Value::Null, UpstreamError::Nonsense(Part::Token)),
        ("sub", json!(""), UpstreamError::Nonsense(Part::Token)),
        ("sub", json!("x".repeat(256)), UpstreamError::Nonsense(Part::Token)),
    ];
    for (name, value, error) in cases {
        let mut claims = issuer.claims();
        claims[name] = value.clone();
        issuer.proves(&Key::new(1).sign(&claims));
        assert_eq!(issuer.finish().await, Err(error), "{name} {value}");
    }
}

#[tokio::test]
async fn what_is_unusual_and_right_passes() {
    let issuer = Issuer::honest().await;
    let cases: [(&str, Value); 7] = [
        ("aud", json!(["arena"])),
        ("azp", json!("arena")),
        // Clocks differ by up to a minute.
        ("exp", json!(NOW_SECONDS - 59)),
        ("iat", json!(NOW_SECONDS + 60)),
        // Apple writes booleans as texts.
        ("email_verified", json!("true")),
        ("sub", json!("x".repeat(255))),
        ("something", json!({"else": true})),
    ];
    for (name, value) in cases {
        let mut claims = issuer.claims();
        claims[name] = value.clone();
        issuer.proves(&Key::new(1).sign(&claims));
        assert!(issuer.finish().await.unwrap().email_verified, "{name} {value}");
    }
}

#[tokio::test]
async fn what_is_not_said_is_not_assumed() {
    let issuer = Issuer::honest().await;
    let came = async |changes: [(&str, Value); 2]| {
        let mut claims = issuer.claims();
        for (name, value) in changes {
            claims[name] = value;
        }
        issuer.proves(&Key::new(1).sign(&claims));
        let profile = issuer.finish().await.unwrap();
        (profile.email, profile.email_verified, profile.display_name)
    };
    let (ada, name) = (Some("ada@example.test".to_owned()), Some("Ada".to_owned()));
    let unsaid = came([("email_verified", Value::Null), ("name", json!("Ada\u{1b}[31m"))]).await;
    assert_eq!(unsaid, (ada.clone(), false, None));
    let denied = came([("email_verified", json!(false)), ("name", json!(" Ada "))]).await;
    assert_eq!(denied, (ada, false, name.clone()));
    // What is verified is an address, and here is none.
    let long = came([("email", json!("x".repeat(321))), ("email_verified", json!(true))]).await;
    assert_eq!(long, (None, false, name));
}

#[tokio::test]
async fn signatures_that_prove_nothing_are_refused() {
    let issuer = Issuer::honest().await;
    let key = Key::new(1);
    let claims = issuer.claims();
    let good = key.sign(&claims);
    let (signed, _) = good.rsplit_once('.').unwrap();
    // A shared key among the public ones makes none of them a secret.
    let shared = json!({"kty": "oct", "kid": "shared", "alg": "HS256", "k": "c2hhcmVk"});
    issuer.answers(KEYS, Answer::json(&json!({"keys": [key.public(), shared]})));
    let forbidden = UpstreamError::ForbiddenAlgorithm;
    for (why, token, error) in [
        ("none", format!("{}.", unsigned(&json!({"alg": "none"}), &claims)), forbidden),
        (
            "none with a key",
            format!("{}.", unsigned(&json!({"alg": "none", "kid": "key-1"}), &claims)),
            forbidden,
        ),
        ("the client's secret", hs256(CLIENT_SECRET.as_bytes(), None, &claims), forbidden),
        ("the public key", hs256(&key.point(), Some("key-1"), &claims), forbidden),
        (
            "the public key as text",
            hs256(key.public().to_string().as_bytes(), Some("key-1"), &claims),
            forbidden,
        ),
        ("a key in the list", hs256(b"shared", Some("shared"), &claims), forbidden),
        (
            "an algorithm that was not announced",
            format!("{}.AA", unsigned(&json!({"alg": "RS256"}), &claims)),
            forbidden,
        ),
        (
            "an algorithm of nobody",
            format!("{}.AA", unsigned(&json!({"alg": "X"}), &claims)),
            UpstreamError::Nonsense(Part::Token),
        ),
        ("no signature", format!("{signed}."), UpstreamError::BadSignature),
        (
            "another's key of the same name",
            Key::new(2).called("key-1").sign(&claims),
            UpstreamError::BadSignature,
        ),
        ("a key that nobody knows", Key::new(2).sign(&claims), UpstreamError::UnknownKey),
        ("no token at all", "three.parts.no".to_owned(), UpstreamError::Nonsense(Part::Token)),
    ] {
        issuer.proves(&token);
        assert_eq!(issuer.finish().await, Err(error), "{why}");
    }
    // Claims of one proof under the signature of another.
    let mut other = claims.clone();
    other["sub"] = json!("bob-2");
    let (_, signature) = good.rsplit_once('.').unwrap();
    issuer.proves(&format!("{}.{signature}", unsigned(&json!({"alg": "ES256", "kid": "key-1"}), &other)));
    assert_eq!(issuer.finish().await, Err(UpstreamError::BadSignature));
    issuer.proves(&good);
    assert_eq!(issuer.finish().await.unwrap().subject, "ada-1");
}

#[tokio::test]
async fn answers_of_another_issuer_are_refused() {
    let issuer = Issuer::honest().await;
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    let came = async |iss: Option<&str>| {
        let finished = issuer.upstream().finish("code-1", iss, &secrets(), NOW).await;
        finished.map(|profile| profile.subject)
    };
    let ada = || Ok("ada-1".to_owned());
    assert_eq!(came(None).await, ada());
    assert_eq!(came(Some(&issuer.base)).await, ada());
    assert_eq!(came(Some("https://evil.example")).await, Err(UpstreamError::ForeignAnswer));
    let mut document = issuer.document();
    document["authorization_response_iss_parameter_supported"] = json!(true);
    issuer.answers(DISCOVERY, Answer::json(&document));
    let exchanges = issuer.asked(TOKEN);
    assert_eq!(came(None).await, Err(UpstreamError::ForeignAnswer));
    assert_eq!(came(Some("https://evil.example")).await, Err(UpstreamError::ForeignAnswer));
    assert_eq!(issuer.asked(TOKEN), exchanges, "a code of another issuer is sent to nobody");
    assert_eq!(came(Some(&issuer.base)).await, ada());
}

#[tokio::test]
async fn the_secret_goes_where_the_issuer_takes_it() {
    let issuer = Issuer::honest().await;
    issuer.proves(&Key::new(1).sign(&issuer.claims()));
    for (methods, in_form) in [
        (json!(["client_secret_post"]), true),
        (json!(["client_secret_post", "client_secret_basic"]), false),
        (json!(["private_key_jwt"]), false),
    ] {
        let mut document = issuer.document();
        document["token_endpoint_auth_methods_supported"] = methods.clone();
        issuer.answers(DISCOVERY, Answer::json(&document));
        issuer.finish().await.unwrap();
        let asked = issuer.take(TOKEN);
        assert_eq!(asked.field("client_secret").is_some(), in_form, "{methods}");
        assert_eq!(asked.authorization.is_none(), in_form, "{methods}");
    }
}
