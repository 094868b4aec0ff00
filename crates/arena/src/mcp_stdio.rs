//! `arena mcp duels`: the duels tools over standard input and output.
//!
//! The tools are listed from this program itself; a call goes to the REST door of a server with the
//! person's key, and what the server answers is passed on as it is.

use std::sync::Arc;

use doors::{Forward, Forwarded, ToolCall};
use duels::{Duels, outside::Outside};
use kernel::{
    Fault, Kind,
    id::OsIds,
    operation::Product,
    time::{Clock, SystemClock},
};
use store::{Options, Place, Store};
use url::Url;

use crate::{
    config::{layers::Loaded, model, settings::LISTEN_DEFAULT},
    exit::ExitCode,
    failure::Failure,
    remote::http::Http,
    serve::{house, logs},
};

/// Where calls go, as far as it is known.
struct Target {
    http: Http,
    base: Url,
    key: Option<String>,
    product: Arc<Product>,
}

/// Serves until the client closes its end.
pub(crate) async fn run(loaded: &Loaded) -> Result<ExitCode, Failure> {
    let _logs = logs::start(loaded.config.log.filter.as_deref(), "warn")?;
    let base = match &loaded.config.server {
        Some(url) => model::web_url("server", url)?,
        None => Url::parse(&format!("http://{LISTEN_DEFAULT}"))
            .map_err(|error| Failure::failed(format!("the default server is no address: {error}")))?,
    };
    let product = Arc::new(catalog().await?);
    let target = Arc::new(Target {
        http: Http::new()?,
        base,
        key: loaded.config.api_key.clone(),
        product: Arc::clone(&product),
    });
    let forward: Forward = Arc::new(move |call| {
        let target = Arc::clone(&target);
        Box::pin(async move { target.forward(call).await })
    });
    doors::serve_stdio(&product, &house::server_name(), forward)
        .await
        .map_err(|error| Failure::new(ExitCode::Refused, error.to_string()))?;
    Ok(ExitCode::Ok)
}

/// The catalog alone. It is made over a store in memory, because operations carry their service; no
/// operation of it ever runs here.
async fn catalog() -> Result<Product, Failure> {
    let made = tokio::task::spawn_blocking(|| {
        let mut options = Options::new(Place::Memory);
        options.schemas = vec![store::SCHEMA, identity::SCHEMA, duels::SCHEMA];
        options.readers = 1;
        let store = Store::open(options).map_err(|error| crate::opening::failure(&error))?;
        let service = Duels::open(&store, Arc::new(OsIds), "http://localhost", Outside::default())?;
        let product = duels::product(&service);
        store.close();
        Ok(product)
    });
    made.await.map_err(|error| Failure::failed(format!("the catalog could not be made: {error}")))?
}

impl Target {
    async fn forward(&self, call: ToolCall) -> Forwarded {
        match self.ask(call).await {
            Ok(forwarded) => forwarded,
            Err(fault) => {
                let at = kernel::Moment::from_millis(SystemClock.real_ms());
                Forwarded { json: self.product.body(&fault, at).to_string(), is_error: true }
            }
        }
    }

    async fn ask(&self, call: ToolCall) -> Result<Forwarded, Fault> {
        let key = self.key.as_deref().ok_or_else(|| {
            Fault::of(
                Kind::Unauthenticated,
                "no key is set; get one with `arena admin user create NICKNAME` and start this with ARENA_API_KEY set to it",
            )
        })?;
        let path = format!("{}/{}", self.product.rest_prefix, call.name);
        let url = self.base.join(&path).map_err(Fault::internal)?;
        let answer = self
            .http
            .post(&url, key, call.arguments.into_bytes(), call.idempotency_key.as_deref())
            .await
            .map_err(|failure| {
                Fault::of(
                    Kind::Unavailable,
                    format!(
                        "{}; start a server with `arena serve`, or name one with --server or ARENA_SERVER",
                        failure.message
                    ),
                )
            })?;
        match answer.body {
            Some(body) if body.is_object() => {
                Ok(Forwarded { json: body.to_string(), is_error: answer.status != 200 })
            }
            _ => Err(Fault::of(
                Kind::Unavailable,
                format!(
                    "{} answered status {} without JSON; check that it is an Arena server",
                    self.base, answer.status
                ),
            )),
        }
    }
}
