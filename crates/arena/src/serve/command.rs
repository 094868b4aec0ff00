//! `arena serve` from the first address to the last answer.

use std::time::Duration;

use super::{
    avatars::Workshop,
    banner,
    house::{House, Plan},
    listen, logs,
    metrics::{self, Metrics},
    signals,
};
use crate::{
    config::{layers::Loaded, model},
    exit::ExitCode,
    failure::Failure,
    opening,
    output::{
        escape::{printable, shell_word},
        print,
    },
};

/// Serves until SIGINT or SIGTERM.
pub(crate) async fn run(loaded: &Loaded) -> Result<ExitCode, Failure> {
    let config = &loaded.config;
    let _logs = logs::start(config.log.filter.as_deref(), "info")?;
    let wish = signals::shutdown()?;
    let at = model::address("http.listen", &config.http.listen)?;
    let listener = listen::bind(at).await.map_err(|refused| listen::failure(&refused, at, "--listen"))?;
    let bound = listener.local_addr().unwrap_or(at);
    let public_url = listen::public_url(&config.http, bound)?;
    let metrics = Metrics::start(loaded).await?;
    let metrics_url = metrics.as_ref().map(Metrics::url);
    let house = House::open(Plan {
        loaded,
        place: opening::place(loaded),
        listener,
        public_url: public_url.clone(),
        drain_time: Duration::from_secs(config.http.drain_seconds),
        on_request: metrics.as_ref().map(|_| metrics::observer()),
        workshop: Workshop::default(),
    })
    .await?;
    let scraping = metrics.map(|metrics| tokio::spawn(metrics.serve(house.store.clone(), wish.clone())));

    let base = public_url.as_str().trim_end_matches('/');
    let data = match house.engine() {
        store::Engine::Sqlite => loaded.data_dir.display().to_string(),
        store::Engine::Postgres => "PostgreSQL".to_owned(),
    };
    let first_key = first_key(loaded, house.engine());
    print::note(&banner::text(
        base,
        metrics_url.as_deref(),
        &printable(&data),
        config.clock.speed,
        &first_key,
    ));
    print::note(&format!("ready on {}", listen::openable(bound)));
    tracing::info!(address = %bound, "ready");

    wish.cancelled().await;
    tracing::info!("stopping: finishing what was accepted");
    house.close().await;
    if let Some(task) = scraping {
        task.abort();
    }
    tracing::info!("stopped");
    Ok(ExitCode::Ok)
}

/// The command that makes a person here: without what this server was told, it would open another place.
fn first_key(loaded: &Loaded, engine: store::Engine) -> String {
    let command = "arena admin user create NICKNAME";
    if engine == store::Engine::Postgres {
        return format!("{command} --database-url … (the same as this server's)");
    }
    if loaded.origin("data_dir").is_chosen() {
        return format!("{command} --data-dir {}", shell_word(&loaded.data_dir.display().to_string()));
    }
    command.to_owned()
}
