//! Logs: to standard error, for people on a terminal and as JSON lines elsewhere.

use std::io::IsTerminal;

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, fmt};

use crate::failure::Failure;

/// Lines that wait for a slow reader of the log; further ones are dropped.
const WAITING_LINES_MAX: usize = 4096;

/// Starts logging. `filter` is the configured one; `default` says how much a command logs without it.
///
/// A thread of its own writes, so that a reader who is slow or gone never stops a request; dropping what
/// this returns writes the last lines.
pub(crate) fn start(filter: Option<&str>, default: &str) -> Result<WorkerGuard, Failure> {
    let directives = filter.unwrap_or(default);
    let parsed = EnvFilter::try_new(directives).map_err(|error| {
        Failure::usage(format!("log.filter is {directives:?}: {error}"))
            .hint("write for example info, or arena=debug,warn")
    })?;
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES_MAX)
        .thread_name("arena-log")
        .finish(std::io::stderr());
    let lines = fmt().with_env_filter(parsed).with_writer(writer);
    let started = if std::io::stderr().is_terminal() {
        lines.with_target(false).try_init()
    } else {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
    };
    started.map(|()| guard).map_err(|error| Failure::failed(format!("logging cannot start: {error}")))
}
