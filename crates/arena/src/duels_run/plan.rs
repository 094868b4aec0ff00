//! Who plays whom, how often, and from which seed.

use std::{path::PathBuf, time::Duration};

use super::words;
use crate::{
    cli::client::RunArgs,
    config::near::near,
    demo::script::{SCRIPTS, Script},
    failure::Failure,
};

/// A side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Player {
    Scripted(&'static Script),
    /// A program and its arguments, which connects by itself.
    Program(Vec<String>),
}

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) players: [Player; 2],
    pub(crate) rounds: u64,
    pub(crate) seed: u64,
    pub(crate) points: i64,
    pub(crate) transcripts: Option<PathBuf>,
    pub(crate) clock_speed_milli: i64,
    /// How long, in real time, no duel may be settled before the run is given up.
    pub(crate) patience: Duration,
}

/// The clocks that programs and scripted clients can follow.
const SPEED_MILLI: std::ops::RangeInclusive<i64> = 1000..=1_000_000;

impl Plan {
    pub(crate) fn of(args: &RunArgs) -> Result<Self, Failure> {
        if !SPEED_MILLI.contains(&args.clock_speed.milli()) {
            return Err(Failure::usage(format!(
                "players cannot follow a clock speed of {}",
                args.clock_speed
            ))
            .hint("use 1 to 1000"));
        }
        Ok(Self {
            players: [Player::parse(&args.a)?, Player::parse(&args.b)?],
            rounds: args.rounds,
            seed: args.seed,
            points: args.points,
            transcripts: args.transcripts.clone(),
            clock_speed_milli: args.clock_speed.milli(),
            patience: Duration::from_secs(args.patience),
        })
    }

    /// Whether no side is a program.
    pub(crate) fn is_scripted(&self) -> bool {
        self.players.iter().all(|player| matches!(player, Player::Scripted(_)))
    }
}

/// The nickname of a side.
pub(crate) const fn nickname(side: usize) -> &'static str {
    if side == 0 { "side-a" } else { "side-b" }
}

/// The names of the strategies that need no program.
pub(crate) fn strategies() -> impl Iterator<Item = &'static str> {
    SCRIPTS.iter().map(|script| strategy(script))
}

/// The name of a script's strategy.
pub(crate) fn strategy(script: &Script) -> &'static str {
    script.model_key.rsplit('/').next().unwrap_or(script.model_key)
}

impl Player {
    /// A strategy, or a command line: whatever has several words or a slash.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        if let Some(script) = SCRIPTS.iter().find(|script| strategy(script) == text) {
            return Ok(Self::Scripted(script));
        }
        let Some(words) = words::split(text) else {
            return Err(Failure::usage(format!("{text:?} has a quotation mark that is not closed"))
                .hint("close it, or put a backslash before it"));
        };
        if words.len() > 1 || (words.len() == 1 && text.contains('/')) {
            return Ok(Self::Program(words));
        }
        let known: Vec<&str> = strategies().collect();
        let meant = near(text, strategies());
        let hint = match meant.first() {
            Some(meant) => format!("did you mean {meant}? The strategies are {}", known.join(", ")),
            None => format!("use {}", known.join(", ")),
        };
        Err(Failure::usage(format!("{text:?} is neither a strategy nor a command"))
            .hint(format!("{hint}; or a program with its path, for example \"python3 examples/agent.py\"")))
    }

    /// What tables call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Scripted(script) => strategy(script).to_owned(),
            Self::Program(words) => words.join(" "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_and_commands_are_told_apart() {
        for strategy in strategies() {
            assert_eq!(Player::parse(strategy).unwrap().name(), strategy);
        }
        let program = Player::parse("python3 agent.py").unwrap();
        assert_eq!(program, Player::Program(vec!["python3".to_owned(), "agent.py".to_owned()]));
        assert!(matches!(Player::parse("./agent"), Ok(Player::Program(_))));
        assert_eq!(
            Player::parse("'./my agent' --fair").unwrap(),
            Player::Program(vec!["./my agent".to_owned(), "--fair".to_owned()])
        );
        let hint = |wrong: &str| Player::parse(wrong).unwrap_err().hint.unwrap();
        assert!(hint("honset").starts_with("did you mean honest?"), "{}", hint("honset"));
        assert!(hint("python3 'a").contains("close it"));
        for wrong in ["", " ", "honset", "generous"] {
            let failure = Player::parse(wrong).unwrap_err();
            assert!(failure.hint.is_some_and(|hint| hint.contains("tit-for-tat")), "{wrong}");
        }
    }
}
