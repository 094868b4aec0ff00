//! What is printed of the types here has no secret in it.

use std::fmt::Debug;

use upstream::{FlowSecrets, Provider, Secret, Upstream};

use crate::issuer::{CALLBACK, CLIENT_SECRET, Issuer, NOW, TOKEN, exchanged, secrets};

fn assert_quiet(value: &impl Debug) {
    let secrets = secrets();
    let texts = [format!("{value:?}"), format!("{value:#?}")];
    for secret in [CLIENT_SECRET, &secrets.state, &secrets.nonce, &secrets.verifier, "access-token", "code-1"]
    {
        assert!(texts.iter().all(|text| !text.contains(secret)), "{secret} is in {texts:?}");
    }
}

#[tokio::test]
async fn no_secret_is_printed() {
    let issuer = Issuer::honest().await;
    let secret = || Secret::new(CLIENT_SECRET);
    let (client_id, base) = ("arena".to_owned(), issuer.base.clone());
    let providers = [
        Provider::Google { client_id: client_id.clone(), client_secret: secret(), issuer: base.clone() },
        Provider::Apple {
            client_id: client_id.clone(),
            team_id: "team".to_owned(),
            key_id: "key".to_owned(),
            private_key_pem: secret(),
            issuer: base.clone(),
        },
        Provider::Github {
            client_id: client_id.clone(),
            client_secret: secret(),
            base: base.clone(),
            api: base.clone(),
        },
        Provider::Oidc { name: "house".to_owned(), issuer: base, client_id, client_secret: secret() },
    ];
    assert_quiet(&secret());
    assert_quiet(&secrets());
    for provider in providers {
        assert_quiet(&provider);
        match Upstream::new(provider, CALLBACK) {
            Ok(upstream) => assert_quiet(&upstream),
            // Apple's key is none, which is told without it.
            Err(error) => assert_quiet(&error.to_string()),
        }
    }
    assert_quiet(&FlowSecrets { state: CLIENT_SECRET.to_owned(), ..secrets() });
}

#[tokio::test]
async fn no_secret_is_in_an_error() {
    let issuer = Issuer::honest().await;
    // The answer that cannot be read has the token in it, and the proof that is refused the nonce.
    let mut without = exchanged("not-a-token");
    without["nonce"] = secrets().nonce.into();
    issuer.answers(TOKEN, crate::issuer::Answer::json(&without));
    let error = issuer.upstream().finish("code-1", None, &secrets(), NOW).await.unwrap_err();
    assert_quiet(&error);
    assert_quiet(&error.to_string());
    assert!(std::error::Error::source(&error).is_none());
}
