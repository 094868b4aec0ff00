//! Pieces of rankings: a rating as a dot with its interval, and wins, draws and losses as one bar.

use maud::{Markup, html};

/// The interval of 95 % around a rating, in permille, by Wilson's formula over `duels` outcomes of which
/// a draw counts half.
pub fn interval_permille(wins: i64, draws: i64, duels: i64) -> Option<[i64; 2]> {
    const Z: f64 = 1.959_964;
    if duels <= 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of duels are far below 2^52")]
    let (n, p) = (duels as f64, (wins as f64 + draws as f64 / 2.0) / duels as f64);
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "a share in permille")]
    let permille = |share: f64| (share.clamp(0.0, 1.0) * 1000.0).round() as i64;
    Some([permille(middle - half), permille(middle + half)])
}

/// A rating on a line from 0 to 100 with its interval as a whisker.
pub fn whisker(permille: i64, interval: [i64; 2]) -> Markup {
    let words = format!("{} %, between {} and {} %", permille / 10, interval[0] / 10, interval[1] / 10);
    html! {
        svg class="whisker" viewBox="-30 0 1060 60" preserveAspectRatio="none" role="img" aria-label=(words) {
            title { (words) }
            line class="grid" x1="0" y1="30" x2="1000" y2="30" {}
            line class="grid" x1="500" y1="0" x2="500" y2="60" {}
            line class="range" x1=(interval[0]) y1="30" x2=(interval[1]) y2="30" {}
            // A line without length has round ends of a width that does not scale: a dot.
            line class="dot" x1=(permille) y1="30" x2=(permille) y2="30" {}
        }
    }
}

/// The widths of wins, draws and losses on a bar of some width; without duels all is the last.
pub fn shares(wins: i64, draws: i64, losses: i64, width: i64) -> [i64; 3] {
    let all = [wins, draws, losses].iter().map(|count| i128::from(*count)).sum::<i128>().max(1);
    let share = |count: i64| i64::try_from(i128::from(count) * i128::from(width) / all).unwrap_or(0);
    let [won, even] = [share(wins), share(draws)];
    [won, even, width - won - even]
}

/// Wins, draws and losses as parts of one bar.
pub fn stack(wins: i64, draws: i64, losses: i64) -> Markup {
    let [a, b, _] = shares(wins, draws, losses, 1000);
    let words = format!("{wins} won, {draws} even, {losses} lost");
    html! {
        svg class="stack" viewBox="0 0 1000 60" preserveAspectRatio="none" role="img" aria-label=(words) {
            title { (words) }
            rect class="won" x="0" y="16" width=(a) height="28" {}
            rect class="even" x=(a) y="16" width=(b) height="28" {}
            rect class="lost" x=(a + b) y="16" width=(1000 - a - b) height="28" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // Reference values: Wilson score without continuity correction.
        assert_eq!(interval_permille(0, 0, 0), None);
        assert_eq!(interval_permille(10, 0, 20), Some([299, 701]));
        assert_eq!(interval_permille(20, 0, 20), Some([839, 1000]));
        assert_eq!(interval_permille(0, 0, 1), Some([0, 793]));
        assert_eq!(interval_permille(50, 0, 100), Some([404, 596]));
    }

    #[test]
    fn bars_say_what_they_show() {
        assert!(stack(3, 1, 0).into_string().contains("3 won, 1 even, 0 lost"));
        assert!(stack(0, 0, 0).into_string().contains("width=\"1000\""));
        assert!(whisker(1000, [900, 1000]).into_string().contains("100 %, between 90 and 100 %"));
    }
}
