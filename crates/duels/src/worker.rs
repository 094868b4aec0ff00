//! The deadline worker: settles duels that nobody touches. Every node runs one, and a chronicler beside
//! it; none is special.

use std::{sync::Arc, time::Duration};

use kernel::{
    Fault,
    id::Ids,
    tx::{Tx, Verdict},
};
use store::Store;

use crate::{Duels, chronicle, settlement::SettleDue, tables::duels};

/// How often a node looks, in real time: well under the second in which a due duel must settle.
pub const POLL_MS: u64 = 100;
/// Due duels that one look takes; the next look follows at once when it was full.
pub const BATCH: usize = 200;

/// Slugs of the duels that are due now, longest overdue first.
pub fn due(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    duels::due(tx, i64::try_from(BATCH).map_err(Fault::internal)?)
}

/// The command that settles one due duel; `None` when there is no such duel.
pub fn settle_command(tx: &mut dyn Tx, ids: &dyn Ids, slug: &str) -> Result<Option<SettleDue>, Fault> {
    let duel = duels::by_slug(tx, slug)?;
    Ok(duel.map(|duel| SettleDue {
        slug: duel.slug,
        agents: duel.seats.map(|seat| seat.agent),
        seed: ids.seed(),
    }))
}

/// Settles what is due now and returns how many duels this call settled.
pub async fn run_once(store: &Store, ids: &Arc<dyn Ids>) -> Result<usize, Fault> {
    let drawn = Arc::clone(ids);
    let commands = store
        .read(move |tx| {
            let mut commands = Vec::new();
            for slug in due(tx)? {
                commands.extend(settle_command(tx, &*drawn, &slug)?);
            }
            Ok(commands)
        })
        .await?;
    // Submitted together, so that one commit carries many.
    let mut running = tokio::task::JoinSet::new();
    for command in commands {
        let store = store.clone();
        running.spawn(async move { store.write(Box::new(command)).await });
    }
    let mut settled = 0;
    let mut failed = None;
    while let Some(joined) = running.join_next().await {
        match joined.map_err(Fault::internal)? {
            Ok(Verdict::Done(true)) => settled += 1,
            Ok(_) => {}
            Err(fault) => failed = Some(fault),
        }
    }
    failed.map_or(Ok(settled), Err)
}

/// Settles due duels and writes the chronicle until `shutdown` turns true; a store that is away is waited for.
pub async fn run(store: Store, service: Arc<Duels>, shutdown: tokio::sync::watch::Receiver<bool>) {
    tokio::join!(settle(store.clone(), service, shutdown.clone()), chronicle::run(store, shutdown));
}

async fn settle(store: Store, service: Arc<Duels>, mut shutdown: tokio::sync::watch::Receiver<bool>) {
    while !*shutdown.borrow() {
        match run_once(&store, service.ids()).await {
            Ok(settled) if settled >= BATCH => continue,
            Ok(_) => {}
            Err(fault) => tracing::warn!(error = fault.context(), "settlements wait for the store"),
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(POLL_MS)) => {}
            _ = shutdown.changed() => {}
        }
    }
}
