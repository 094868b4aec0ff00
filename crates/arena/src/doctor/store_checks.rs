//! The checks that need the store, run by whoever holds it. They only read.

use kernel::{Fault, Moment};
use store::{Engine, Store, jobs, ledger::Audit};

use super::check::Check;
use crate::config::speed::Speed;

/// So many violations are shown; the first ones lead to the cause.
const SHOWN_MAX: usize = 3;

/// Looks at everything; a check that cannot be made fails. `serving`: a server makes the checks, so
/// its workers should have done what is due.
pub(crate) async fn run(store: &Store, serving: bool) -> Vec<Check> {
    vec![
        database(store),
        schema(store).await,
        ledger(store).await,
        clock(store).await,
        overdue(store, serving).await,
        dead_jobs(store).await,
    ]
}

fn database(store: &Store) -> Check {
    let engine = match store.engine() {
        Engine::Sqlite => "SQLite",
        Engine::Postgres => "PostgreSQL",
    };
    Check::holds("database", format!("{engine}, open, of a version that Arena supports"))
}

/// Opening applied every step, so what is left to show is that all statements fit the tables.
async fn schema(store: &Store) -> Check {
    let statements = [store::statements(), identity::statements(), duels::statements()].concat();
    let count = statements.len();
    let handle = store.clone();
    let prepared = tokio::task::spawn_blocking(move || handle.prepare_all(statements)).await;
    let versions: Vec<String> = [store::SCHEMA, identity::SCHEMA, duels::SCHEMA]
        .iter()
        .map(|schema| format!("{} {}", schema.product, schema.steps.len()))
        .collect();
    match prepared.map_err(Fault::internal).and_then(|prepared| prepared) {
        Ok(()) => Check::holds("schema", format!("{}; {count} statements fit", versions.join(", "))),
        Err(fault) => Check::fails("schema", why(&fault), "restore a backup, or report this"),
    }
}

async fn ledger(store: &Store) -> Check {
    const NAME: &str = "ledger";
    match store.read(|tx| duels::audit::audit(tx)).await {
        Ok(Audit { violations, transfers, issued, burned, held, .. }) if violations.is_empty() => {
            Check::holds(
                NAME,
                format!("{transfers} transfers; issued {issued} = held {held} + burned {burned}"),
            )
        }
        Ok(Audit { violations, .. }) => {
            let shown: Vec<&str> = violations.iter().take(SHOWN_MAX).map(String::as_str).collect();
            let more = violations.len().saturating_sub(SHOWN_MAX);
            let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
            Check::fails(
                NAME,
                format!("{}{rest}", shown.join("; ")),
                "stop the server, keep a copy of the data, and restore a backup or report this",
            )
        }
        Err(fault) => Check::fails(NAME, why(&fault), "restore a backup, or report this"),
    }
}

async fn clock(store: &Store) -> Check {
    const NAME: &str = "clock";
    /// Real time before this cannot be right: it is older than the format of the data.
    const EARLIEST_MS: i64 = 1_735_689_600_000;
    let read = store.read(|tx| Ok((tx.now(), tx.real_ms()))).await;
    match (read, speed_milli(store).await) {
        (Ok((_, real)), _) if real < EARLIEST_MS => Check::fails(
            NAME,
            format!("the machine's clock says {}", Moment::from_millis(real)),
            "set the machine's clock",
        ),
        (Ok((now, _)), Ok(milli)) => {
            Check::holds(NAME, format!("Arena time {now}, {} times real time", Speed::of_milli(milli)))
        }
        (Err(fault), _) | (_, Err(fault)) => {
            Check::fails(NAME, why(&fault), "see whether the database is well")
        }
    }
}

async fn speed_milli(store: &Store) -> Result<i64, Fault> {
    let handle = store.clone();
    let anchor = tokio::task::spawn_blocking(move || handle.anchor()).await;
    Ok(anchor.map_err(Fault::internal)??.speed_milli)
}

async fn overdue(store: &Store, serving: bool) -> Check {
    const NAME: &str = "overdue duels";
    /// A worker settles within a second of real time; a little more is load, this is a worker that is away.
    const LATE_REAL_SECONDS: i64 = 5;
    let count = match speed_milli(store).await {
        Ok(milli) => store.read(move |tx| duels::audit::overdue(tx, LATE_REAL_SECONDS * milli)).await,
        Err(fault) => Err(fault),
    };
    match count {
        Ok(0) => Check::holds(NAME, "none"),
        Ok(count) if !serving => {
            Check::holds(NAME, format!("{count}, which the next server settles when it starts"))
        }
        Ok(count) => Check::fails(
            NAME,
            format!("{count} duels are past their deadline and not settled"),
            "look at the server's log for what keeps it from settling",
        ),
        Err(fault) => Check::fails(NAME, why(&fault), "restore a backup, or report this"),
    }
}

async fn dead_jobs(store: &Store) -> Check {
    const NAME: &str = "jobs";
    match store.read(|tx| jobs::counts(tx)).await {
        Ok(counts) => match counts.get("dead").copied().unwrap_or(0) {
            0 => Check::holds(NAME, format!("{} waiting, none dead", counts.values().sum::<i64>())),
            dead => {
                Check::fails(NAME, format!("{dead} jobs failed for good"), "look at the log for their errors")
            }
        },
        Err(fault) => Check::fails(NAME, why(&fault), "restore a backup, or report this"),
    }
}

/// For the operator, who may read the context.
fn why(fault: &Fault) -> String {
    fault.context().map_or_else(|| fault.message.clone(), str::to_owned)
}
