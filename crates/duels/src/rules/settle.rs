//! The settlement: what each side gets, what burns, and the transfers that make it so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ledger::{Account, Post};

use super::limits::BASE_BURN_POINTS;

/// Whether the demands fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Settlement {
    WithinPot,
    OverPot,
}

impl Settlement {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WithinPot => "WITHIN_POT",
            Self::OverPot => "OVER_POT",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::WithinPot, Self::OverPot].into_iter().find(|known| known.as_str() == text)
    }
}

/// Where a demand came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DemandSource {
    Submitted,
    /// Nothing was submitted before the deadline, which counts as zero.
    DefaultTimeout,
}

/// How a side fared against its stake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SideResult {
    Win,
    Draw,
    Loss,
}

impl SideResult {
    pub fn of(payout: i64, stake: i64) -> Self {
        match payout.cmp(&stake) {
            std::cmp::Ordering::Greater => Self::Win,
            std::cmp::Ordering::Equal => Self::Draw,
            std::cmp::Ordering::Less => Self::Loss,
        }
    }
}

/// What a duel ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    pub settlement: Settlement,
    pub payouts: [i64; 2],
    /// All that burned, the base burn included.
    pub burn: i64,
}

/// Both stakes together.
pub const fn gross_pot(stakes: [i64; 2]) -> i64 {
    stakes[0].saturating_add(stakes[1])
}

/// What demands may claim.
pub const fn distributable_pot(stakes: [i64; 2]) -> i64 {
    gross_pot(stakes).saturating_sub(BASE_BURN_POINTS)
}

/// Settles two demands, where a missing one is zero. Points never appear: payouts and burn together
/// are the gross pot.
pub fn settle(stakes: [i64; 2], demands: [Option<i64>; 2]) -> Outcome {
    let gross = gross_pot(stakes);
    let [a, b] = demands.map(|demand| demand.unwrap_or(0));
    let claimed = a.saturating_add(b);
    let outcome = if claimed <= distributable_pot(stakes) {
        Outcome { settlement: Settlement::WithinPot, payouts: [a, b], burn: gross.saturating_sub(claimed) }
    } else {
        Outcome { settlement: Settlement::OverPot, payouts: [0, 0], burn: gross }
    };
    assert!(outcome.burn >= BASE_BURN_POINTS && outcome.payouts.iter().all(|payout| *payout >= 0));
    outcome
}

/// The transfers of a settlement. A side is paid from its own locked points first, then from the
/// other's; what is left of either burns. Every locked point of the duel moves.
pub fn posts(agents: [&str; 2], stakes: [i64; 2], outcome: &Outcome) -> Vec<Post> {
    let mut left = stakes;
    let mut owed = outcome.payouts;
    let mut posts = Vec::with_capacity(5);
    let mut pay = |from: usize, to: usize| {
        let amount = left[from].min(owed[to]);
        if amount > 0 {
            left[from] = left[from].saturating_sub(amount);
            owed[to] = owed[to].saturating_sub(amount);
            posts.push(Post {
                debit: Account::Locked(agents[from].to_owned()),
                credit: Account::Available(agents[to].to_owned()),
                amount,
                kind: if from == to { "stake_return" } else { "payout" },
            });
        }
    };
    for (from, to) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
        pay(from, to);
    }
    for (side, amount) in left.into_iter().enumerate().filter(|(_, amount)| *amount > 0) {
        posts.push(Post {
            debit: Account::Locked(agents[side].to_owned()),
            credit: Account::Burn,
            amount,
            kind: "burn",
        });
    }
    posts
}

#[cfg(test)]
mod tests {
    #![expect(clippy::arithmetic_side_effects, reason = "a test may overflow and fail")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_of_settlements() {
        use Settlement::{OverPot, WithinPot};
        for (stakes, demands, settlement, payouts, burn) in [
            ([10, 10], [Some(18), Some(0)], WithinPot, [18, 0], 2),
            ([10, 10], [Some(10), Some(9)], WithinPot, [10, 9], 1),
            ([10, 10], [Some(10), Some(10)], OverPot, [0, 0], 20),
            ([10, 10], [Some(19), Some(0)], WithinPot, [19, 0], 1),
            ([10, 10], [Some(19), Some(1)], OverPot, [0, 0], 20),
            ([10, 10], [None, None], WithinPot, [0, 0], 20),
            ([10, 10], [None, Some(19)], WithinPot, [0, 19], 1),
            ([5, 12], [Some(5), Some(11)], WithinPot, [5, 11], 1),
            ([5, 5], [Some(9), None], WithinPot, [9, 0], 1),
        ] {
            assert_eq!(
                settle(stakes, demands),
                Outcome { settlement, payouts, burn },
                "{stakes:?} {demands:?}"
            );
        }
    }

    #[test]
    fn results_compare_payout_and_stake() {
        assert_eq!(SideResult::of(11, 10), SideResult::Win);
        assert_eq!(SideResult::of(10, 10), SideResult::Draw);
        assert_eq!(SideResult::of(9, 10), SideResult::Loss);
    }

    proptest! {
        #[test]
        fn no_point_appears_or_vanishes(
            stakes in [5i64..2_000, 5i64..2_000],
            demands in [prop::option::of(0i64..4_000), prop::option::of(0i64..4_000)],
        ) {
            let outcome = settle(stakes, demands);
            prop_assert_eq!(outcome.payouts[0] + outcome.payouts[1] + outcome.burn, gross_pot(stakes));
            prop_assert!(outcome.burn >= BASE_BURN_POINTS);
            let mut locked = stakes;
            let (mut paid, mut burned) = ([0, 0], 0);
            for post in posts(["a", "b"], stakes, &outcome) {
                prop_assert!(post.amount > 0);
                match post.debit {
                    Account::Locked(name) => locked[usize::from(name == "b")] -= post.amount,
                    other => prop_assert!(false, "{:?} pays", other),
                }
                match post.credit {
                    Account::Available(name) => paid[usize::from(name == "b")] += post.amount,
                    Account::Burn => burned += post.amount,
                    other => prop_assert!(false, "{:?} is paid", other),
                }
            }
            prop_assert_eq!((locked, paid, burned), ([0, 0], outcome.payouts, outcome.burn));
        }
    }
}
