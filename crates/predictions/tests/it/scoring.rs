//! Scores beside ones that were worked out by hand, and beside published sets where these files are at hand.

use std::path::PathBuf;

use predictions::rules::scoring::{BINS, Forecast, Scores, score};
use proptest::prelude::*;

fn forecasts(pairs: &[(f64, bool)]) -> Vec<Forecast> {
    pairs.iter().map(|(prob, came_true)| Forecast { prob: *prob, came_true: *came_true }).collect()
}

#[track_caller]
fn near(value: f64, expected: f64, what: &str) {
    assert!((value - expected).abs() < 1e-6, "{what}: {value} for {expected}");
}

#[test]
fn a_small_set_worked_out_by_hand() {
    // Bins: .72 and .78 in [.7, .8), both means .75, one of two true; .1 and 1.0 alone.
    let scores = score(&forecasts(&[(0.72, true), (0.78, false), (0.1, false), (1.0, true)])).unwrap();
    near(scores.share_true, 0.5, "share");
    near(scores.brier, (0.0784 + 0.6084 + 0.01 + 0.0) / 4.0, "brier");
    near(scores.reliability, (2.0 * 0.0625 + 0.01 + 0.0) / 4.0, "reliability");
    near(scores.resolution, (0.0 + 0.25 + 0.25) / 4.0, "resolution");
    near(scores.uncertainty, 0.25, "uncertainty");
    near(scores.within_variance, 2.0 * 0.0009 / 4.0, "variance within");
    near(scores.within_covariance, 2.0 * -(0.03 * 0.5 + 0.03 * 0.5) / 4.0, "covariance within");
    near(scores.ece, (2.0 * 0.25 + 0.1 + 0.0) / 4.0, "ece");
    near(scores.skill.unwrap(), 1.0 - 0.1742 / 0.25, "skill");
    let said = [0.72_f64, 0.22, 0.9, 1.0 - 1e-6];
    near(scores.log_loss, -said.iter().map(|said| said.ln()).sum::<f64>() / 4.0, "log loss");
    let counts: Vec<u32> = scores.bins.iter().map(|bin| bin.count).collect();
    assert_eq!(counts, [0, 1, 0, 0, 0, 0, 0, 2, 0, 1]);
}

#[test]
fn certainty_that_fails_costs_much_and_not_everything() {
    let wrong = Forecast { prob: 0.0, came_true: true };
    near(wrong.log_loss(), 13.815_510_557_964_274, "log loss");
    near(wrong.brier(), 1.0, "brier");
    near(Forecast { prob: 0.5, came_true: false }.baseline(), 0.0, "a coin");
    near(Forecast { prob: 0.25, came_true: false }.baseline(), 58.496_250_072_115_6, "three quarters");
    assert_eq!(score(&[]), None);
    // Who is asked only what is sure has no skill to show.
    assert_eq!(score(&forecasts(&[(0.9, true), (0.8, true)])).unwrap().skill, None);
}

proptest! {
    #[test]
    fn the_parts_add_up_to_the_brier_score(pairs in prop::collection::vec((0.0_f64..=1.0, any::<bool>()), 1..200)) {
        let Scores { brier, reliability, resolution, uncertainty, within_variance, within_covariance, bins, ece, .. } =
            score(&forecasts(&pairs)).unwrap();
        let parts = reliability - resolution + uncertainty + within_variance - within_covariance;
        prop_assert!((brier - parts).abs() < 1e-9, "{brier} {parts}");
        prop_assert_eq!(bins.iter().map(|bin| bin.count as usize).sum::<usize>(), pairs.len());
        prop_assert!((0.0..=1.0).contains(&ece) && bins.len() == BINS);
    }
}

/// A file of the published sets, which are not part of this project.
fn published(name: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    std::fs::read_to_string(path).ok()
}

#[test]
fn questions_of_markets_score_as_published() {
    let Some(file) = published("forecastbench_markets_subset.json") else { return };
    let all: Vec<serde_json::Value> = serde_json::from_str(&file).unwrap();
    // Frozen in, count; share, brier, log loss, reliability, resolution, uncertainty, within bins twice, ece.
    let table = [
        (
            "2026",
            119,
            [
                0.436_975, 0.128_881, 0.390_248, 0.010_372, 0.127_637, 0.246_028, 0.000_722, 0.000_603,
                0.085_914,
            ],
        ),
        (
            "2025",
            112,
            [
                0.160_714, 0.043_508, 0.159_580, 0.016_153, 0.107_473, 0.134_885, 0.000_555, 0.000_612,
                0.062_131,
            ],
        ),
    ];
    for (year, count, expected) in table {
        let of_year = |question: &&serde_json::Value| {
            question["freeze_datetime"].as_str().is_some_and(|at| at.starts_with(year))
        };
        let forecasts: Vec<Forecast> = all
            .iter()
            .filter(of_year)
            .map(|question| Forecast {
                prob: question["freeze_datetime_value"].as_str().unwrap().parse().unwrap(),
                came_true: question["resolved_to"].as_f64().unwrap() > 0.5,
            })
            .collect();
        let scores = score(&forecasts).unwrap();
        assert_eq!(scores.count, count);
        let Scores { share_true, brier, log_loss, reliability, resolution, uncertainty, .. } = scores;
        let within = [scores.within_variance, scores.within_covariance, scores.ece];
        let found = [share_true, brier, log_loss, reliability, resolution, uncertainty];
        for (at, value) in found.into_iter().chain(within).enumerate() {
            near(value, expected[at], &format!("column {at} of {year}"));
        }
    }
}

#[test]
fn a_season_of_games_scores_as_published() {
    let Some(file) = published("538_nfl_games.csv") else { return };
    let mut lines = file.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|title| title.trim_matches('"') == name).unwrap();
    let (prob, outcome) = (column("prob1"), column("prob1_outcome"));
    // A game that nobody won answers no question.
    let games: Vec<Forecast> = lines
        .filter_map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let came_true = match cells[outcome] {
                "0" => false,
                "1" => true,
                _ => return None,
            };
            Some(Forecast { prob: cells[prob].parse().unwrap(), came_true })
        })
        .collect();
    let scores = score(&games).unwrap();
    assert_eq!(scores.count, 1882);
    let table = [
        (scores.share_true, 0.547_290, "share"),
        (scores.brier, 0.220_826, "brier"),
        (scores.log_loss, 0.631_516, "log loss"),
        (scores.reliability, 0.001_552, "reliability"),
        (scores.resolution, 0.028_159, "resolution"),
        (scores.uncertainty, 0.247_764, "uncertainty"),
        (scores.within_variance, 0.000_788, "variance within"),
        (scores.within_covariance, 0.001_119, "covariance within"),
        (scores.ece, 0.032_302, "ece"),
    ];
    for (value, expected, what) in table {
        near(value, expected, what);
    }
}
