//! Skill with its uncertainty: Weng and Lin's Bayesian form of the Bradley-Terry model, one duel at a time.
//!
//! A duel compares two sides by what each got for its stake, so it says something also when both won or
//! both lost. After every duel the two numbers of a side are rounded to millionths and only those are kept:
//! the next duel starts from integers, the same on every engine and after every restart.

use serde::{Serialize, Serializer, ser::SerializeStruct};
use skillratings::{
    Outcomes,
    weng_lin::{WengLinConfig, WengLinRating, weng_lin},
};

use super::rating::Tenths;

const MICRO: f64 = 1_000_000.0;
/// Half the width of the interval that holds 95 % of a normal distribution, in hundredths of its deviation.
const HALF_WIDTH_PERCENT: i64 = 196;

/// What is known of how well one plays: a normal distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skill {
    pub mean_micro: i64,
    pub deviation_micro: i64,
    /// The duels that it follows from.
    pub duels: i64,
}

/// Before the first duel: 25, and almost surely between 0 and 50.
pub const UNKNOWN: Skill = Skill { mean_micro: 25_000_000, deviation_micro: 8_333_333, duels: 0 };

/// How the first of two sides fared against the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Ahead,
    Even,
    Behind,
}

/// Ahead is who got more for each point of its stake, even if both gained, or both lost.
pub fn compare(stakes: [i64; 2], payouts: [i64; 2]) -> Comparison {
    let crossed = |one: usize, other: usize| i128::from(payouts[one]).saturating_mul(stakes[other].into());
    match crossed(0, 1).cmp(&crossed(1, 0)) {
        std::cmp::Ordering::Greater => Comparison::Ahead,
        std::cmp::Ordering::Equal => Comparison::Even,
        std::cmp::Ordering::Less => Comparison::Behind,
    }
}

/// Both skills after a duel between them.
#[must_use]
pub fn after(skills: [Skill; 2], comparison: Comparison) -> [Skill; 2] {
    let outcome = match comparison {
        Comparison::Ahead => Outcomes::WIN,
        Comparison::Even => Outcomes::DRAW,
        Comparison::Behind => Outcomes::LOSS,
    };
    let [one, two] = skills.map(Skill::to_floats);
    let (one, two) = weng_lin(&one, &two, &outcome, &WengLinConfig::new());
    [skills[0].moved_to(one), skills[1].moved_to(two)]
}

impl Skill {
    #[expect(clippy::cast_precision_loss, reason = "skills are far below 2^53 millionths")]
    fn to_floats(self) -> WengLinRating {
        WengLinRating {
            rating: self.mean_micro as f64 / MICRO,
            uncertainty: self.deviation_micro as f64 / MICRO,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "skills are far below 2^63 millionths")]
    fn moved_to(self, rating: WengLinRating) -> Self {
        let micro = |number: f64| (number * MICRO).round() as i64;
        Self {
            mean_micro: micro(rating.rating),
            // Never certain: the deviation shrinks towards zero and must not reach it by rounding.
            deviation_micro: micro(rating.uncertainty).max(1),
            duels: self.duels.saturating_add(1),
        }
    }

    pub fn estimate(self) -> Tenths {
        tenths(self.mean_micro)
    }

    fn half_micro(self) -> i64 {
        self.deviation_micro.saturating_mul(HALF_WIDTH_PERCENT).saturating_div(100)
    }

    /// Half of [`Skill::interval`].
    pub fn half_width(self) -> Tenths {
        tenths(self.half_micro())
    }

    /// The interval that holds the skill with 95 % probability, if the model is right.
    pub fn interval(self) -> [Tenths; 2] {
        let half = self.half_micro();
        [tenths(self.mean_micro.saturating_sub(half)), tenths(self.mean_micro.saturating_add(half))]
    }
}

/// Half away from zero.
fn tenths(micro: i64) -> Tenths {
    let size = micro.saturating_abs().saturating_add(50_000).saturating_div(100_000);
    Tenths(if micro < 0 { size.saturating_neg() } else { size })
}

