//! The words of `AUTO_BIO`: at most three clauses, chosen by thresholds over whole numbers.

use super::{NONE_YET, counters::Counters};

/// The longest summary, in characters.
pub const CHARS_MAX: usize = 280;
/// Fewer promises than this say nothing about an agent's word.
const PROMISES_MIN: i64 = 3;
/// Fewer rematches than this say nothing about an agent's partners.
const REMATCHES_MIN: i64 = 4;

/// How often an agent kept its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Honour {
    Rarely,
    Sometimes,
    Usually,
    AlmostAlways,
}

/// What an agent asks for, by its mean share of the pot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Appetite {
    Concedes,
    Cautious,
    Even,
    Firm,
    Aggressive,
}

impl Honour {
    /// The mean of a uniform prior after the counts, so that three of three is not yet always.
    fn of(kept: i64, broken: i64) -> Option<Self> {
        let all = kept + broken;
        if all < PROMISES_MIN {
            return None;
        }
        // Compared as fractions: a quotient in whole per cent would hold 6 of 7 for 85.
        let is_at_least = |percent: i64| (kept + 1) * 100 >= percent * (all + 2);
        Some(if (kept + 1) * 100 > 85 * (all + 2) {
            Self::AlmostAlways
        } else if is_at_least(65) {
            Self::Usually
        } else if is_at_least(35) {
            Self::Sometimes
        } else {
            Self::Rarely
        })
    }

    const fn word(self) -> &'static str {
        match self {
            Self::AlmostAlways => "Almost always",
            Self::Usually => "Usually",
            Self::Sometimes => "Sometimes",
            Self::Rarely => "Rarely",
        }
    }
}

impl Appetite {
    const fn of(share_permille: i64) -> Self {
        match share_permille {
            751.. => Self::Aggressive,
            551..=750 => Self::Firm,
            450..=550 => Self::Even,
            350..=449 => Self::Cautious,
            _ => Self::Concedes,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Aggressive => "demands aggressively",
            Self::Firm => "demands firmly",
            Self::Even => "asks for about half of the pot",
            Self::Cautious => "demands cautiously",
            Self::Concedes => "concedes most of the pot",
        }
    }
}

/// The summary of these counts.
pub fn of(counters: &Counters) -> String {
    if counters.duels == 0 {
        return NONE_YET.to_owned();
    }
    let mut text = manner(counters);
    for clause in [outcomes(counters), partners(counters)].into_iter().flatten() {
        text.extend([" ", &clause]);
    }
    text
}

fn manner(counters: &Counters) -> String {
    let share = counters.share_permille_sum / counters.duels;
    let appetite = Appetite::of(share);
    let figures = format!(
        "{}% of the pot on average over {} {}",
        share / 10,
        counters.duels,
        if counters.duels == 1 { "duel" } else { "duels" }
    );
    let Some(honour) = Honour::of(counters.kept, counters.broken) else {
        let words = appetite.words();
        return format!("{}{}: {figures}.", words[..1].to_uppercase(), &words[1..]);
    };
    let good = honour >= Honour::Usually;
    let hard = appetite >= Appetite::Firm;
    let joint = if good == hard { "but" } else { "and" };
    format!("{} honors checkable promises {joint} {}: {figures}.", honour.word(), appetite.words())
}

fn outcomes(counters: &Counters) -> Option<String> {
    let burned = match counters.over_pot {
        0 => None,
        1 => Some("1 of them burned the pot".to_owned()),
        n => Some(format!("{n} of them burned the pot")),
    };
    let late = match counters.timeouts {
        0 => None,
        1 => Some("1 passed without a demand".to_owned()),
        n => Some(format!("{n} passed without a demand")),
    };
    match (burned, late) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(format!("{one}.")),
        (Some(burned), Some(late)) => Some(format!("{burned}, {late}.")),
    }
}

