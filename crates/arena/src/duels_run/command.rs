//! Runs a plan from the command line: progress while it plays, the table at its end, also of a run that
//! is broken off.

use std::{
    fs::File,
    io::{BufWriter, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio_util::sync::CancellationToken;

use super::{
    plan::{Plan, Player},
    programs,
    report::Report,
    scripted,
    tally::Tally,
    transcript,
};
use crate::{
    config::layers::Loaded, demo::script::Script, exit::ExitCode, failure::Failure,
    output::terminal::Terminal, serve::signals,
};

/// How often the bar is drawn at most.
const DRAW_HZ: u8 = 10;
/// A run that takes longer than this shows a bar, if standard error is a terminal.
const BAR_AFTER: Duration = Duration::from_secs(2);
/// Progress of scripted runs is told every so many duels.
const TELL_EVERY: u64 = 64;

pub(crate) async fn run(
    plan: Plan,
    loaded: &Loaded,
    terminal: Terminal,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    let wish = signals::shutdown()?;
    let mut transcripts = match &plan.transcripts {
        None => None,
        Some(path) => Some(BufWriter::new(File::create(path).map_err(|error| {
            Failure::usage(format!("{} cannot be written: {error}", path.display()))
                .hint("pass another --transcripts")
        })?)),
    };
    let bar = ProgressBar::with_draw_target(Some(plan.rounds), ProgressDrawTarget::hidden());
    let late = tokio::spawn(show_late(bar.clone()));
    let (mut tally, begun) = (Tally::default(), Instant::now());
    let played = if let [Player::Scripted(a), Player::Scripted(b)] = &plan.players {
        let (scripted, played) =
            play_scripted(&plan, [*a, *b], transcripts, wish.clone(), bar.clone()).await?;
        tally = scripted;
        played
    } else {
        let out = transcripts.as_mut().map(|out| out as &mut (dyn Write + Send));
        let each = |round| bar.set_position(round);
        let played = programs::play(&plan, loaded, &mut tally, out, &wish, each).await;
        if let Some(out) = &mut transcripts {
            out.flush().map_err(|error| transcript::unwritable(&error))?;
        }
        played
    };
    late.abort();
    bar.finish_and_clear();
    // What was played is shown also when the run ended early.
    if tally.duels > 0 || played.is_ok() {
        Report::of(&plan, &tally, begun.elapsed().as_secs_f64()).show(as_json, terminal)?;
    }
    played.map(|()| ExitCode::Ok)
}

/// A game of two scripts has a thread of its own, because it never waits.
async fn play_scripted(
    plan: &Plan,
    scripts: [&'static Script; 2],
    mut transcripts: Option<BufWriter<File>>,
    wish: CancellationToken,
    progress: ProgressBar,
) -> Result<(Tally, Result<(), Failure>), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let (seen, plan) = (Arc::clone(&stop), plan.clone());
    let watching = tokio::spawn(async move {
        wish.cancelled().await;
        seen.store(true, Ordering::Relaxed);
    });
    let game = tokio::task::spawn_blocking(move || {
        let mut tally = Tally::default();
        let out = transcripts.as_mut().map(|out| out as &mut dyn Write);
        let each = |round: u64| {
            if round.is_multiple_of(TELL_EVERY) {
                progress.set_position(round);
            }
        };
        let played = scripted::play(&plan, scripts, &mut tally, out, &stop, each);
        let flushed = transcripts.as_mut().map_or(Ok(()), Write::flush);
        (tally, played.and_then(|()| flushed.map_err(|error| transcript::unwritable(&error))))
    });
    let played = game.await.map_err(|error| Failure::failed(format!("the run broke off: {error}")));
    watching.abort();
    played
}

/// Shows the bar once the run has taken a while. Nothing is drawn where standard error is no terminal.
async fn show_late(bar: ProgressBar) {
    tokio::time::sleep(BAR_AFTER).await;
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} duels, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
    bar.enable_steady_tick(Duration::from_millis(200));
}
