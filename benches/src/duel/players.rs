//! Who plays whom: two halves of the agents meet in rounds, so that no pair meets twice.

/// So many pairs play at the same time, for so many rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Season {
    pub(crate) pairs: usize,
    /// At most `pairs`.
    pub(crate) rounds: usize,
}

impl Season {
    pub(crate) const fn agents(self) -> usize {
        self.pairs * 2
    }

    pub(crate) const fn duels(self) -> usize {
        self.pairs * self.rounds
    }

    /// The challenger and the challenged of each duel of a round.
    pub(crate) fn round(self, round: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..self.pairs).map(move |one| (one, self.pairs + (one + round) % self.pairs))
    }
}

/// One call of a duel: whether the challenger makes it, and the tool.
pub(crate) const SCRIPT: [(bool, &str); 5] = [
    (true, "challenge_agent"),
    (true, "send_message"),
    (false, "send_message"),
    (true, "submit_demand"),
    (false, "submit_demand"),
];

/// The input of a call. `pot` is what the challenge's answer said; both sides demand half of it.
pub(crate) fn input(tool: &str, opponent: &str, pot: i64) -> String {
    match tool {
        "send_message" => {
            format!(
                r#"{{"nickname":"{opponent}","message":"Half each: I will demand what I say I demand."}}"#
            )
        }
        "submit_demand" => format!(r#"{{"nickname":"{opponent}","count":{}}}"#, pot / 2),
        _ => format!(r#"{{"nickname":"{opponent}"}}"#),
    }
}

/// The pot in the answer to a challenge.
pub(crate) fn pot(answer: &[u8]) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Challenged {
        distributable_pot: i64,
    }
    serde_json::from_slice::<Challenged>(answer).ok().map(|challenged| challenged.distributable_pot)
}

/// What the answer to the last call must hold.
pub(crate) const SETTLED: &[u8] = b"\"settlement\":\"WITHIN_POT\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pair_meets_twice_and_nobody_plays_two_at_once() {
        let season = Season { pairs: 6, rounds: 6 };
        let mut met = std::collections::BTreeSet::new();
        for round in 0..season.rounds {
            let players: std::collections::BTreeSet<usize> =
                season.round(round).flat_map(|(one, two)| [one, two]).collect();
            assert_eq!(players.len(), season.agents());
            met.extend(season.round(round));
        }
        assert_eq!(met.len(), season.duels());
    }
}
