//! The wiring of a server: one store, the products on it, the doors, the workers and the admin
//! socket. `serve` and `demo` both build this.

use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::Router;
use doors::{DoorsConfig, HttpLimits, OnRequest, ServerName};
use duels::Duels;
use identity::act::Act;
use kernel::{
    id::{Ids, OsIds},
    time::SystemClock,
    tx::Verdict,
};
use store::{Engine, Place, Store, limits::Limits};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{avatars::Workshop, cards::Printer, outside, sign_in};
use crate::{
    admin::{execute::Office, socket::AdminSocket},
    config::{layers::Loaded, model::Config},
    exit::ExitCode,
    failure::{Failure, split},
    opening,
};

/// How often agents without a vector are looked for.
const ASK_AGAIN: Duration = Duration::from_mins(10);
/// How often what is past its time is deleted.
const HOUSEKEEPING: Duration = Duration::from_mins(5);
/// How long workers may take to notice that the server ends.
const WORKERS_END: Duration = Duration::from_secs(5);

/// What a server is built from.
pub(crate) struct Plan<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) place: Place,
    pub(crate) listener: TcpListener,
    pub(crate) public_url: Url,
    pub(crate) drain_time: Duration,
    pub(crate) on_request: Option<OnRequest>,
    pub(crate) workshop: Workshop,
}

/// A server that answers.
pub(crate) struct House {
    pub(crate) store: Store,
    pub(crate) service: Arc<Duels>,
    pub(crate) office: Office,
    stop: CancellationToken,
    stop_workers: watch::Sender<bool>,
    doors: JoinHandle<()>,
    workers: Vec<JoinHandle<()>>,
    socket: Option<JoinHandle<()>>,
}

