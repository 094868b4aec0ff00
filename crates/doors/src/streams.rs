//! Streams of what happens to whoever listens, as server-sent events. The credential is looked at again with every
//! look for news, so that a stream ends with it; there is nothing here that a node would have to remember.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, Method, Response, header, request::Parts};
use kernel::{Fault, Kind, operation::StreamEvent};
use tokio::sync::watch;

use crate::{
    answer::{self, Told},
    config::Door,
    credential::Credential,
    dispatch::{self, Refused},
    house::House,
    operations::FOREIGN_ORIGIN,
    web::{
        live::{KEEP_ALIVE, Stopping},
        seats::{Full, Seat},
    },
};

/// Streams of all accounts at once on a node.
pub const STREAMS_MAX: usize = 512;
/// Streams of one account at once on a node.
pub const ACCOUNT_STREAMS_MAX: usize = 4;
/// How often a stream looks for news.
pub const LOOK: Duration = Duration::from_millis(250);
/// The longest id of an event that is read.
pub(crate) const LAST_ID_BYTES_MAX: usize = 1024;

/// One stream of a product.
#[derive(Clone)]
pub(crate) struct Listening {
    pub(crate) house: Arc<House>,
    pub(crate) product: usize,
    pub(crate) stream: usize,
}

/// Who listens and how far that is.
struct Reader {
    listening: Listening,
    credential: Credential,
    last: Option<String>,
    /// Looks in a row that brought nothing, for the sign of life.
    quiet: u32,
    stopping: Option<watch::Receiver<bool>>,
    _seat: Seat<String>,
}

pub(crate) async fn serve(State(listening): State<Listening>, request: Request) -> Response<Body> {
    let mounted = &listening.house.products[listening.product].product;
    let spec = &mounted.streams[listening.stream];
    let told = Told { product: Some(mounted.name), operation: Some(spec.id), ..Told::by(Door::Rest) };
    let (parts, _) = request.into_parts();
    match begin(&listening, &parts).await {
        Ok((first, reader)) => {
            let news = stream::unfold(reader, |mut reader| async {
                let bytes = next(&mut reader).await?;
                Some((Ok::<_, std::convert::Infallible>(bytes), reader))
            });
            let greeting = stream::once(async move { Ok(Bytes::from(format!("retry: 2000\n\n{first}"))) });
            let mut response = Response::new(Body::from_stream(greeting.chain(news)));
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
            response.extensions_mut().insert(told);
            response
        }
        Err(refused) => {
            let is_method = refused.fault.kind == Kind::MethodNotAllowed;
            let mut response = answer::refused(mounted, &refused, told);
            if is_method {
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
            }
            response
        }
    }
}

/// Checks everything that can be refused before the stream begins, and makes the first look.
async fn begin(listening: &Listening, request: &Parts) -> Result<(String, Reader), Refused> {
    let Listening { house, product, stream } = listening;
    let refuse = |fault: Fault| Refused::new(fault, house.now());
    if request.method != Method::GET {
        return Err(refuse(Fault::of(Kind::MethodNotAllowed, "this path takes GET; use that method")));
    }
    if !house.callers.origin_is_ours(&request.headers) {
        return Err(refuse(Fault::of(Kind::Foreign, FOREIGN_ORIGIN)));
    }
    let credential = Credential::of(&request.uri, &request.headers);
    let scope = house.products[*product].product.streams[*stream].scope;
    let principal = dispatch::admit(house, *product, &credential, scope).await?;
    let last = last_id(&request.headers).map_err(refuse)?;
    let seat = house.streams.take(Some(principal.person_id), STREAMS_MAX, ACCOUNT_STREAMS_MAX);
    let seat = seat.map_err(|full| refuse(too_many(&full)))?;
    let stopping = request.extensions.get::<Stopping>().map(|stopping| stopping.0.clone());
    let mut reader =
        Reader { listening: listening.clone(), credential, last, quiet: 0, stopping, _seat: seat };
    let first = look(&mut reader).await.map_err(refuse)?;
    Ok((first, reader))
}

/// The id that a browser or a program brings back.
fn last_id(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let usable = value.to_str().ok().filter(|text| text.len() <= LAST_ID_BYTES_MAX);
    let text = usable.ok_or_else(|| {
        Fault::invalid("Last-Event-ID is not the id of an event of this stream; connect without it")
    })?;
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

fn too_many(full: &Full) -> Fault {
    let fault = match full {
        Full::All => Fault::of(
            Kind::Unavailable,
            format!("{STREAMS_MAX} streams are open on this server; poll instead, or come back"),
        ),
        Full::Share => Fault::of(
            Kind::RateLimited,
            format!("{ACCOUNT_STREAMS_MAX} streams of this account are open; close one first"),
        ),
    };
    fault.with_retry_after(1)
}

/// The events since the last one, as text; none is the empty text.
async fn look(reader: &mut Reader) -> Result<String, Fault> {
    let (listening, credential, last) =
        (reader.listening.clone(), reader.credential.clone(), reader.last.clone());
    let Listening { house, product, stream } = listening;
    let shared = Arc::clone(&house);
    let events = house
        .store
        .read(move |tx| {
            let principal = dispatch::authenticated(&shared, tx, product, &credential)?;
            (shared.products[product].product.streams[stream].read)(tx, &principal.person_id, last.as_deref())
        })
        .await?;
    if let Some(event) = events.last() {
        reader.last = Some(event.id.clone());
    }
    Ok(events.iter().map(written).collect())
}

async fn next(reader: &mut Reader) -> Option<Bytes> {
    loop {
        let stopped = async {
            match &mut reader.stopping {
                // An error means that the server is gone, which is a reason to stop too.
                Some(stopping) => drop(stopping.wait_for(|stopped| *stopped).await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stopped => return None,
            () = tokio::time::sleep(LOOK) => {}
        }
        match look(reader).await {
            Ok(events) if !events.is_empty() => {
                reader.quiet = 0;
                return Some(events.into());
            }
            Ok(_) => {}
            // The next request is told why.
            Err(fault) if fault.kind == Kind::Unauthenticated => return None,
            Err(fault) => answer::log(&fault, "UNAVAILABLE"),
        }
        reader.quiet += 1;
        if LOOK * reader.quiet >= KEEP_ALIVE {
            reader.quiet = 0;
            return Some(Bytes::from_static(b": still here\n\n"));
        }
    }
}

/// Ids are visible ASCII and data is JSON on one line, by what makes them.
fn written(event: &StreamEvent) -> String {
    format!("id: {}\nevent: {}\ndata: {}\n\n", event.id, event.kind, event.data)
}
