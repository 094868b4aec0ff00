//! Logs: to standard error, for people on a terminal and as JSON lines elsewhere.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt};

use crate::failure::Failure;

/// Starts logging. `filter` is the configured one; `default` says how much a command logs without it.
pub(crate) fn start(filter: Option<&str>, default: &str) -> Result<(), Failure> {
    let directives = filter.unwrap_or(default);
    let parsed = EnvFilter::try_new(directives).map_err(|error| {
        Failure::usage(format!("log.filter is {directives:?}: {error}"))
            .hint("write for example info, or arena=debug,warn")
    })?;
    let lines = fmt().with_env_filter(parsed).with_writer(std::io::stderr);
    let started = if std::io::stderr().is_terminal() {
        lines.with_target(false).try_init()
    } else {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
    };
    started.map_err(|error| Failure::failed(format!("logging cannot start: {error}")))
}
