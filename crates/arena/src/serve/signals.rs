//! SIGINT, SIGTERM, and SIGHUP of a closed terminal as one wish to end.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// A repeat within this belongs to the first signal: whoever signals a process often signals its
/// group as well.
const SAME_WISH: Duration = Duration::from_secs(1);

/// Listens from now on; a signal that comes later than the first ends the process at once.
pub(crate) fn shutdown() -> Result<CancellationToken, Failure> {
    let on =
        |kind| signal(kind).map_err(|error| Failure::failed(format!("cannot listen for signals: {error}")));
    let mut signals = [on(SignalKind::interrupt())?, on(SignalKind::terminate())?, on(SignalKind::hangup())?];
    let wish = CancellationToken::new();
    let told = wish.clone();
    tokio::spawn(async move {
        any(&mut signals).await;
        told.cancel();
        let later = tokio::time::Instant::now() + SAME_WISH;
        while tokio::time::timeout_at(later, any(&mut signals)).await.is_ok() {}
        any(&mut signals).await;
        // The person insists. What was acknowledged is durable, so nothing is lost.
        std::process::exit(i32::from(crate::exit::ExitCode::Failed.number()));
    });
    Ok(wish)
}

async fn any([one, two, three]: &mut [Signal; 3]) {
    tokio::select! {
        _ = one.recv() => {}
        _ = two.recv() => {}
        _ = three.recv() => {}
    }
}
