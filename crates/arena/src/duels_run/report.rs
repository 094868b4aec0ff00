//! The end of a run, for people and for programs.

use serde::Serialize;

use super::{
    plan::Plan,
    tally::{Figure, Figures, Tally},
};
use crate::{
    failure::Failure,
    output::{print, table},
};

/// The answer with `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) rounds: u64,
    pub(crate) duels: u64,
    /// How often the whole pot burned.
    pub(crate) burned: Figure,
    pub(crate) players: [Figures; 2],
    /// Pairs of accounts that were opened: a new one whenever a side had fewer points than a stake.
    pub(crate) accounts: u64,
    /// Real seconds.
    pub(crate) seconds: f64,
    /// Whether the run was broken off before its end.
    pub(crate) broken_off: bool,
}

impl Report {
    pub(crate) fn of(plan: &Plan, tally: &Tally, accounts: u64, seconds: f64) -> Self {
        let mut names = [plan.players[0].name(), plan.players[1].name()];
        if names[0] == names[1] {
            names = [format!("{} (a)", names[0]), format!("{} (b)", names[1])];
        }
        Self {
            seed: plan.seed,
            rounds: plan.rounds,
            duels: tally.duels,
            burned: tally.burned(),
            players: tally.figures(&names),
            accounts,
            seconds: (seconds * 1000.0).round() / 1000.0,
            broken_off: tally.duels < plan.rounds,
        }
    }

    pub(crate) fn show(&self, as_json: bool) -> Result<(), Failure> {
        if as_json {
            return print::json(self);
        }
        let figure =
            |figure: &Figure| format!("{:.1} % ({:.1} to {:.1})", figure.percent, figure.low, figure.high);
        let rows: Vec<Vec<String>> = self
            .players
            .iter()
            .map(|side| {
                vec![
                    side.player.clone(),
                    side.wins.to_string(),
                    side.draws.to_string(),
                    side.losses.to_string(),
                    figure(&side.rating),
                    figure(&side.demand),
                    figure(&side.payout),
                    format!("{:+.1} %", side.roi_percent),
                    side.timeouts.to_string(),
                ]
            })
            .collect();
        let head = [
            "player",
            "won",
            "even",
            "lost",
            "rating",
            "asked of the pot",
            "got of the pot",
            "return",
            "timeouts",
        ];
        print::data(&table::columns(&head, &rows));
        print::data(&format!(
            "\n{} duels from seed {}; {} burned the whole pot. {} pairs of accounts: a side without the points for a stake starts anew.\nIn brackets: 95 % intervals, Wilson's for rates, normal for means.\n",
            self.duels,
            self.seed,
            figure(&self.burned),
            self.accounts,
        ));
        if self.broken_off {
            print::note(&format!("the run ended after {} of {} rounds", self.duels, self.rounds));
        }
        Ok(())
    }
}