pub(crate) fn server_name() -> ServerName {
    ServerName {
        name: "arena".to_owned(),
        title: "Arena".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

impl House {
    /// Opens everything; when this answers, the listener is served.
    pub(crate) async fn open(plan: Plan<'_>) -> Result<Self, Failure> {
        let Plan { loaded, place, listener, public_url, drain_time, on_request, workshop } = plan;
        let config = &loaded.config;
        let address = listener
            .local_addr()
            .map_err(|error| Failure::failed(format!("the listener is gone: {error}")))?;
        let in_memory = matches!(place, Place::Memory);
        let data_dir = match &place {
            Place::Directory(path) => Some(path.clone()),
            Place::Memory | Place::Postgres(_) => None,
        };
        let store = opening::open(place, config).await?;
        let ids: Arc<dyn Ids> = Arc::new(OsIds);
        let limits = HttpLimits { drain_time, ..HttpLimits::default() };
        let front = Front {
            store: store.clone(),
            ids: Arc::clone(&ids),
            config: config.clone(),
            speed_is_chosen: loaded.origin("clock.speed").is_chosen(),
            public_url: public_url.clone(),
            loopback: address.ip().is_loopback(),
            limits,
            on_request,
            avatars: match (&config.avatars.dir, &data_dir, in_memory) {
                (_, _, true) => None,
                (Some(chosen), ..) => Some(chosen.into()),
                (None, Some(own), _) => Some(own.join(opening::AVATARS)),
                (None, None, _) => Some(loaded.data_dir.join(opening::AVATARS)),
            },
            workshop,
        };
        // Opening waits for the store, so it runs where waiting is allowed.
        let (service, router) = tokio::task::spawn_blocking(move || front.open())
            .await
            .map_err(|error| Failure::failed(format!("the start broke off: {error}")))??;

        let office = Office {
            store: store.clone(),
            ids: Arc::clone(&ids),
            opening_points: config.duels.opening_points,
            public_url,
            server: Some(super::listen::openable(address)),
        };
        let stop = CancellationToken::new();
        let socket = match data_dir {
            Some(path) => Some(AdminSocket::bind(&path).map_err(|error| {
                Failure::failed(format!("cannot make the admin socket in {}: {error}", path.display()))
                    .hint("check the directory's permissions and the free space")
            })?),
            None => None,
        };
        let socket = socket.map(|socket| tokio::spawn(socket.serve(office.clone(), stop.clone())));
        let (stop_workers, stopping) = watch::channel(false);
        let workers = vec![
            tokio::spawn(duels::worker::run(store.clone(), Arc::clone(&service), stopping.clone())),
            tokio::spawn(store::jobs::run(
                store.clone(),
                Arc::clone(&ids),
                duels::behaviour::workers(service.outside()),
                stopping.clone(),
            )),
            tokio::spawn(search(store.clone(), Arc::clone(&service), stopping.clone())),
            tokio::spawn(duels::avatars::run(store.clone(), Arc::clone(&service), stopping.clone())),
            tokio::spawn(housekeeping(store.clone(), stopping)),
        ];
        let doors = tokio::spawn(doors::serve(listener, router, limits, stop.clone().cancelled_owned()));
        Ok(Self { store, service, office, stop, stop_workers, doors, workers, socket })
    }

    /// Which engine holds the data.
    pub(crate) fn engine(&self) -> Engine {
        self.store.engine()
    }

    /// Takes no new work, finishes what was accepted, and closes the store.
    pub(crate) async fn close(self) {
        self.stop.cancel();
        ended("doors", self.doors).await;
        if let Some(socket) = self.socket {
            ended("admin socket", socket).await;
        }
        // Workers that have ended already do not need to be told.
        let _ = self.stop_workers.send(true);
        for worker in self.workers {
            let abort = worker.abort_handle();
            if tokio::time::timeout(WORKERS_END, worker).await.is_err() {
                tracing::warn!("a worker was still busy at the end");
                abort.abort();
            }
        }
        drop(self.office);
        opening::close(self.store).await;
    }
}

async fn ended(part: &str, task: JoinHandle<()>) {
    if let Err(error) = task.await {
        tracing::error!(part, %error, "a part of the server ended badly");
    }
}

/// What the doors and the products behind them are opened with.
struct Front {
    store: Store,
    ids: Arc<dyn Ids>,
    config: Config,
    speed_is_chosen: bool,
    public_url: Url,
    loopback: bool,
    limits: HttpLimits,
    on_request: Option<OnRequest>,
    avatars: Option<PathBuf>,
    workshop: Workshop,
}

impl Front {
    /// Sets the clock, opens the products, and mounts them.
    fn open(self) -> Result<(Arc<Duels>, Router), Failure> {
        let Self {
            store,
            ids,
            config,
            speed_is_chosen,
            public_url,
            loopback,
            limits,
            on_request,
            avatars,
            workshop,
        } = self;
        // Arena time goes on from where it is, so an unchanged speed writes nothing. On a database that
        // other nodes share, a speed that nobody chose here changes nothing there.
        let speed_milli = config.clock.speed.milli();
        let ours = speed_is_chosen || store.engine() == Engine::Sqlite;
        if ours && store.anchor()?.speed_milli != speed_milli {
            store.set_speed(speed_milli)?;
        }
        let sign_in = sign_in::open(&config, &public_url, &workshop.fetcher)?;
        let (outside, gallery) = outside::open(&config.semantic, avatars, workshop)?;
        let service = Duels::open(&store, Arc::clone(&ids), public_url.as_str(), outside)?;
        let server = server_name();
        let cards = Arc::new(Printer::new(&server.title, &public_url));
        let router = doors::router(DoorsConfig {
            limiter: Arc::new(Limits::of(store.engine())),
            store,
            products: vec![duels::product(&service)],
            authenticate: Arc::new(identity::authenticate),
            ids,
            clock: Arc::new(SystemClock),
            server,
            cards: Some(cards),
            public_url,
            allowed_hosts: config.http.allowed_hosts,
            allowed_origins: config.http.allowed_origins,
            loopback_origins: loopback,
            root_mcp: config.http.root_mcp,
            limits,
            extra: gallery.map_or_else(Router::new, super::avatars::routes),
            on_request,
            sign_in: Some(sign_in),
        });
        let router = router.map_err(|error| split(ExitCode::Usage, &error.to_string()))?;
        Ok((service, router))
    }
}

/// Prepares search and then does its jobs, apart from the others: an encoder may be slow.
async fn search(store: Store, service: Arc<Duels>, stopping: watch::Receiver<bool>) {
    let ask = async || match service.prepare_search(&store).await {
        Ok(missing) if missing > 0 => tracing::info!(agents = missing, "vectors are being made anew"),
        Ok(_) => {}
        Err(fault) => tracing::warn!(error = fault.context(), "search was not prepared"),
    };
    ask().await;
    // Jobs give up on an endpoint that is away for long; whoever lacks a vector then is asked for again.
    let asking = async {
        loop {
            tokio::time::sleep(ASK_AGAIN).await;
            ask().await;
        }
    };
    let ids = Arc::clone(service.ids());
    tokio::select! {
        () = store::jobs::run(store.clone(), ids, service.slow_workers(), stopping) => {}
        () = asking => {}
    }
}

async fn housekeeping(store: Store, mut stopping: watch::Receiver<bool>) {
    while !*stopping.borrow() {
        match store.prune().await {
            Ok(rows) if rows > 0 => tracing::info!(rows, "pruned what was past its time"),
            Ok(_) => {}
            Err(fault) => tracing::warn!(error = fault.context(), "housekeeping waits for the store"),
        }
        let prune = Act::new("identity.prune", identity::prune);
        match store.write(Box::new(prune)).await {
            Ok(Verdict::Done(rows)) if rows > 0 => tracing::info!(rows, "pruned sign-ins past their time"),
            Ok(_) => {}
            Err(fault) => tracing::warn!(error = fault.context(), "housekeeping waits for the store"),
        }
        tokio::select! {
            () = tokio::time::sleep(HOUSEKEEPING) => {}
            _ = stopping.changed() => {}
        }
    }
}
