//! Issuers that are slow, broken, elsewhere or gone, each part with its own error.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use upstream::{FlowSecrets, Part, SetupError, UpstreamError};

use crate::{
    issuer::{Answer, DISCOVERY, Issuer, KEYS, NOW, TOKEN, exchanged, secrets},
    keys::Key,
};

/// What an honest issuer says at each part.
async fn honest() -> (Issuer, [(&'static str, Part, Value); 3]) {
    let issuer = Issuer::honest().await;
    let token = exchanged(&Key::new(1).sign(&issuer.claims()));
    let parts = [
        (DISCOVERY, Part::Discovery, issuer.document()),
        (KEYS, Part::Keys, json!({"keys": [Key::new(1).public()]})),
        (TOKEN, Part::Token, token),
    ];
    for (path, _, value) in &parts {
        issuer.answers(path, Answer::json(value));
    }
    (issuer, parts)
}

#[tokio::test]
async fn each_part_that_is_broken_is_told() {
    let (issuer, parts) = honest().await;
    for (path, part, value) in &parts {
        for (answer, error) in [
            (Answer::status(500, &json!({})), UpstreamError::Status(*part, 500)),
            (Answer::status(503, value), UpstreamError::Status(*part, 503)),
            (Answer::status(429, value), UpstreamError::Status(*part, 429)),
            (Answer::redirect(&format!("{}{path}", issuer.base)), UpstreamError::Redirect(*part)),
            (Answer::redirect("https://evil.example/"), UpstreamError::Redirect(*part)),
            (Answer::html(), UpstreamError::Nonsense(*part)),
            (Answer::json(&json!([1, 2])), UpstreamError::Nonsense(*part)),
            (Answer::huge(value), UpstreamError::TooLarge(*part)),
        ] {
            issuer.answers(path, answer);
            assert_eq!(issuer.finish().await, Err(error), "{part:?}");
        }
        issuer.answers(path, Answer::json(value));
    }
    assert_eq!(issuer.finish().await.unwrap().subject, "ada-1");
    issuer.answers(KEYS, Answer::status(404, &json!({})));
    assert_eq!(issuer.finish().await, Err(UpstreamError::Status(Part::Keys, 404)));
}

#[tokio::test]
async fn a_part_that_never_answers_is_given_up() {
    // At once, because each takes as long as anybody waits.
    let gave_up = [DISCOVERY, KEYS, TOKEN].map(|path| {
        tokio::spawn(async move {
            let (issuer, _) = honest().await;
            issuer.answers(path, Answer::Never);
            issuer.finish().await
        })
    });
    for (waiting, part) in gave_up.into_iter().zip([Part::Discovery, Part::Keys, Part::Token]) {
        assert_eq!(waiting.await.unwrap(), Err(UpstreamError::TooSlow(part)));
    }
}

/// An issuer that begins its description and then says nothing more, or breaks off.
async fn halfway(stays: bool) -> Issuer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut issuer = Issuer::silent().await;
    issuer.base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{").await;
            if stays {
                open.push(stream);
            }
        }
    });
    issuer
}

#[tokio::test]
async fn an_answer_that_stops_halfway_is_none() {
    let broken = halfway(false).await.upstream().start(&secrets(), NOW).await;
    assert_eq!(broken, Err(UpstreamError::Unreachable(Part::Discovery)));
    let stuck = halfway(true).await.upstream().start(&secrets(), NOW).await;
    assert_eq!(stuck, Err(UpstreamError::TooSlow(Part::Discovery)));
}

/// An address on which nobody listens.
async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn a_part_that_is_gone_is_told() {
    let (issuer, _) = honest().await;
    let gone = nobody().await;
    for (name, part) in [("jwks_uri", Part::Keys), ("token_endpoint", Part::Token)] {
        let mut document = issuer.document();
        document[name] = json!(format!("{gone}/x"));
        issuer.answers(DISCOVERY, Answer::json(&document));
        assert_eq!(issuer.finish().await, Err(UpstreamError::Unreachable(part)));
    }
    let mut elsewhere = Issuer::silent().await;
    elsewhere.base = gone;
    let upstream = elsewhere.upstream();
    let lost = Err(UpstreamError::Unreachable(Part::Discovery));
    assert_eq!(upstream.start(&secrets(), NOW).await, lost);
    assert_eq!(upstream.finish("code-1", None, &secrets(), NOW).await.map(|_| ()), lost.map(|_| ()));
}

