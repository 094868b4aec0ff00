//! What happens once, before the threads start: the version is checked and the schemas are applied.

use std::{collections::HashMap, io::Error, thread, time::Duration};

use tokio_postgres::{Client, SimpleQueryMessage, error::SqlState};

use super::{
    address::{Address, described},
    link,
};
use crate::{OpenError, Options, dialect, migrate};

/// PostgreSQL 15.
const VERSION_MIN: i64 = 150_000;
/// Tries to make the first two tables, which have no lock to make them under.
const BOOTSTRAP_TRIES_MAX: u32 = 50;
const BOOTSTRAP_PAUSE: Duration = Duration::from_millis(20);
/// The lock that one opener at a time migrates under.
const LOCK_NAME: &str = "#migration";

/// On a thread of its own, because a store may be opened from inside a runtime.
pub(super) fn run(address: &Address, options: &Options, real_ms: i64) -> Result<(), OpenError> {
    let work = || link::runtime()?.block_on(connect_and_set_up(address, options, real_ms));
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|_| Err(OpenError::Thread { cause: Error::other("the set-up panicked") }))
}

async fn connect_and_set_up(address: &Address, options: &Options, real_ms: i64) -> Result<(), OpenError> {
    let cannot = |error| OpenError::Connect { server: address.shown.clone(), cause: described(&error) };
    let (client, driver) = address.connect_to_migrate().await.map_err(cannot)?;
    let done = set_up(&client, address, options, real_ms).await;
    drop(client);
    if let Err(error) = driver.await {
        tracing::debug!(%error, "the connection for the set-up did not end well");
    }
    done
}

async fn set_up(
    client: &Client,
    address: &Address,
    options: &Options,
    real_ms: i64,
) -> Result<(), OpenError> {
    let refused = |error: tokio_postgres::Error| OpenError::Postgres {
        server: address.shown.clone(),
        cause: described(&error),
    };
    let found = version(client).await.map_err(refused)?;
    check_version(&found, address)?;
    for table in [migrate::TABLE, migrate::GUARD_TABLE] {
        make_table(client, &dialect::ddl_for_postgres(table)).await.map_err(refused)?;
    }
    let guard = "INSERT INTO guard (name) VALUES ($1) ON CONFLICT (name) DO NOTHING";
    client.execute(guard, &[&LOCK_NAME]).await.map_err(refused)?;
    while apply_next(client, address, options, real_ms).await? {}
    Ok(())
}

async fn version(client: &Client) -> Result<String, tokio_postgres::Error> {
    let answer = client.simple_query("SHOW server_version_num").await?;
    Ok(answer
        .iter()
        .find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
        .unwrap_or_default())
}

fn check_version(found: &str, address: &Address) -> Result<(), OpenError> {
    let number: i64 = found.parse().unwrap_or(0);
    if number >= VERSION_MIN {
        return Ok(());
    }
    let found = if number == 0 { found.to_owned() } else { (number / 10_000).to_string() };
    Err(OpenError::OldPostgres { server: address.shown.clone(), found })
}

/// Of two that make one table at once, PostgreSQL refuses one; it finds the table when it tries again.
async fn make_table(client: &Client, ddl: &str) -> Result<(), tokio_postgres::Error> {
    let mut tries = 0;
    loop {
        let Err(error) = client.batch_execute(ddl).await else { return Ok(()) };
        tries += 1;
        let raced = [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];
        if tries >= BOOTSTRAP_TRIES_MAX || !error.code().is_some_and(|code| raced.contains(code)) {
            return Err(error);
        }
        tokio::time::sleep(BOOTSTRAP_PAUSE).await;
    }
}

/// Applies one step in a transaction of its own; tells whether there was one.
async fn apply_next(
    client: &Client,
    address: &Address,
    options: &Options,
    real_ms: i64,
) -> Result<bool, OpenError> {
    let refused = |error: tokio_postgres::Error| OpenError::Postgres {
        server: address.shown.clone(),
        cause: described(&error),
    };
    client.batch_execute(dialect::BEGIN_WRITE.postgres).await.map_err(refused)?;
    client.query(dialect::LOCK.postgres, &[&vec![LOCK_NAME]]).await.map_err(refused)?;
    let rows = client.query(migrate::APPLIED, &[]).await.map_err(refused)?;
    let applied: HashMap<String, i64> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let next = match migrate::next(&options.all_schemas(), &applied) {
        Ok(next) => next,
        Err(ahead) => return Err(newer(client, ahead, &applied, options.version).await),
    };
    let Some(step) = next else {
        if migrate::tells_version(&applied) {
            client.execute(migrate::NOTE, &[&options.version, &real_ms]).await.map_err(refused)?;
        }
        client.batch_execute("COMMIT").await.map_err(refused)?;
        return Ok(false);
    };
    let failed = |error: tokio_postgres::Error| OpenError::Migration {
        product: step.product,
        number: step.number,
        cause: described(&error),
    };
    client.batch_execute(&dialect::ddl_for_postgres(step.ddl)).await.map_err(failed)?;
    client.execute(migrate::RECORD, &[&step.product, &step.number, &real_ms]).await.map_err(failed)?;
    client.batch_execute("COMMIT").await.map_err(failed)?;
    Ok(true)
}

/// The refusal of a schema that is ahead, with the version that wrote it.
async fn newer(
    client: &Client,
    ahead: migrate::Newer,
    applied: &HashMap<String, i64>,
    ours: &'static str,
) -> OpenError {
    let written_by = if migrate::tells_version(applied) {
        client.query_opt(migrate::NOTED, &[]).await.ok().flatten().map(|row| row.get(0))
    } else {
        None
    };
    let migrate::Newer { product, found, known } = ahead;
    OpenError::Newer { product, found, known, written_by, ours, copy: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused_in_words() {
        let address = Address::parse("postgres://h/d").unwrap();
        assert!(check_version("150018", &address).is_ok());
        for (found, shown) in [("140011", "14"), ("90624", "9"), ("odd", "odd")] {
            let error = check_version(found, &address).unwrap_err().to_string();
            assert!(error.contains(&format!("is version {shown};")), "{error}");
        }
    }
}
