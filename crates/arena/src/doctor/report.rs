//! Runs every check and prints the report.

use serde::Serialize;

use super::{
    check::{Check, Outcome},
    host_checks,
};
use crate::{
    admin::{backup::swap, command, request::Examined},
    config::layers::Loaded,
    exit::ExitCode,
    failure::Failure,
    output::{escape::printable, print, table},
};

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    checks: &'a [Check],
}

/// The answer is [`ExitCode::Failed`] when anything does not hold.
pub(crate) async fn run(loaded: &Loaded, as_json: bool) -> Result<ExitCode, Failure> {
    let mut checks =
        vec![host_checks::config(loaded), host_checks::data_dir(loaded), host_checks::free_space(loaded)];
    // A directory that was never used has no database, and a doctor does not make one.
    let server = if loaded.config.database.url.is_some() || has_data(loaded) {
        match command::store_checks(loaded).await {
            Ok(Examined { checks: found, server }) => {
                checks.extend(found);
                server
            }
            Err(failure) => {
                let hint = failure.hint.unwrap_or_else(|| "correct what the message names".to_owned());
                checks.push(Check::fails("database", failure.message, hint));
                None
            }
        }
    } else {
        checks.push(Check::skipped("database", "there is none yet"));
        None
    };
    checks.push(host_checks::listener(server.as_deref()).await);

    let ok = checks.iter().all(|check| check.outcome != Outcome::Fails);
    if as_json {
        print::json(&Report { ok, checks: &checks })?;
    } else {
        print::data(&shown(&checks, ok));
    }
    Ok(if ok { ExitCode::Ok } else { ExitCode::Failed })
}

/// Whether there is a database, or one that an interrupted restore is about to put there.
fn has_data(loaded: &Loaded) -> bool {
    [store::FILE_NAME, swap::MARK].iter().any(|name| loaded.data_dir.join(name).symlink_metadata().is_ok())
}

fn shown(checks: &[Check], ok: bool) -> String {
    let rows: Vec<Vec<String>> = checks
        .iter()
        .map(|check| vec![check.outcome.word().to_owned(), check.name.clone(), check.detail.clone()])
        .collect();
    let table = table::columns(&["", "check", "found"], &rows);
    let hints: Vec<String> = checks
        .iter()
        .filter_map(|check| Some(format!("{}: {}\n", check.name, printable(check.hint.as_deref()?))))
        .collect();
    let verdict = if ok { "All holds." } else { "Something does not hold." };
    format!("{table}\n{}{verdict}\n", hints.concat())
}
