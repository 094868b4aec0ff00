//! SIGINT and SIGTERM as one wish to end.

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
    let (mut interrupt, mut terminate) = (on(SignalKind::interrupt())?, on(SignalKind::terminate())?);
    let wish = CancellationToken::new();
    let told = wish.clone();
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        told.cancel();
        let later = tokio::time::Instant::now() + SAME_WISH;
        while tokio::time::timeout_at(later, either(&mut interrupt, &mut terminate)).await.is_ok() {}
        either(&mut interrupt, &mut terminate).await;
        // The person insists. What was acknowledged is durable, so nothing is lost.
        std::process::exit(i32::from(crate::exit::ExitCode::Failed.number()));
    });
    Ok(wish)
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