impl Serialize for Skill {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [low, high] = self.interval();
        let mut out = serializer.serialize_struct("Skill", 4)?;
        out.serialize_field("estimate", &self.estimate())?;
        out.serialize_field("low", &low)?;
        out.serialize_field("high", &high)?;
        out.serialize_field("duels", &self.duels)?;
        out.end()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::arithmetic_side_effects, reason = "a test may overflow and fail")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_may_win_and_one_is_still_ahead() {
        for (stakes, payouts, expected) in [
            ([10, 10], [12, 7], Comparison::Ahead),
            ([10, 10], [0, 0], Comparison::Even),
            ([10, 10], [9, 9], Comparison::Even),
            // Both gained; the smaller stake gained more of itself.
            ([5, 20], [8, 16], Comparison::Ahead),
            ([5, 20], [6, 18], Comparison::Ahead),
            ([5, 20], [4, 20], Comparison::Behind),
            ([5, 10], [4, 8], Comparison::Even),
            // Nothing overflows.
            ([i64::MAX, i64::MAX], [i64::MAX, 0], Comparison::Ahead),
        ] {
            assert_eq!(compare(stakes, payouts), expected, "{stakes:?} {payouts:?}");
        }
    }

    #[test]
    fn the_first_duel_moves_as_published() {
        // Reference: Weng and Lin (2011), algorithm 1 for two of mean 25, deviation 25/3, beta 25/6:
        // c = sqrt(2 (25/3)^2 + 2 (25/6)^2) = 13.1762, so the mean moves by (25/3)^2 / c / 2 = 2.6352.
        let [won, lost] = after([UNKNOWN; 2], Comparison::Ahead);
        assert_eq!((won.mean_micro, lost.mean_micro), (27_635_231, 22_364_769));
        assert_eq!(won.deviation_micro, lost.deviation_micro);
        assert!(won.deviation_micro < UNKNOWN.deviation_micro);
        let [even, same] = after([UNKNOWN; 2], Comparison::Even);
        assert_eq!((even.mean_micro, same.mean_micro), (25_000_000, 25_000_000));
    }

    #[test]
    fn json_has_estimate_and_interval() {
        assert_eq!(
            serde_json::to_string(&UNKNOWN).unwrap(),
            r#"{"estimate":25,"low":8.7,"high":41.3,"duels":0}"#
        );
        let below = Skill { mean_micro: -50_000, deviation_micro: 1, duels: 3 };
        assert_eq!((below.estimate(), below.interval()), (Tenths(-1), [Tenths(-1), Tenths(0)]));
    }

    proptest! {
        /// Who swaps the sides swaps the answer.
        #[test]
        fn sides_are_alike(
            stakes in [5i64..2_000, 5i64..2_000],
            payouts in [0i64..4_000, 0i64..4_000],
            means in [0i64..50_000_000, 0i64..50_000_000],
            deviations in [1i64..9_000_000, 1i64..9_000_000],
        ) {
            let skill = |at: usize| Skill { mean_micro: means[at], deviation_micro: deviations[at], duels: 1 };
            let [one, two] = after([skill(0), skill(1)], compare(stakes, payouts));
            let swapped = compare([stakes[1], stakes[0]], [payouts[1], payouts[0]]);
            let [other_two, other_one] = after([skill(1), skill(0)], swapped);
            prop_assert!((one.mean_micro - other_one.mean_micro).abs() <= 1);
            prop_assert!((two.mean_micro - other_two.mean_micro).abs() <= 1);
            for (before, after) in [(skill(0), one), (skill(1), two)] {
                prop_assert!(after.deviation_micro >= 1 && after.deviation_micro <= before.deviation_micro);
            }
        }

        /// Whoever is ahead more often ends higher.
        #[test]
        fn the_stronger_ends_higher(seed in any::<u64>()) {
            let mut skills = [UNKNOWN; 2];
            let mut state = seed;
            for _ in 0..300 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Ahead in four of five.
                let comparison =
                    if (state >> 33) % 5 == 0 { Comparison::Behind } else { Comparison::Ahead };
                skills = after(skills, comparison);
            }
            prop_assert!(skills[0].mean_micro > skills[1].mean_micro, "{skills:?}");
        }
    }
}
