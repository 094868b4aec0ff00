//! An agent under load that keeps a record of what it was told, and repeats a call that got no answer
//! with the same key.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    time::Duration,
};

use kernel::id::{Ids, SeededIds};
use serde_json::json;

use super::{
    truth::Truth,
    wire::{Reply, Wire},
};

/// Whole numbers from a seed.
pub(crate) struct Dice(SeededIds);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SeededIds::new(seed))
    }

    pub(crate) fn below(&self, end: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % end
    }
}

/// What a call would change, by a word that only this call has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Gift(String),
    /// With a challenge or without.
    Message(String),
    /// No agent makes a demand of the same height twice.
    Demand(i64),
}

/// What the agent knows of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Nothing,
    Done,
    Refused,
    /// A demand that settled: payout and burn.
    Settled(i64, i64),
}

struct Call {
    tool: &'static str,
    body: String,
    once: String,
    effect: Effect,
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Answered,
    /// The server said that it cannot now.
    Busy,
    NoAnswer,
}

/// One call in so many asks which duels are open.
const LOOK_EVERY: u64 = 4;

pub(crate) struct Agent {
    pub(crate) nickname: String,
    key: String,
    rivals: Vec<String>,
    dice: Dice,
    /// Of the effects so far.
    number: u64,
    present: bool,
    /// Active duels of which the opponent and the pot are known.
    open: Vec<(String, i64)>,
    cursor: Option<String>,
    steps: u64,
    pending: Option<Call>,
    told: BTreeMap<Effect, Told>,
    demands: BTreeSet<i64>,
    /// Calls that were sent again.
    pub(crate) repeated: u64,
    /// Answers 503.
    pub(crate) unavailable: u64,
}

impl Agent {
    pub(crate) fn new(nickname: &str, key: String, rivals: Vec<String>, seed: u64) -> Self {
        Self {
            nickname: nickname.to_owned(),
            key,
            rivals,
            dice: Dice::new(seed),
            number: 0,
            present: false,
            open: Vec::new(),
            cursor: None,
            steps: 0,
            pending: None,
            told: BTreeMap::new(),
            demands: BTreeSet::new(),
            repeated: 0,
            unavailable: 0,
        }
    }

    /// How many changes it was told are done.
    pub(crate) fn acknowledged(&self) -> usize {
        self.told.values().filter(|told| matches!(told, Told::Done | Told::Settled(..))).count()
    }

    pub(crate) fn roll(&self, end: u64) -> u64 {
        self.dice.below(end)
    }

    /// Whether a call has got no answer yet.
    pub(crate) fn waits(&self) -> bool {
        self.pending.is_some()
    }

    /// Enters the arena anew before anything else.
    pub(crate) fn wake(&mut self) {
        self.present = false;
    }

    /// One call: the one without an answer again, or a new one.
    pub(crate) fn step(&mut self, wire: &mut Wire) -> Step {
        self.steps += 1;
        if self.pending.is_none() && !self.present {
            return self.enter(wire);
        }
        if self.pending.is_none() && self.steps.is_multiple_of(LOOK_EVERY) {
            return self.look(wire);
        }
        let call = match self.pending.take() {
            Some(call) => {
                self.repeated += 1;
                call
            }
            None => self.draw(),
        };
        let answer = wire.call(call.tool, &self.key, Some(&call.once), &call.body);
        let step = self.hear(&call, answer);
        if step != Step::Answered {
            self.pending = Some(call);
        }
        step
    }

    fn enter(&mut self, wire: &mut Wire) -> Step {
        match wire.call("enter_arena", &self.key, None, r#"{"pitch":"here"}"#) {
            Ok(reply) if reply.status == 200 => {
                self.present = true;
                Step::Answered
            }
            Ok(reply) if reply.status == 503 || reply.status == 429 => self.busy(&reply),
            Ok(reply) => panic!("{} could not enter: {}", self.nickname, reply.body),
            Err(_) => Step::NoAnswer,
        }
    }

    /// Learns which duels are open.
    fn look(&mut self, wire: &mut Wire) -> Step {
        let body = json!({"message_ack_cursor": self.cursor}).to_string();
        match wire.call("get_arena_status", &self.key, None, &body) {
            Ok(reply) if reply.status == 200 => {
                let out = reply.json();
                self.cursor = out["message_ack_cursor"].as_str().map(str::to_owned);
                self.present = out["arena"]["active"] == true;
                let open = out["duels"].as_array().unwrap().iter().map(|duel| {
                    let pot = duel["distributable_pot"].as_i64().unwrap();
                    (duel["opponent_nickname"].as_str().unwrap().to_owned(), pot)
                });
                self.open = open.collect();
                Step::Answered
            }
            Ok(reply) if reply.status == 503 || reply.status == 429 => self.busy(&reply),
            Ok(reply) => panic!("{} could not look: {}", self.nickname, reply.body),
            Err(_) => Step::NoAnswer,
        }
    }

