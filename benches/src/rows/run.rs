//! Row `run`: settled duels a second of `arena duels run` with two scripted players, on its one thread.

use serde_json::Value;

use super::{Name, Row};
use crate::{
    Effort,
    harness::{Outcome, process, progress::Progress, rounds::Rounds},
};

const RATE_MIN: f64 = 2_000.0;

pub(crate) async fn measure(effort: Effort) -> Outcome<Vec<Row>> {
    let (turns, duels) = if effort == Effort::Quick { (2, 2_000_u32) } else { (9, 20_000) };
    let progress = Progress::new("run");
    let arena = process::sibling("arena")?;
    progress.say(&format!("{turns} runs of {duels} duels"));
    let mut rates = Rounds::default();
    for seed in 0..turns {
        let rounds = duels.to_string();
        let seed = seed.to_string();
        let arguments = [
            "duels", "run", "--a", "honest", "--b", "random", "--rounds", &rounds, "--seed", &seed, "--json",
        ];
        let played = tokio::process::Command::new(&arena).args(arguments).output().await?;
        let report: Value = serde_json::from_slice(&played.stdout)?;
        let (done, seconds) = (report["duels"].as_f64(), report["seconds"].as_f64());
        let (Some(done), Some(seconds)) = (done, seconds) else { return Err("a run told no figures".into()) };
        if done < f64::from(duels) {
            return Err(format!("a run ended after {done} of {duels} duels").into());
        }
        rates.add(done / seconds);
    }
    let shown = format!("{:.0}/s", rates.median());
    Ok(vec![
        Row::reported(
            Name::Run,
            "settled duels of two scripts, one thread",
            rates.median(),
            shown,
            rates.spread(0),
        )
        .at_least(RATE_MIN, "2,000/s"),
    ])
}