/// What repeated meetings show, in neutral words.
fn partners(counters: &Counters) -> Option<String> {
    if counters.alternations >= REMATCHES_MIN {
        return Some("Often alternates outcomes with the same partners.".to_owned());
    }
    if counters.fair_met >= REMATCHES_MIN {
        let percent = counters.fair_returned * 100 / counters.fair_met;
        return match percent {
            75.. => Some("Answers a fair demand with a fair one.".to_owned()),
            ..=25 => Some("Asks for more after a fair demand.".to_owned()),
            _ => None,
        };
    }
    let mostly = counters.repeated * 4 >= counters.duels * 3 && counters.repeated >= REMATCHES_MIN;
    mostly.then(|| "Mostly meets the same partners.".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_words_follow_the_counts() {
        let base = Counters { duels: 10, ..Counters::default() };
        for (counters, wanted) in [
            (Counters::default(), NONE_YET),
            (
                Counters { duels: 1, share_permille_sum: 500, ..base },
                "Asks for about half of the pot: 50% of the pot on average over 1 duel.",
            ),
            (
                Counters { share_permille_sum: 8_100, kept: 7, broken: 1, over_pot: 3, ..base },
                "Usually honors checkable promises but demands aggressively: 81% of the pot on average over 10 duels. 3 of them burned the pot.",
            ),
            (
                Counters { share_permille_sum: 5_000, kept: 10, ..base },
                "Almost always honors checkable promises and asks for about half of the pot: 50% of the pot on average over 10 duels.",
            ),
            (
                Counters { share_permille_sum: 3_600, broken: 3, timeouts: 1, ..base },
                "Rarely honors checkable promises but demands cautiously: 36% of the pot on average over 10 duels. 1 passed without a demand.",
            ),
            (
                Counters {
                    share_permille_sum: 6_000,
                    kept: 2,
                    broken: 2,
                    over_pot: 1,
                    timeouts: 2,
                    alternations: 4,
                    ..base
                },
                "Sometimes honors checkable promises and demands firmly: 60% of the pot on average over 10 duels. 1 of them burned the pot, 2 passed without a demand. Often alternates outcomes with the same partners.",
            ),
            (
                Counters { share_permille_sum: 1_000, kept: 2, fair_met: 4, fair_returned: 4, ..base },
                "Concedes most of the pot: 10% of the pot on average over 10 duels. Answers a fair demand with a fair one.",
            ),
            (
                Counters { share_permille_sum: 6_000, repeated: 8, ..base },
                "Demands firmly: 60% of the pot on average over 10 duels. Mostly meets the same partners.",
            ),
        ] {
            assert_eq!(of(&counters), wanted);
        }
    }

    #[test]
    fn thresholds_are_where_they_are_said_to_be() {
        for (permille, wanted) in [
            (349, Appetite::Concedes),
            (350, Appetite::Cautious),
            (449, Appetite::Cautious),
            (450, Appetite::Even),
            (550, Appetite::Even),
            (551, Appetite::Firm),
            (750, Appetite::Firm),
            (751, Appetite::Aggressive),
        ] {
            assert_eq!(Appetite::of(permille), wanted, "{permille}");
        }
        assert_eq!(Honour::of(2, 0), None);
        assert_eq!(Honour::of(3, 0), Some(Honour::Usually));
        // 5 of 6 are .833, 6 of 7 are .857.
        assert_eq!(Honour::of(4, 0), Some(Honour::Usually));
        assert_eq!(Honour::of(5, 0), Some(Honour::AlmostAlways));
        assert_eq!(Honour::of(6, 0), Some(Honour::AlmostAlways));
        // 17 of 20 are .85 exactly, 13 of 20 are .65, 7 of 20 are .35.
        assert_eq!(Honour::of(16, 2), Some(Honour::Usually));
        assert_eq!(Honour::of(12, 6), Some(Honour::Usually));
        assert_eq!(Honour::of(11, 6), Some(Honour::Sometimes));
        assert_eq!(Honour::of(6, 12), Some(Honour::Sometimes));
        assert_eq!(Honour::of(5, 12), Some(Honour::Rarely));
        assert_eq!(Honour::of(2, 2), Some(Honour::Sometimes));
        assert_eq!(Honour::of(0, 3), Some(Honour::Rarely));
    }

    proptest! {
        #[test]
        fn it_is_never_too_long(
            numbers in prop::array::uniform10(0i64..=50), duels in 1i64..=50, share in 0i64..=1_000,
        ) {
            let [_, _, over_pot, timeouts, kept, broken, fair_met, fair_returned, repeated, alternations] = numbers;
            let counters = Counters {
                duels, share_permille_sum: share * duels, over_pot, timeouts, kept, broken, fair_met,
                fair_returned, repeated, alternations,
            };
            let text = of(&counters);
            prop_assert!(text.chars().count() <= CHARS_MAX, "{text}");
            prop_assert!(text.split_inclusive(". ").all(|sentence| sentence.chars().count() <= 200), "{text}");
            prop_assert!(text.matches(". ").count() <= 2, "{text}");
        }
    }
}
