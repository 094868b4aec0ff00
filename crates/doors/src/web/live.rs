//! `/live`: what happens, as server-sent events. One task a node looks, and only while somebody listens.

use std::{
    collections::BTreeSet,
    net::IpAddr,
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
    broadcast::{self, error::RecvError},
    watch,
};

use super::{
    page::{self, Asking},
    seats::{Full, Peer, Seat, Seats},
};
use crate::{answer::Told, config::Door, house::House};

/// Listeners at once.
pub const LISTENERS_MAX: usize = 256;
/// Listeners of one address; a proxy on the same machine is not counted.
pub const ADDRESS_LISTENERS_MAX: usize = 64;
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
    seats: Seats<IpAddr>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            events: broadcast::Sender::new(BACKLOG),
            is_looking: AtomicBool::new(false),
            seats: Seats::default(),
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
    loop {
        if house.live.events.receiver_count() == 0 {
            house.live.is_looking.swap(false, Ordering::AcqRel);
            // Who came after the count and before the note found somebody looking, and must not be left.
            if house.live.events.receiver_count() == 0 || house.live.is_looking.swap(true, Ordering::AcqRel) {
                return;
            }
        }
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
}

/// What a stream holds between two events.
struct Listening {
    events: broadcast::Receiver<Arc<LiveEvent>>,
    /// Not written yet: what was there when the stream began.
    first: Vec<LiveEvent>,
    /// The ids of those, which the looking task may find once more.
    begun_with: BTreeSet<String>,
    stopping: Option<watch::Receiver<bool>>,
    _seat: Seat<IpAddr>,
}

pub(crate) async fn serve(State(house): State<Arc<House>>, request: Request) -> Response<Body> {
    let told = Told { operation: Some("/live"), ..Told::by(Door::Page) };
    let asking = Asking::of(&request);
    if let Some(refusal) = page::refused_method(&house, &asking, told) {
        return refusal;
    }
    let peer = request.extensions().get::<Peer>().and_then(|peer| peer.counted());
    let seat = match house.live.seats.take(peer, LISTENERS_MAX, ADDRESS_LISTENERS_MAX) {
        Ok(seat) => seat,
        Err(full) => return page::error(&house, &asking, &refusal(&full), told),
    };
    let events = house.live.events.subscribe();
    if !house.live.is_looking.swap(true, Ordering::AcqRel) {
        tokio::spawn(look(Arc::clone(&house)));
    }
    let stopping = request.extensions().get::<Stopping>().map(|stopping| stopping.0.clone());
    // Who was cut off says what it saw last. Everybody else gets the newest events too: some may have
    // happened since the page was made, and rows are told apart by their ids.
    let seen =
        request.headers().get("last-event-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
    drop(request);
    let mut first = newest(&house).await.unwrap_or_default();
    if let Some(at) = seen.and_then(|seen| first.iter().position(|event| event.id == seen)) {
        first.drain(..=at);
    }
    let begun_with = first.iter().map(|event| event.id.clone()).collect();
    let listening = Listening { events, first, begun_with, stopping, _seat: seat };
    let greeting = format!("retry: 3000\n{}", clock(&house));
    let greeting = stream::once(async { Ok::<_, std::convert::Infallible>(Bytes::from(greeting)) });
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
    let first = std::mem::take(&mut listening.first);
    if !first.is_empty() {
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
                Ok(event) if listening.begun_with.remove(&event.id) => {}
                Ok(event) => return Some(written(&event).into()),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            },
            () = tokio::time::sleep(KEEP_ALIVE) => return Some(Bytes::from_static(b": still here\n\n")),
        }
    }
}

fn refusal(full: &Full) -> Fault {
    let who = match full {
        Full::All => format!("{LISTENERS_MAX} listeners are connected already"),
        Full::Share => format!("{ADDRESS_LISTENERS_MAX} listeners of this address are connected already"),
    };
    Fault::of(Kind::Unavailable, format!("{who}; read the home page instead, or come back"))
}

/// Arena time in milliseconds and its speed, so that a page can let its ages grow.
fn clock(house: &House) -> String {
    let speed = house.clock_speed().unwrap_or_else(|| "1".to_owned());
    format!("event: clock\ndata: {} {speed}\n\n", house.now().as_millis())
}

fn written(event: &LiveEvent) -> String {
    let one_line = |text: &str| text.replace(['\n', '\r'], " ");
    format!(
        "id: {}\nevent: {}\ndata: {}\n\n",
        one_line(&event.id),
        event.kind.as_str(),
        one_line(&event.html)
    )
}
