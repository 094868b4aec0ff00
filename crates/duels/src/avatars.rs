//! What becomes of images: names that are never used twice, and the removal of those that nobody shows.
//!
//! An image is noted before it is made and raised with the presentation that shows it, in one transaction.
//! Whatever lies between is swept: a crash at any point leaves at most an image that is removed later.

use std::time::Duration;

use kernel::{
    Fault,
    id::{Ids, hex},
    tx::{Command, Tx, Verdict},
};
use store::Store;

use crate::{Duels, tables::avatars};

/// How long an image may take from its note to its presentation, in real time; far longer than fetching
/// and making it.
pub const PENDING_MS_MAX: i64 = 15 * 60_000;
/// How often a node looks for images to remove.
pub const SWEEP: Duration = Duration::from_secs(2);
/// Images that one look removes.
const SWEEP_MAX: i64 = 100;

/// A new name: 128 random bits.
pub(crate) fn name(ids: &dyn Ids) -> String {
    let mut bytes = [0; 16];
    ids.fill(&mut bytes);
    hex(&bytes)
}

/// Whether this can be the name of an image.
pub fn is_name(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Where this server shows an image.
pub(crate) fn path(name: &str) -> String {
    format!("/avatars/{name}.webp")
}

/// The names of all images that agents show.
pub fn shown(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    avatars::live(tx)
}

struct DoomStale;

impl Command for DoomStale {
    type Out = Vec<String>;

    fn name(&self) -> &'static str {
        "duels.doom_stale_avatars"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Vec<String>>, Fault> {
        let before = tx.real_ms() - PENDING_MS_MAX;
        avatars::doom_stale(tx, before)?;
        avatars::doomed(tx, SWEEP_MAX).map(Verdict::Done)
    }
}

struct Forget(String);

impl Command for Forget {
    type Out = ();

    fn name(&self) -> &'static str {
        "duels.forget_avatar"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        avatars::forget(tx, &self.0).map(Verdict::Done)
    }
}

/// Removes images that nobody shows; answers how many. The file goes before its row, so that a crash in
/// between removes it again.
pub async fn sweep(store: &Store, service: &Duels) -> Result<usize, Fault> {
    let Some(images) = &service.outside().avatars else { return Ok(0) };
    let Verdict::Done(doomed) = store.write(Box::new(DoomStale)).await? else { return Ok(0) };
    let (mut count, mut stuck) = (0, None);
    for name in doomed {
        // One that cannot be removed must not keep the others.
        if let Err(fault) = images.remove(&name).await {
            stuck.get_or_insert(fault);
            continue;
        }
        store.write(Box::new(Forget(name))).await?;
        count += 1;
    }
    stuck.map_or(Ok(count), Err)
}

/// Sweeps until `shutdown` turns true.
pub async fn run(
    store: Store,
    service: std::sync::Arc<Duels>,
    mut shutdown: tokio::sync::watch::Receiver<bool>,
) {
    while !*shutdown.borrow() {
        if let Err(fault) = sweep(&store, &service).await {
            tracing::warn!(error = fault.context(), "images wait to be removed");
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP) => {}
            _ = shutdown.changed() => {}
        }
    }
}
