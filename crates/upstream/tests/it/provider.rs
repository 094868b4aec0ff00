//! Whole sign-ins at an issuer that others wrote.

use std::process::Stdio;

use kernel::{
    Moment,
    time::{Clock, SystemClock},
};
use testkit::node::Node;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};
use upstream::{FlowSecrets, Profile, Provider, Secret, Upstream, UpstreamError};
use url::Url;

use crate::{browser::Browser, issuer::secrets};

const CALLBACK: &str = "http://127.0.0.1:1/oauth/callback/oidc:real";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/issuer.mjs");

/// Ends with the test.
struct Real {
    base: String,
    child: Child,
}

impl Real {
    async fn start(test: &str) -> Option<Self> {
        let node = Node::find(test)?;
        let mut command = Command::from(node.command());
        let mut child = command
            .arg(SCRIPT)
            .arg(&node.modules)
            .arg(CALLBACK)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It warns of everything that a test may do and a house may not.
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let base =
            lines.next_line().await.unwrap().expect("the issuer ended; run the script by hand to see why");
        Some(Self { base, child })
    }

    async fn stop(mut self) {
        self.child.kill().await.unwrap();
    }

    fn upstream(&self, client_id: &str, client_secret: &str) -> Upstream {
        let provider = Provider::Oidc {
            name: "real".to_owned(),
            issuer: self.base.clone(),
            client_id: client_id.to_owned(),
            client_secret: Secret::new(client_secret),
        };
        Upstream::new(provider, CALLBACK).unwrap()
    }
}

fn now() -> Moment {
    Moment::from_millis(SystemClock.real_ms())
}

/// What a browser brings back.
struct Back {
    code: String,
    iss: String,
}

async fn sent(upstream: &Upstream, login: &str) -> Back {
    let url = upstream.start(&secrets(), now()).await.unwrap();
    let back = Browser::new().sign_in(url, login, CALLBACK).await;
    let field = |name: &str| field(&back, name).unwrap_or_else(|| panic!("no {name} in {back}"));
    assert_eq!(field("state"), secrets().state);
    Back { code: field("code"), iss: field("iss") }
}

fn field(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

#[tokio::test]
async fn people_sign_in_whatever_the_signature() {
    let Some(real) = Real::start("upstream::provider::people_sign_in_whatever_the_signature").await else {
        return;
    };
    for algorithm in ["RS256", "PS256", "ES256", "EdDSA"] {
        let upstream = real.upstream(algorithm, &format!("s3cret/of {algorithm}"));
        let back = sent(&upstream, "ada").await;
        let finish = async |iss: &str| upstream.finish(&back.code, Some(iss), &secrets(), now()).await;
        assert_eq!(finish("https://evil.example").await, Err(UpstreamError::ForeignAnswer));
        let ada = Profile {
            provider: "oidc:real".to_owned(),
            subject: "ada".to_owned(),
            login: None,
            email: Some("ada@example.test".to_owned()),
            email_verified: true,
            display_name: Some("ada of the test".to_owned()),
        };
        assert_eq!(finish(&back.iss).await, Ok(ada), "{algorithm}");
        assert_eq!(finish(&back.iss).await, Err(UpstreamError::CodeSpent), "{algorithm}");
    }
    real.stop().await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    let Some(real) = Real::start("upstream::provider::what_does_not_fit_is_refused").await else { return };
    let upstream = real.upstream("ES256", "s3cret/of ES256");
    let changed = |change: fn(&mut FlowSecrets)| {
        let mut other = secrets();
        change(&mut other);
        other
    };
    let other_verifier = changed(|secrets| secrets.verifier = "w".repeat(43));
    let other_nonce = changed(|secrets| secrets.nonce = "m".repeat(43));
    for (secrets, ms, error) in [
        (other_verifier, 0, UpstreamError::CodeSpent),
        (other_nonce, 0, UpstreamError::WrongNonce),
        (secrets(), 24 * 3_600_000, UpstreamError::Expired),
        (secrets(), -120_000, UpstreamError::ClockSkew),
    ] {
        let back = sent(&upstream, "bob").await;
        let finished = upstream.finish(&back.code, Some(&back.iss), &secrets, now().plus_ms(ms)).await;
        assert_eq!(finished, Err(error));
    }
    let back = sent(&upstream, "bob").await;
    for (client_id, secret) in [("ES256", "guessed"), ("nobody", "s3cret/of ES256")] {
        let other = real.upstream(client_id, secret);
        let finished = other.finish(&back.code, Some(&back.iss), &secrets(), now()).await;
        assert_eq!(finished, Err(UpstreamError::InvalidClient), "{client_id}");
    }
    real.stop().await;
}