    fn draw(&mut self) -> Call {
        self.number += 1;
        let word = format!("{}-{}", self.nickname, self.number);
        let pick = |end: usize| usize::try_from(self.dice.below(end as u64)).unwrap();
        let open = (!self.open.is_empty()).then(|| self.open[pick(self.open.len())].clone());
        let (tool, body, effect) = match (self.dice.below(10), open) {
            (0..3, Some((rival, _))) => {
                let body = json!({"nickname": rival, "message": word});
                ("send_message", body, Effect::Message(word.clone()))
            }
            (3..5, Some((rival, pot))) => {
                // Just below half of the pot, so that little burns and the load can go on.
                let mut count = pot / 2;
                while !self.demands.insert(count) {
                    count -= 1;
                }
                let body = json!({"nickname": rival, "count": count.max(0)});
                ("submit_demand", body, Effect::Demand(count.max(0)))
            }
            (0..7, _) => {
                let body = json!({"nickname": self.rivals[pick(self.rivals.len())], "message": word});
                ("challenge_agent", body, Effect::Message(word.clone()))
            }
            _ => {
                let rival = &self.rivals[pick(self.rivals.len())];
                let body = json!({"nickname": rival, "count": 1, "message": word});
                ("transfer", body, Effect::Gift(word.clone()))
            }
        };
        self.told.insert(effect.clone(), Told::Nothing);
        Call { tool, body: body.to_string(), once: word, effect }
    }

    fn hear(&mut self, call: &Call, answer: io::Result<Reply>) -> Step {
        let Ok(reply) = answer else { return Step::NoAnswer };
        let told = match reply.status {
            200 => Self::heard_done(call, &reply),
            // Neither says anything of an earlier try with this key.
            503 | 429 => return self.busy(&reply),
            400 | 404 | 409 => {
                self.present &= reply.code() != "NOT_IN_ARENA";
                Told::Refused
            }
            status => panic!("{} {} answered {status}: {}", call.tool, call.body, reply.body),
        };
        self.told.insert(call.effect.clone(), told);
        Step::Answered
    }

    fn busy(&mut self, reply: &Reply) -> Step {
        assert!(reply.retry_after.is_some(), "no Retry-After with {}: {}", reply.status, reply.body);
        self.unavailable += u64::from(reply.status == 503);
        std::thread::sleep(Duration::from_millis(5));
        Step::Busy
    }

    fn heard_done(call: &Call, reply: &Reply) -> Told {
        let out = reply.json();
        match call.tool {
            "challenge_agent" if out["message_sent"] == false => Told::Refused,
            "submit_demand" => {
                // Also when repeated: the answer of the first run comes again.
                assert_eq!(out["action"], "SUBMITTED_DEMAND", "{}", reply.body);
                match &out["result"] {
                    result if result.is_null() => Told::Done,
                    result => Told::Settled(
                        result["your_payout"].as_i64().unwrap(),
                        result["platform_credit"].as_i64().unwrap(),
                    ),
                }
            }
            _ => Told::Done,
        }
    }

    /// Compares what the agent was told with what is there.
    pub(crate) fn check(&self, truth: &Truth) {
        let mut demands: BTreeMap<i64, Vec<_>> = BTreeMap::new();
        for duel in truth.duels.values() {
            for side in 0..2 {
                if let (true, Some(count)) = (duel.nicknames[side] == self.nickname, duel.demands[side]) {
                    demands.entry(count).or_default().push((duel.finished, duel.payouts[side], duel.burn));
                }
            }
        }
        for (effect, told) in &self.told {
            let times = match effect {
                Effect::Gift(note) => truth.gifts.get(note).copied().unwrap_or(0),
                Effect::Message(text) => truth.messages.get(text).copied().unwrap_or(0),
                Effect::Demand(count) => i64::try_from(demands.get(count).map_or(0, Vec::len)).unwrap(),
            };
            let expected = match told {
                Told::Nothing => 0..=1,
                Told::Done | Told::Settled(..) => 1..=1,
                Told::Refused => 0..=0,
            };
            assert!(
                expected.contains(&times),
                "{} was told {told:?} of {effect:?}, which is there {times} times",
                self.nickname
            );
            if let (Effect::Demand(count), Told::Settled(payout, burn)) = (effect, told) {
                assert_eq!(demands[count], [(true, Some(*payout), Some(*burn))], "{}", self.nickname);
            }
        }
    }
}
