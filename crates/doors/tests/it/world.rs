//! A server on loopback for one test, and small ways to talk to it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, Once},
};

use doors::{DoorsConfig, HttpLimits, RequestSeen, ServerName};
use kernel::{id::SeededIds, time::SystemClock};
use reqwest::{Response, header::HeaderMap};
use serde_json::{Value, json};
use store::{Store, limits::Limits};
use testkit::TestPlace;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

use crate::product;

pub(crate) const ALPHA: &str = "arena_sk_alpha";
pub(crate) const BETA: &str = "arena_sk_beta";
pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) store: Store,
    pub(crate) client: reqwest::Client,
    pub(crate) seen: Arc<Mutex<Vec<RequestSeen>>>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

/// Names and values of request headers.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Got {
    pub(crate) async fn of(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.unwrap() }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl World {
    pub(crate) async fn new(place: &TestPlace) -> Self {
        Self::with(place, |_| {}).await
    }

    pub(crate) async fn with(place: &TestPlace, tweak: impl FnOnce(&mut DoorsConfig)) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
        let store = place.open(&[product::SCHEMA]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let seeing = Arc::clone(&seen);
        let mut config = DoorsConfig {
            store: store.clone(),
            products: vec![product::toy()],
            authenticate: Arc::new(product::authenticate),
            limiter: Arc::new(Limits::of(store.engine())),
            ids: Arc::new(SeededIds::new(1)),
            clock: Arc::new(SystemClock),
            server: ServerName { name: "arena".into(), title: "Arena".into(), version: "0.1.0".into() },
            public_url: "https://arena.example".parse().unwrap(),
            allowed_hosts: vec![],
            allowed_origins: vec![],
            loopback_origins: true,
            root_mcp: "toy".into(),
            limits: HttpLimits::default(),
            extra: axum::Router::new(),
            cards: None,
            sign_in: None,
            on_request: Some(Arc::new(move |request| seeing.lock().unwrap().push(*request))),
        };
        tweak(&mut config);
        let limits = config.limits;
        let router = doors::router(config).unwrap();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(doors::serve(listener, router, limits, async {
            let _ = stopped.await;
        }));
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(std::time::Duration::from_secs(20))
            .no_proxy()
            .build()
            .unwrap();
        Self { address, store, client, seen, stop, serving }
    }

    /// Stops the server the way an operator does and closes the store.
    pub(crate) async fn end(self) {
        let Self { store, client, stop, serving, .. } = self;
        drop(client);
        stop.send(()).unwrap();
        serving.await.unwrap();
        store.close();
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a body with these headers as they are; an empty value removes a default one.
    pub(crate) async fn send(&self, method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> Got {
        let mut request = self.client.request(method.parse().unwrap(), self.url(path)).body(body.to_vec());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Got::of(request.send().await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Got {
        self.send("GET", path, &[], b"").await
    }

    /// A REST call.
    pub(crate) async fn rest(&self, path: &str, key: &str, body: &Value) -> Got {
        let headers = [("x-arena-key", key), ("content-type", "application/json")];
        self.send("POST", path, &headers, body.to_string().as_bytes()).await
    }

    /// One MCP request in either era, with everything right about it.
    pub(crate) async fn mcp(&self, era: &str, key: Option<&str>, method: &str, params: Value) -> Got {
        let (headers, body) = mcp_request(era, key, method, params);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.send("POST", "/toy/mcp", &headers, body.to_string().as_bytes()).await
    }

    pub(crate) async fn tool(&self, era: &str, key: &str, name: &str, arguments: Value) -> Got {
        self.mcp(era, Some(key), "tools/call", json!({"name": name, "arguments": arguments})).await
    }

    /// Bytes straight to the socket; what comes back until the server closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // The server may close before it has read all of a request that is over a limit.
        let _ = stream.write_all(bytes).await;
        let mut out = Vec::new();
        let _ = stream.read_to_end(&mut out).await;
        String::from_utf8_lossy(&out).into_owned()
    }

    pub(crate) async fn count_of(&self, key: &str) -> i64 {
        self.rest("/toy/v1/peek", key, &json!({})).await.json()["count"].as_i64().unwrap()
    }
}

/// Headers and body of an MCP request.
pub(crate) fn mcp_request(
    era: &str,
    key: Option<&str>,
    method: &str,
    mut params: Value,
) -> (Vec<(&'static str, String)>, Value) {
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", era.to_owned()),
    ];
    if let Some(key) = key {
        headers.push(("authorization", format!("Bearer {key}")));
    }
    if era == MODERN {
        headers.push(("mcp-method", method.to_owned()));
        if let Some(name) = params["name"].as_str() {
            headers.push(("mcp-name", name.to_owned()));
        }
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = era.into();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
    }
    (headers, json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}
