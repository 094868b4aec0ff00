//! What an agent remembers of one duel, and what it does next in it. Pure: no calls happen here.

use kernel::id::Ids;
use serde::Deserialize;

use super::script::{Position, Script, pick};

/// A duel as `get_arena_status` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Seen {
    pub(crate) opponent_nickname: String,
    pub(crate) state: State,
    pub(crate) deadline_at: String,
    pub(crate) expires_in_seconds: i64,
    pub(crate) distributable_pot: i64,
    pub(crate) new_messages: Vec<Message>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum State {
    Chat,
    YourDemandRequired,
    WaitingForOpponent,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Message {
    pub(crate) message: String,
}

/// What the agent keeps between two looks at a duel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    deadline_at: String,
    said: u32,
    heard: u32,
    looks: u32,
    /// The last line, which is not said twice in a row.
    last: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Move {
    Say(String),
    Demand(i64),
    Wait,
}

/// An agent speaks at most so often in one duel.
const LINES_MAX: u32 = 2;
/// After so many looks without an answer it stops waiting for one.
const LOOKS_MAX: u32 = 6;
/// With less time than this left, in Arena seconds, it demands whatever the talk was.
const HURRY_SECONDS: i64 = 120;

impl Memory {
    /// For a duel that this agent began with a line.
    pub(crate) fn of_own(deadline_at: &str, line: &str) -> Self {
        Self { deadline_at: deadline_at.to_owned(), said: 1, last: line.to_owned(), ..Self::default() }
    }

    /// Notes what is new and chooses the next move.
    pub(crate) fn next(
        &mut self,
        seen: &Seen,
        script: &Script,
        opponent_took_percent: Option<i64>,
        ids: &dyn Ids,
    ) -> Move {
        if self.deadline_at != seen.deadline_at {
            *self = Self { deadline_at: seen.deadline_at.clone(), ..Self::default() };
        }
        self.looks += 1;
        let news = u32::try_from(seen.new_messages.len()).unwrap_or(u32::MAX);
        self.heard = self.heard.saturating_add(news);
        let demand = || {
            let position = Position { pot: seen.distributable_pot, opponent_took_percent };
            Move::Demand(script.demand.choose(position, ids))
        };
        match seen.state {
            State::YourDemandRequired => demand(),
            State::Chat if seen.expires_in_seconds < HURRY_SECONDS || self.looks > LOOKS_MAX => demand(),
            State::Chat if self.said < LINES_MAX && (self.said == 0 || news > 0) => {
                let lines = if self.heard == 0 { script.openings } else { script.replies };
                let fresh: Vec<&str> = lines.iter().copied().filter(|line| *line != self.last).collect();
                pick(ids, &fresh).clone_into(&mut self.last);
                self.said += 1;
                Move::Say(self.last.clone())
            }
            // Both have spoken their lines: there is nothing left to say.
            State::Chat if self.said >= LINES_MAX && self.heard >= LINES_MAX => demand(),
            State::Chat | State::WaitingForOpponent => Move::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::id::SeededIds;

    use super::{super::script::SCRIPTS, *};

    fn seen(state: State, messages: usize) -> Seen {
        Seen {
            opponent_nickname: "beta".into(),
            state,
            deadline_at: "2026-08-24T14:40:00.000Z".into(),
            expires_in_seconds: 500,
            distributable_pot: 19,
            new_messages: vec![Message { message: "hi".into() }; messages],
        }
    }

    #[test]
    fn an_agent_talks_and_then_demands() {
        let (ids, script) = (SeededIds::new(1), &SCRIPTS[0]);
        let mut memory = Memory::default();
        let mut look = |state, messages| memory.next(&seen(state, messages), script, None, &ids);
        assert!(matches!(look(State::Chat, 1), Move::Say(line) if script.replies.contains(&line.as_str())));
        assert_eq!(look(State::Chat, 0), Move::Wait);
        assert!(matches!(look(State::Chat, 1), Move::Say(_)));
        assert_eq!(look(State::Chat, 0), Move::Demand(9));
        assert_eq!(look(State::WaitingForOpponent, 0), Move::Wait);
    }

    #[test]
    fn silence_and_the_deadline_end_the_waiting() {
        let (ids, script) = (SeededIds::new(1), &SCRIPTS[0]);
        let mut memory = Memory::of_own("2026-08-24T14:40:00.000Z", "hello");
        let moves: Vec<Move> =
            (0..=LOOKS_MAX).map(|_| memory.next(&seen(State::Chat, 0), script, None, &ids)).collect();
        assert!(moves[..6].iter().all(|step| *step == Move::Wait));
        assert_eq!(moves[6], Move::Demand(9));
        let late = Seen { expires_in_seconds: 60, ..seen(State::Chat, 0) };
        assert_eq!(Memory::default().next(&late, script, None, &ids), Move::Demand(9));
        assert_eq!(
            Memory::default().next(&seen(State::YourDemandRequired, 0), script, None, &ids),
            Move::Demand(9)
        );
    }
}
