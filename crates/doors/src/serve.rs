//! Accepts connections within limits and ends without losing accepted work.

use std::{future::Future, pin::pin, sync::Arc};

use axum::Router;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc, watch},
};

use tokio_io_timeout::TimeoutStream;

use crate::{
    config::HttpLimits,
    web::{
        live::Stopping,
        seats::{Peer, Seats},
    },
};

/// Answers on `listener` until `shutdown` completes, then lets the requests under way end, for at
/// most `limits.drain_time`.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    shutdown: impl Future<Output = ()> + Send,
) {
    let slots = Arc::new(Semaphore::new(limits.connections_max));
    let seats = Seats::default();
    let (stop, stopped) = watch::channel(false);
    // Every connection holds a sender; the receiver ends when the last one is gone.
    let (alive, mut all_gone) = mpsc::channel::<()>(1);
    // Streams end with the server instead of holding it up.
    let router = router.layer(axum::Extension(Stopping(stopped.clone())));
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let Some((stream, peer, slot)) = accepted else { continue };
        // Many at once from one address are closed: what they ask for is left to others.
        let Ok(seat) = seats.take(peer.counted(), usize::MAX, limits.connections_of_address_max) else {
            tracing::debug!(address = %peer.0, "an address has its share of connections");
            continue;
        };
        let (router, stopped, alive) = (router.clone(), stopped.clone(), alive.clone());
        tokio::spawn(async move {
            connection(stream, peer, router, limits, stopped).await;
            drop((seat, slot, alive));
        });
    }
    drop((listener, alive));
    // Nobody listens only when no connection is left.
    let _ = stop.send(true);
    if tokio::time::timeout(limits.drain_time, all_gone.recv()).await.is_err() {
        tracing::warn!(seconds = limits.drain_time.as_secs(), "connections were still busy at the end");
    }
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, Peer, tokio::sync::OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, from)) => Some((stream, Peer(from.ip()), slot)),
        Err(error) => {
            // Out of file descriptors, or a client that left already: wait, do not spin.
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

const ACCEPT_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

async fn connection(
    stream: TcpStream,
    peer: Peer,
    router: Router,
    limits: HttpLimits,
    mut stopped: watch::Receiver<bool>,
) {
    // Answers are small and whole; waiting to fill packets only delays them.
    let _ = stream.set_nodelay(true);
    let answering = TowerToHyperService::new(router);
    let answering = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        answering.call(request)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_buf_size(limits.header_bytes_max)
        .serve_connection(TokioIo::new(Box::pin(patient(stream, limits.write_time))), answering);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = until_stopped(&mut stopped) => None,
    };
    let ended = if let Some(ended) = ended {
        ended
    } else {
        connection.as_mut().graceful_shutdown();
        connection.await
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// The stream, which gives up on a client that takes nothing for so long.
fn patient(stream: TcpStream, write_time: std::time::Duration) -> TimeoutStream<TcpStream> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(write_time));
    stream
}

async fn until_stopped(stopped: &mut watch::Receiver<bool>) {
    // An error means that the server is gone, which is a reason to stop too.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}
