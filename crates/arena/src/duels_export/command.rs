//! Runs an export from the command line: progress while it reads, one summary at its end.

use std::{path::PathBuf, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::{
    output::{self, Output},
    pages::{Pages, Window},
};
use crate::{
    cli::client::ExportArgs,
    config::{layers::Loaded, model::web_url},
    exit::ExitCode,
    failure::Failure,
    output::print,
    remote::http::SERVER_DEFAULT,
    serve::signals,
};

/// How often the bar is drawn at most.
const DRAW_HZ: u8 = 10;
/// An export that takes longer than this shows a bar, if standard error is a terminal.
const BAR_AFTER: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    file: PathBuf,
    format: &'static str,
    duels: u64,
    messages: u64,
    bytes: u64,
    /// What `--after` continues from; `null` when `--until` may have left out duels before it.
    through: Option<i64>,
}

pub(crate) async fn run(loaded: &Loaded, args: &ExportArgs, as_json: bool) -> Result<ExitCode, Failure> {
    let base = web_url("server", loaded.config.server.as_deref().unwrap_or(SERVER_DEFAULT))?;
    if args.since.zip(args.until).is_some_and(|(since, until)| since > until) {
        return Err(Failure::usage("--since is after --until").hint("exchange them"));
    }
    let format = args.format;
    let path = args.output.clone().unwrap_or_else(|| format!("arena-duels.{}", format.as_str()).into());
    let wish = signals::shutdown()?;
    let output = Output::create(&path, format, args.force)?;
    let window = Window { since: args.since, until: args.until, after: args.after.unwrap_or(0) };
    let pages = Pages::new(base, window)?;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let late = tokio::spawn(show_late(bar.clone()));
    let copied = tokio::select! {
        copied = copy(pages, output, &bar) => copied,
        () = wish.cancelled() => Err(Failure::failed("given up; nothing was left behind")),
    };
    late.abort();
    bar.finish_and_clear();
    let Copied { duels, messages, bytes, through } = copied?;
    let through = args.until.is_none().then_some(through);
    if as_json {
        let format = format.as_str();
        print::json(&Summary { file: path, format, duels, messages, bytes, through })?;
    } else {
        let later = through.map(|through| format!("later ones: --after {through}\n")).unwrap_or_default();
        let file = output::shown(&path);
        print::data(&format!("{duels} duels with {messages} messages in {file}, {bytes} bytes\n{later}"));
    }
    Ok(ExitCode::Ok)
}

struct Copied {
    duels: u64,
    messages: u64,
    bytes: u64,
    through: i64,
}

/// A failure on the way drops the output, and with it what was written so far.
async fn copy(mut pages: Pages, mut output: Output, bar: &ProgressBar) -> Result<Copied, Failure> {
    let (mut duels, mut messages) = (0, 0);
    while let Some(records) = pages.next().await? {
        for mut record in records {
            messages += pages.complete(&mut record).await?;
            duels += 1;
            output.add(record)?;
        }
        if let Some(through) = pages.through() {
            bar.set_length(u64::try_from(through).unwrap_or(0));
        }
        bar.set_position(u64::try_from(pages.reached()).unwrap_or(0));
    }
    let through = pages.reached();
    Ok(Copied { duels, messages, bytes: output.finish()?, through })
}

/// Shows the bar once the export has taken a while. Nothing is drawn where standard error is no terminal.
async fn show_late(bar: ProgressBar) {
    tokio::time::sleep(BAR_AFTER).await;
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} duels seen, {eta} left") {
        bar.set_style(style);
    }
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
    bar.enable_steady_tick(Duration::from_millis(200));
}
