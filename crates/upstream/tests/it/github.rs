//! GitHub, as three routes of its own.

use serde_json::{Value, json};
use upstream::{Part, Profile, Provider, Secret, Upstream, UpstreamError};

use crate::issuer::{ACCESS_TOKEN, Answer, CLIENT_SECRET, Issuer, NOW, secrets};

const CALLBACK: &str = "https://arena.example/oauth/callback/github";
const EXCHANGE: &str = "/login/oauth/access_token";
const USER: &str = "/api/v3/user";

fn upstream(issuer: &Issuer) -> Upstream {
    let provider = Provider::Github {
        client_id: "arena".to_owned(),
        client_secret: Secret::new(CLIENT_SECRET),
        base: format!("{}/", issuer.base),
        api: format!("{}/api/v3", issuer.base),
    };
    Upstream::new(provider, CALLBACK).unwrap()
}

fn user() -> Value {
    json!({"id": 583_231_u64, "login": "octocat", "name": "The Octocat", "email": "octo@example.test", "plan": {}})
}

async fn honest() -> Issuer {
    let issuer = Issuer::silent().await;
    let token = json!({"access_token": ACCESS_TOKEN, "scope": "read:user", "token_type": "bearer"});
    issuer.answers(EXCHANGE, Answer::json(&token));
    issuer.answers(USER, Answer::json(&user()));
    issuer
}

async fn came(issuer: &Issuer) -> Result<Profile, UpstreamError> {
    upstream(issuer).finish("code-1", None, &secrets(), NOW).await
}

#[tokio::test]
async fn somebody_signs_in() {
    let issuer = honest().await;
    let url = upstream(&issuer).start(&secrets(), NOW).await.unwrap();
    let asked: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(url.path(), "/login/oauth/authorize");
    let expected = [
        pair("client_id", "arena"),
        pair("redirect_uri", CALLBACK),
        pair("scope", "read:user"),
        pair("state", &secrets().state),
        pair("code_challenge", "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"),
        pair("code_challenge_method", "S256"),
    ];
    assert_eq!(asked, expected);

    let octocat = Profile {
        provider: "github".to_owned(),
        subject: "583231".to_owned(),
        login: Some("octocat".to_owned()),
        email: Some("octo@example.test".to_owned()),
        email_verified: false,
        display_name: Some("The Octocat".to_owned()),
    };
    assert_eq!(came(&issuer).await, Ok(octocat));
    let exchange = issuer.take(EXCHANGE);
    for (name, value) in [
        ("client_id", "arena"),
        ("client_secret", CLIENT_SECRET),
        ("code", "code-1"),
        ("redirect_uri", CALLBACK),
        ("code_verifier", &secrets().verifier),
    ] {
        assert_eq!(exchange.field(name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(issuer.take(USER).authorization, Some(format!("Bearer {ACCESS_TOKEN}")));
}

#[tokio::test]
async fn errors_come_with_the_status_200() {
    let issuer = honest().await;
    for (code, error) in [
        ("bad_verification_code", UpstreamError::CodeSpent),
        ("incorrect_client_credentials", UpstreamError::InvalidClient),
        ("redirect_uri_mismatch", UpstreamError::UnknownCallback),
        ("unverified_user_email", UpstreamError::UnverifiedEmail),
        ("something_new", UpstreamError::RequestRefused),
    ] {
        let body = json!({"error": code, "error_description": "said by GitHub", "error_uri": "https://x"});
        issuer.answers(EXCHANGE, Answer::json(&body));
        assert_eq!(came(&issuer).await, Err(error), "{code}");
    }
    assert_eq!(issuer.asked(USER), 0);
}

#[tokio::test]
async fn answers_that_are_none_are_told() {
    let issuer = honest().await;
    let mut nameless = user();
    nameless["id"] = json!("octocat");
    for (answer, error) in [
        (
            Answer::status(401, &json!({"message": "Bad credentials"})),
            UpstreamError::Status(Part::Person, 401),
        ),
        (Answer::status(502, &json!({})), UpstreamError::Status(Part::Person, 502)),
        (Answer::redirect("https://evil.example/user"), UpstreamError::Redirect(Part::Person)),
        (Answer::html(), UpstreamError::Nonsense(Part::Person)),
        (Answer::json(&nameless), UpstreamError::Nonsense(Part::Person)),
        (Answer::huge(&user()), UpstreamError::TooLarge(Part::Person)),
    ] {
        issuer.answers(USER, answer);
        assert_eq!(came(&issuer).await, Err(error));
    }
    issuer.answers(USER, Answer::json(&user()));
    for (answer, error) in [
        (Answer::status(404, &json!({"error": "Not Found"})), UpstreamError::Status(Part::Token, 404)),
        (Answer::html(), UpstreamError::Nonsense(Part::Token)),
        (Answer::json(&json!({"token_type": "bearer"})), UpstreamError::Nonsense(Part::Token)),
        (Answer::json(&json!({"access_token": ""})), UpstreamError::Nonsense(Part::Token)),
        (Answer::json(&json!({"access_token": "a\nb"})), UpstreamError::Nonsense(Part::Token)),
        (Answer::redirect("https://evil.example/"), UpstreamError::Redirect(Part::Token)),
    ] {
        issuer.answers(EXCHANGE, answer);
        assert_eq!(came(&issuer).await, Err(error));
    }
}
