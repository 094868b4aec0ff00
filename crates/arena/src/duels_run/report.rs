//! The end of a run, for people and for programs.

use serde::Serialize;

use super::{
    interval::Figure,
    plan::Plan,
    tally::{Figures, Tally},
};
use crate::{
    failure::Failure,
    output::{
        print, table,
        terminal::{Style, Terminal},
    },
};

/// The answer with `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    seed: u64,
    rounds: u64,
    duels: u64,
    /// How often the whole pot burned.
    over_pot: Figure,
    /// The mean part of all stakes that burned.
    burn_share: Figure,
    players: [Figures; 2],
    /// Points that an account begins with, and how often a side that had too few left got them again.
    points: i64,
    refills: u64,
    /// Real seconds.
    seconds: f64,
    /// Whether the run was broken off before its end.
    broken_off: bool,
    /// Whether the same seed plays the same duels again.
    repeatable: bool,
}

/// What the intervals are, below the table.
const INTERVALS: &str = "Won: received more than the own stake; even: the same. As a point always burns, a fair split of equal stakes is\nlost for both. In brackets: 95 % intervals, Wilson's for how often, Student's for means and return, as if duels did not\ninfluence each other.";

impl Report {
    pub(crate) fn of(plan: &Plan, tally: &Tally, seconds: f64) -> Self {
        Self {
            seed: plan.seed,
            rounds: plan.rounds,
            duels: tally.duels,
            over_pot: tally.over_pot(),
            burn_share: tally.burn_share(),
            players: tally.figures(&[plan.players[0].name(), plan.players[1].name()]),
            points: plan.points,
            refills: tally.refills,
            seconds: (seconds * 1000.0).round() / 1000.0,
            broken_off: tally.duels < plan.rounds,
            repeatable: plan.is_scripted(),
        }
    }

    pub(crate) fn show(&self, as_json: bool, terminal: Terminal) -> Result<(), Failure> {
        if as_json {
            return print::json(self);
        }
        let [a, b] = &self.players;
        let row = |name: &str, cell: fn(&Figures) -> String| vec![name.to_owned(), cell(a), cell(b)];
        let rows = [
            row("player", |side| side.player.clone()),
            row("won", |side| often(side.wins, side.win_rate)),
            row("even", |side| often(side.draws, side.draw_rate)),
            row("lost", |side| often(side.losses, side.loss_rate)),
            row("let the time pass", |side| often(side.timeouts, side.timeout_rate)),
            row("rating", |side| share(side.rating)),
            row("asked of the pot", |side| share(side.demand_share)),
            row("got of the pot", |side| share(side.payout_share)),
            row("return on stakes", |side| share(side.roi)),
        ];
        let laid = table::columns(&["", "side a", "side b"], &rows);
        let (head, body) = laid.split_once('\n').unwrap_or((&laid, ""));
        let burned = format!(
            "Of the stakes {} burned; the whole pot in {} of the duels.",
            share(self.burn_share),
            share(self.over_pot),
        );
        let with = if self.repeatable {
            format!("{} duels from seed {}", self.duels, self.seed)
        } else {
            format!("{} duels", self.duels)
        };
        let filled = format!(
            "{with} in {:.1} s. A side that had too few points left got its {} again, {} times in all; that is no return.",
            self.seconds, self.points, self.refills,
        );
        print::data(&format!(
            "{}\n{body}\n{}\n{filled}\n{}\n",
            terminal.paint(Style::Strong, head),
            terminal.paint(Style::Burn, &burned),
            terminal.paint(Style::Muted, INTERVALS),
        ));
        if self.broken_off {
            print::note(&format!("the run ended after {} of {} rounds", self.duels, self.rounds));
        }
        Ok(())
    }
}

fn often(times: u64, rate: Figure) -> String {
    format!("{times} = {}", share(rate))
}

fn share(figure: Figure) -> String {
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!("{:.1} % ({low:.1} to {high:.1})", figure.percent),
        _ => format!("{:.1} %", figure.percent),
    }
}
