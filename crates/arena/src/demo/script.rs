//! How the scripted agents negotiate, as data: what they say and how they choose a demand.
//!
//! No language model is involved; a script sees only what any client sees.

use kernel::id::Ids;

/// How much of the pot an agent demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Half of the pot, or what this opponent left of it last time, where that was less.
    HalfOrRest,
    /// A fixed part of the pot, in percent.
    Percent(i64),
    /// Half, unless this opponent took more last time; then the answer is this percentage.
    AnswerInKind(i64),
    /// Anything in this range of percentages.
    Between(i64, i64),
}

/// A way to play.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// The first agent's nickname; later ones add a number.
    pub(crate) nickname: &'static str,
    pub(crate) model_key: &'static str,
    pub(crate) pitch: &'static str,
    /// Said first, in the agent's own duel or as the answer to a challenge.
    pub(crate) openings: &'static [&'static str],
    /// Said in answer to what the opponent wrote.
    pub(crate) replies: &'static [&'static str],
    pub(crate) demand: Demand,
}

pub(crate) const SCRIPTS: [Script; 4] = [
    Script {
        nickname: "ada",
        model_key: "scripted/honest",
        pitch: "I split down the middle and I do what I say.",
        openings: &[
            "Half each, unless you took more last time: then I take what you left.",
            "An even split costs us one point together. Shall we?",
            "I never ask for more than half.",
        ],
        replies: &[
            "You know what I ask for. I will not surprise you.",
            "My word stands.",
            "Then let us both keep to it.",
        ],
        demand: Demand::HalfOrRest,
    },
    Script {
        nickname: "max",
        model_key: "scripted/greedy",
        pitch: "I take the larger part. You are free to take what is left.",
        openings: &[
            "I will ask for seven tenths. Take the rest or lose it all.",
            "Leave me the bigger share and nobody burns.",
            "I never go under two thirds. Plan for it.",
        ],
        replies: &[
            "No. My number stays.",
            "Ask for less, or we both get nothing.",
            "Fine words. Same number.",
        ],
        demand: Demand::Percent(70),
    },
    Script {
        nickname: "echo",
        model_key: "scripted/tit-for-tat",
        pitch: "I begin fair, and then I do to you what you did to me.",
        openings: &[
            "I play what you played last time.",
            "Fair with the fair. Let us see which you are.",
            "Half each, as long as you kept to it before.",
        ],
        replies: &["I remember our last duel.", "Your move decides my next one.", "I will answer in kind."],
        demand: Demand::AnswerInKind(65),
    },
    Script {
        nickname: "dice",
        model_key: "scripted/random",
        pitch: "Not even I know what I will ask for.",
        openings: &[
            "Feeling lucky?",
            "The dice have not decided yet.",
            "Any split is a good split. Perhaps.",
        ],
        replies: &["Let us see.", "Hm. Maybe less. Maybe more.", "I have rolled. I will not tell."],
        demand: Demand::Between(25, 55),
    },
];

/// What an agent knows when it chooses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(crate) pot: i64,
    /// The opponent's part of the pot in their last duel together, in percent.
    pub(crate) opponent_took_percent: Option<i64>,
}

impl Demand {
    /// The demand in points, always within the pot.
    pub(crate) fn choose(self, position: Position, ids: &dyn Ids) -> i64 {
        let Position { pot, opponent_took_percent } = position;
        let part = |percent: i64| pot * percent / 100;
        let wanted = match self {
            Self::HalfOrRest => match opponent_took_percent {
                Some(took) if took > 50 => part(100 - took.min(100)),
                _ => pot / 2,
            },
            Self::Percent(percent) => part(percent),
            Self::AnswerInKind(percent) => match opponent_took_percent {
                Some(took) if took > 50 => part(percent),
                _ => pot / 2,
            },
            Self::Between(low, high) => part(low + draw(ids, high - low + 1)),
        };
        wanted.clamp(0, pot)
    }
}

/// A number from 0 up to, but without, `bound`; 0 when there is nothing to choose.
pub(crate) fn draw(ids: &dyn Ids, bound: i64) -> i64 {
    let mut bytes = [0; 4];
    ids.fill(&mut bytes);
    if bound <= 0 { 0 } else { i64::from(u32::from_le_bytes(bytes)) % bound }
}

/// One of `choices`, or the empty text when there is none.
pub(crate) fn pick<'a>(ids: &dyn Ids, choices: &[&'a str]) -> &'a str {
    let index = usize::try_from(draw(ids, i64::try_from(choices.len()).unwrap_or(0))).unwrap_or(0);
    choices.get(index).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kernel::{id::SeededIds, text};

    use super::*;

    #[test]
    fn demands_stay_within_the_pot_and_follow_their_rule() {
        let ids = SeededIds::new(3);
        for pot in 0..200 {
            for script in &SCRIPTS {
                for took in [None, Some(30), Some(90)] {
                    let demand = script.demand.choose(Position { pot, opponent_took_percent: took }, &ids);
                    assert!((0..=pot).contains(&demand), "{} {pot}", script.nickname);
                }
            }
        }
        let at = |took| Position { pot: 19, opponent_took_percent: took };
        assert_eq!(Demand::AnswerInKind(65).choose(at(None), &ids), 9);
        assert_eq!(Demand::AnswerInKind(65).choose(at(Some(50)), &ids), 9);
        assert_eq!(Demand::AnswerInKind(65).choose(at(Some(70)), &ids), 12);
        assert_eq!(Demand::HalfOrRest.choose(at(None), &ids) * 2, 18, "two halves leave an odd point");
        assert_eq!(Demand::HalfOrRest.choose(at(Some(70)), &ids), 5, "beside 13 of 19");
    }

    #[test]
    fn the_words_are_valid_input() {
        for script in &SCRIPTS {
            assert_eq!(text::nickname(script.nickname).as_deref(), Some(script.nickname));
            for line in script.openings.iter().chain(script.replies).chain([&script.pitch]) {
                assert_eq!(text::clean(line, 1, 500).as_deref(), Ok(*line));
            }
        }
    }
}
