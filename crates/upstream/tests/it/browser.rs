//! A browser without a window: it keeps cookies, follows redirects and fills the two forms of the issuer.

use std::{collections::BTreeMap, sync::Once};

use reqwest::{Client, Response, header};
use url::Url;

/// Redirects and forms until somebody is back.
const STEPS_MAX: usize = 20;

pub(crate) struct Browser {
    client: Client,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(crate) fn new() -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
        let client =
            Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
        Self { client, cookies: BTreeMap::new() }
    }

    /// Signs in as `login` from `url` on and allows what is asked; the address under `callback` that it is sent to.
    pub(crate) async fn sign_in(&mut self, url: Url, login: &str, callback: &str) -> Url {
        let (mut at, mut form) = (url, None);
        for _ in 0..STEPS_MAX {
            if at.as_str().starts_with(callback) {
                return at;
            }
            let response = self.step(&at, form.take()).await;
            if let Some(location) = response.headers().get(header::LOCATION) {
                at = at.join(location.to_str().unwrap()).unwrap();
                continue;
            }
            let (status, page) = (response.status(), response.text().await.unwrap());
            form = Some(if page.contains("value=\"login\"") {
                format!("prompt=login&login={login}&password=x")
            } else {
                assert!(page.contains("value=\"consent\""), "{at} answers {status}: {page}");
                "prompt=consent".to_owned()
            });
        }
        panic!("{at} leads nowhere");
    }

    async fn step(&mut self, at: &Url, form: Option<String>) -> Response {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = match form {
            Some(form) => self
                .client
                .post(at.clone())
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(form),
            None => self.client.get(at.clone()),
        };
        let response = request.header(header::COOKIE, cookies.join("; ")).send().await.unwrap();
        for cookie in response.headers().get_all(header::SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            let (name, value) = cookie.split(';').next().and_then(|pair| pair.split_once('=')).unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        response
    }
}