#[tokio::test]
async fn a_discovery_of_another_issuer_is_refused() {
    let issuer = Issuer::honest().await;
    for name in ["https://evil.example".to_owned(), format!("{}/", issuer.base)] {
        let mut document = issuer.document();
        document["issuer"] = json!(name);
        issuer.answers(DISCOVERY, Answer::json(&document));
        let refused = issuer.upstream().start(&secrets(), NOW).await;
        assert_eq!(refused, Err(UpstreamError::ForeignDiscovery), "{name}");
    }
    let mut document = issuer.document();
    document["token_endpoint"] = json!("http://evil.example/token");
    issuer.answers(DISCOVERY, Answer::json(&document));
    let refused = issuer.upstream().start(&secrets(), NOW).await;
    assert_eq!(refused, Err(UpstreamError::Insecure(Part::Discovery)));
}

#[tokio::test]
async fn a_failed_discovery_is_not_asked_for_again_at_once() {
    let issuer = Issuer::honest().await;
    issuer.answers(DISCOVERY, Answer::status(502, &json!({})));
    let upstream = issuer.upstream();
    let failed = Err(UpstreamError::Status(Part::Discovery, 502));
    for _ in 0..3 {
        assert_eq!(upstream.start(&secrets(), NOW).await, failed);
    }
    assert_eq!(issuer.asked(DISCOVERY), 1);
    issuer.answers(DISCOVERY, Answer::json(&issuer.document()));
    assert!(upstream.start(&secrets(), NOW.plus_ms(10_000)).await.is_ok());
}

#[tokio::test]
async fn refusals_of_an_exchange_say_what_to_do() {
    let (issuer, _) = honest().await;
    for (code, error) in [
        ("invalid_grant", UpstreamError::CodeSpent),
        ("invalid_client", UpstreamError::InvalidClient),
        ("unauthorized_client", UpstreamError::InvalidClient),
        ("temporarily_unavailable", UpstreamError::Busy),
        ("invalid_scope", UpstreamError::RequestRefused),
    ] {
        let body = json!({"error": code, "error_description": "said by the issuer"});
        // Some have the status 200 all the same.
        for status in [400, 401, 200] {
            issuer.answers(TOKEN, Answer::status(status, &body));
            assert_eq!(issuer.finish().await, Err(error), "{code} {status}");
        }
    }
    let mut without = exchanged("x");
    without.as_object_mut().unwrap().remove("id_token");
    issuer.answers(TOKEN, Answer::json(&without));
    assert_eq!(issuer.finish().await, Err(UpstreamError::Nonsense(Part::Token)));
}

#[tokio::test]
async fn what_a_browser_brings_is_bounded() {
    let issuer = Issuer::honest().await;
    let upstream = issuer.upstream();
    let long = "x".repeat(4097);
    for (code, iss) in
        [("", None), (long.as_str(), None), ("code-1", Some(long.as_str())), ("code-1", Some(""))]
    {
        assert_eq!(upstream.finish(code, iss, &secrets(), NOW).await, Err(UpstreamError::CodeSpent));
    }
    let short = FlowSecrets { verifier: "v".to_owned(), ..secrets() };
    assert_eq!(upstream.start(&short, NOW).await, Err(UpstreamError::BadSecrets));
    assert_eq!(upstream.finish("code-1", None, &short, NOW).await, Err(UpstreamError::BadSecrets));
    assert_eq!(issuer.asked(DISCOVERY), 0);
}

#[test]
fn callbacks_that_are_not_ours_are_refused() {
    for callback in
        ["http://arena.example/cb", "https://arena.example/cb#x", "https://a@arena.example/", "/cb"]
    {
        let provider = upstream::Provider::Github {
            client_id: "arena".to_owned(),
            client_secret: upstream::Secret::new("x"),
            base: upstream::GITHUB_BASE.to_owned(),
            api: upstream::GITHUB_API.to_owned(),
        };
        assert_eq!(
            upstream::Upstream::new(provider, callback).err(),
            Some(SetupError::Callback),
            "{callback}"
        );
    }
}
