//! `/metrics` on a listener of its own: what is counted, and in which names.
//!
//! Every label comes from a closed set; nothing that a caller chose becomes one.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::State, routing::get};
use doors::{OnRequest, RequestSeen};
use metrics::{Label, counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use store::Store;
use tokio_util::sync::CancellationToken;

use super::listen::{self, Refused};
use crate::{
    config::{layers::Loaded, layers::Origin},
    failure::Failure,
};

pub(crate) const REQUESTS: &str = "arena_requests_total";
pub(crate) const REQUEST_SECONDS: &str = "arena_request_duration_seconds";
pub(crate) const QUEUE_DEPTH: &str = "arena_store_queue_depth";
pub(crate) const DUELS_SETTLED: &str = "arena_duels_settled";
pub(crate) const CLOCK_SPEED: &str = "arena_clock_speed";
pub(crate) const BUILD_INFO: &str = "arena_build_info";

/// Upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 12] = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];
/// How often the recorder folds what it collected.
const UPKEEP: Duration = Duration::from_secs(5);
const NOTHING: &str = "none";

/// A bound metrics listener and the recorder behind it.
pub(crate) struct Metrics {
    listener: tokio::net::TcpListener,
    handle: PrometheusHandle,
    address: SocketAddr,
}

impl Metrics {
    /// Starts the recorder and binds the listener. A taken port is an error when somebody chose it,
    /// and a warning when it is only the default.
    pub(crate) async fn start(loaded: &Loaded) -> Result<Option<Self>, Failure> {
        let Some(address) = loaded.config.metrics.address()? else { return Ok(None) };
        let listener = match listen::bind(address).await {
            Ok(listener) => listener,
            Err(Refused::Busy) if *loaded.origin("metrics.listen") == Origin::Default => {
                tracing::warn!(%address, "the metrics port is in use; choose one with metrics.listen");
                return Ok(None);
            }
            Err(refused) => return Err(listen::failure(&refused, address, "metrics.listen, or turn it off")),
        };
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(REQUEST_SECONDS.to_owned()), &BUCKETS)
            .map_err(|error| Failure::failed(format!("metrics cannot start: {error}")))?
            .build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder)
            .map_err(|error| Failure::failed(format!("metrics cannot start: {error}")))?;
        describe();
        let address = listener.local_addr().unwrap_or(address);
        Ok(Some(Self { listener, handle, address }))
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/metrics", listen::openable(self.address))
    }

    /// Answers until `shutdown`.
    pub(crate) async fn serve(self, store: Store, shutdown: CancellationToken) {
        let upkeep = tokio::spawn({
            let (handle, shutdown) = (self.handle.clone(), shutdown.clone());
            async move {
                while tokio::time::timeout(UPKEEP, shutdown.cancelled()).await.is_err() {
                    handle.run_upkeep();
                }
            }
        });
        let state = Arc::new((self.handle, store));
        let router = Router::new().route("/metrics", get(render)).with_state(state);
        let served = axum::serve(self.listener, router).with_graceful_shutdown(async move {
            shutdown.cancelled().await;
        });
        // A scraper that hangs must not keep the server from ending.
        if let Err(error) = served.await {
            tracing::warn!(%error, "the metrics listener ended");
        }
        upkeep.abort();
    }
}

type Scraped = Arc<(PrometheusHandle, Store)>;

async fn render(State(state): State<Scraped>) -> ([(&'static str, &'static str); 1], String) {
    let (handle, store) = &*state;
    #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
    let number = |value: i64| value as f64;
    gauge!(QUEUE_DEPTH).set(number(i64::try_from(store.queue_depth()).unwrap_or(i64::MAX)));
    if let Ok(settled) = store.read(|tx| duels::audit::settled(tx)).await {
        gauge!(DUELS_SETTLED).set(number(settled));
    }
    let clock = store.clone();
    if let Ok(Ok(anchor)) = tokio::task::spawn_blocking(move || clock.anchor()).await {
        gauge!(CLOCK_SPEED).set(number(anchor.speed_milli) / 1000.0);
    }
    gauge!(BUILD_INFO, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    ([("content-type", "text/plain; version=0.0.4; charset=utf-8")], handle.render())
}

fn describe() {
    metrics::describe_counter!(REQUESTS, "Answered requests by door, product, operation and status");
    metrics::describe_histogram!(REQUEST_SECONDS, metrics::Unit::Seconds, "Time to answer a request");
    metrics::describe_gauge!(QUEUE_DEPTH, "Commands that wait for a writer of the store");
    metrics::describe_gauge!(DUELS_SETTLED, "Duels settled since the store was made");
    metrics::describe_gauge!(CLOCK_SPEED, "Seconds of Arena time in a real second");
    metrics::describe_gauge!(BUILD_INFO, "Always 1; the label has the version");
}

/// Counts what the doors answer. Without a recorder this costs next to nothing.
pub(crate) fn observer() -> OnRequest {
    Arc::new(|seen: &RequestSeen| {
        let labels = [
            Label::from_static_parts("door", seen.door.name()),
            Label::from_static_parts("product", seen.product.unwrap_or(NOTHING)),
            Label::from_static_parts("operation", seen.operation.unwrap_or(NOTHING)),
        ];
        histogram!(REQUEST_SECONDS, labels.iter()).record(seen.elapsed.as_secs_f64());
        let status = Label::new("status", seen.status.to_string());
        let code = Label::from_static_parts("code", seen.code.unwrap_or(NOTHING));
        counter!(REQUESTS, labels.iter().chain([&status, &code]).cloned().collect::<Vec<Label>>())
            .increment(1);
    })
}
