//! `/live`: what happens, as server-sent events. One task a node looks, and only while somebody listens.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
};
use futures_util::stream;
use http::{HeaderValue, Response, header};
use kernel::{Fault, Kind, operation::LiveEvent};
use tokio::sync::{
    OwnedSemaphorePermit, Semaphore,
    broadcast::{self, error::RecvError},
    watch,
};

use super::page::{self, Asking};
use crate::{answer::Told, config::Door, house::House};

/// Listeners at once.
pub const LISTENERS_MAX: usize = 256;
/// How often a node looks for news while somebody listens.
pub(crate) const LOOK: Duration = Duration::from_millis(500);
/// How often a quiet stream says that it is alive.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events that a slow listener may lag behind before it misses some.
const BACKLOG: usize = 64;
/// Ids that are remembered as sent; far more than one look finds.
const SENT_MAX: usize = 512;

/// Tells streams that the server ends.
#[derive(Clone)]
pub(crate) struct Stopping(pub(crate) watch::Receiver<bool>);

pub(crate) struct Hub {
    events: broadcast::Sender<Arc<LiveEvent>>,
    is_looking: AtomicBool,
    listeners: Arc<Semaphore>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            events: broadcast::Sender::new(BACKLOG),
            is_looking: AtomicBool::new(false),
            listeners: Arc::new(Semaphore::new(LISTENERS_MAX)),
        }
    }
}

/// The newest events of every product, oldest first.
async fn newest(house: &Arc<House>) -> Result<Vec<LiveEvent>, Fault> {
    let shared = Arc::clone(house);
    house
        .store
        .read(move |tx| {
            let mut events = Vec::new();
            for mounted in &shared.products {
                if let Some(live) = &mounted.product.pages.live {
                    events.extend(live(tx)?);
                }
            }
            Ok(events)
        })
        .await
}

/// Looks until nobody listens. What was there at the first look is old. Events are told apart by their
/// ids, because numbers of settlements may become visible out of their order.
async fn look(house: Arc<House>) {
    let mut sent: BTreeSet<String> = match newest(&house).await {
        Ok(events) => events.into_iter().map(|event| event.id).collect(),
        Err(_) => BTreeSet::new(),
    };
    while house.live.events.receiver_count() > 0 {
        tokio::time::sleep(LOOK).await;
        match newest(&house).await {
            Ok(events) => {
                let now: BTreeSet<String> = events.iter().map(|event| event.id.clone()).collect();
                for event in events.into_iter().filter(|event| !sent.contains(&event.id)) {
                    // Nobody listening is no fault.
                    let _ = house.live.events.send(Arc::new(event));
                }
                if sent.len() > SENT_MAX {
                    sent.clear();
                }
                sent.extend(now);
            }
            Err(fault) => tracing::warn!(error = fault.context(), "the live stream waits for the store"),
        }
    }
    house.live.is_looking.store(false, Ordering::Release);
}

/// What a stream holds between two events.
struct Listening {
    events: broadcast::Receiver<Arc<LiveEvent>>,
    first: Option<Vec<LiveEvent>>,
    stopping: Option<watch::Receiver<bool>>,
    _slot: OwnedSemaphorePermit,
}

pub(crate) async fn serve(State(house): State<Arc<House>>, request: Request) -> Response<Body> {
    let told = Told { operation: Some("/live"), ..Told::by(Door::Page) };
    let asking = Asking::of(&request);
    if let Some(refusal) = page::refused_method(&house, &asking, told) {
        return refusal;
    }
    let Ok(slot) = Arc::clone(&house.live.listeners).try_acquire_owned() else {
        let fault = Fault::of(
            Kind::Unavailable,
            format!(
                "{LISTENERS_MAX} listeners are connected already; read /duels/v1/settled instead, or come back"
            ),
        );
        return page::error(&house, &asking, &fault, told);
    };
    let events = house.live.events.subscribe();
    if !house.live.is_looking.swap(true, Ordering::AcqRel) {
        tokio::spawn(look(Arc::clone(&house)));
    }
    let stopping = request.extensions().get::<Stopping>().map(|stopping| stopping.0.clone());
    // Who was cut off says what it saw last, and gets what came after it as far as it is still new.
    let seen =
        request.headers().get("last-event-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
    drop(request);
    let first = match seen {
        None => None,
        Some(seen) => newest(&house).await.ok().and_then(|events| {
            let at = events.iter().position(|event| event.id == seen)?;
            Some(events.into_iter().skip(at + 1).collect())
        }),
    };
    let listening = Listening { events, first, stopping, _slot: slot };
    let greeting =
        stream::once(async { Ok::<_, std::convert::Infallible>(Bytes::from_static(b"retry: 3000\n\n")) });
    let news = stream::unfold(listening, |mut listening| async {
        let bytes = next(&mut listening).await?;
        Some((Ok(bytes), listening))
    });
    let mut response = Response::new(Body::from_stream(futures_util::StreamExt::chain(greeting, news)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.extensions_mut().insert(told);
    response
}

async fn next(listening: &mut Listening) -> Option<Bytes> {
    if let Some(first) = listening.first.take() {
        return Some(first.iter().map(written).collect::<String>().into());
    }
    loop {
        let stopped = async {
            match &mut listening.stopping {
                // An error means that the server is gone, which is a reason to stop too.
                Some(stopping) => drop(stopping.wait_for(|stopped| *stopped).await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stopped => return None,
            event = listening.events.recv() => match event {
                Ok(event) => return Some(written(&event).into()),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            },
            () = tokio::time::sleep(KEEP_ALIVE) => return Some(Bytes::from_static(b": still here\n\n")),
        }
    }
}

fn written(event: &LiveEvent) -> String {
    let one_line = |text: &str| text.replace(['\n', '\r'], " ");
    format!("id: {}\nevent: settled\ndata: {}\n\n", one_line(&event.id), one_line(&event.html))
}
