//! Who plays whom, how often, and from which seed.

use std::path::PathBuf;

use crate::{
    cli::client::RunArgs,
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
}

impl Plan {
    pub(crate) fn of(args: &RunArgs) -> Result<Self, Failure> {
        Ok(Self {
            players: [Player::parse(&args.a)?, Player::parse(&args.b)?],
            rounds: args.rounds,
            seed: args.seed,
            points: args.points,
            transcripts: args.transcripts.clone(),
            clock_speed_milli: args.clock_speed.milli(),
        })
    }
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
    /// A strategy, or a command line: whatever has a space or a slash, or is none of the strategies.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        if let Some(script) = SCRIPTS.iter().find(|script| strategy(script) == text) {
            return Ok(Self::Scripted(script));
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let is_command = words.len() > 1 || text.contains('/');
        if words.is_empty() || !is_command {
            let known: Vec<&str> = strategies().collect();
            return Err(Failure::usage(format!("{text:?} is neither a strategy nor a command")).hint(
                format!(
                    "use {}, or a program with its path, for example \"python3 examples/agent.py\"",
                    known.join(", ")
                ),
            ));
        }
        Ok(Self::Program(words))
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
        for wrong in ["", " ", "honset", "generous"] {
            let failure = Player::parse(wrong).unwrap_err();
            assert!(failure.hint.is_some_and(|hint| hint.contains("tit-for-tat")), "{wrong}");
        }
    }
}
