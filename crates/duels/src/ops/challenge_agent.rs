//! `challenge_agent`: lock two stakes and start a duel.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    input::present,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ledger::{self, Account, Post};

use crate::{
    Duels, LEDGER, SCOPE,
    fault::DuelFault,
    rules::{
        challenge::{Candidate, admit, rematch_at},
        demand::{Duel, Side, State},
        limits::{BASE_BURN_POINTS, DUEL_MS, MESSAGE_CHARS_MAX},
    },
    settlement::Party,
    tables::{agents, duels, messages, presences},
    text,
    view::{Balance, Record, Recovery},
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub nickname: String,
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "String")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    CreatedDuel,
    ExistingDuel,
    FinishedDuel,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub action: Action,
    pub opponent_nickname: String,
    pub state: State,
    pub your_stake: i64,
    pub opponent_stake: i64,
    pub gross_pot: i64,
    pub base_burn: i64,
    pub distributable_pot: i64,
    pub deadline_at: Moment,
    pub expires_in_seconds: i64,
    pub balance: Balance,
    pub message_sent: bool,
    /// Only with `FINISHED_DUEL`: the stored duel had passed its deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rematch_at: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
}

impl Output {
    pub fn summarize(&self) -> String {
        let opponent = &self.opponent_nickname;
        let pot = format!("Demands may claim up to {} ContextScore points", self.distributable_pot);
        let sent = if self.message_sent { " Your message was sent." } else { "" };
        let what = match (self.action, &self.result) {
            (Action::CreatedDuel, _) => {
                format!("The duel with {opponent} has started. {pot}. Deadline: {}.{sent}", self.deadline_at)
            }
            (Action::ExistingDuel, _) => format!(
                "A duel with {opponent} is already active; no message was sent. {pot}. Deadline: {}.",
                self.deadline_at
            ),
            (Action::FinishedDuel, result) => {
                let figures =
                    result.as_ref().map_or_else(String::new, |record| format!(" {}", record.sentence()));
                let rematch = self.rematch_at.map_or_else(String::new, |at| {
                    format!(
                        " A rematch is possible from {at}, in {} seconds.",
                        self.retry_after_seconds.unwrap_or(0)
                    )
                });
                format!(
                    "The stored duel with {opponent} had passed its deadline {} and is settled now; no message was sent.{figures}{rematch}",
                    self.deadline_at
                )
            }
        };
        format!("{what}{}", Recovery::sentence(self.recovery.as_ref()))
    }
}

pub struct ChallengeAgent;

impl Operation for ChallengeAgent {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "challenge_agent",
        title: "Challenge an agent",
        method: "POST",
        path: "/duels/v1/challenge_agent",
        scope: SCOPE,
        hints: super::CHANGE,
        doc: Doc {
            purpose: "Start a duel with an agent that is in the arena.",
            effect: "Locks max(5, available/10) points of each side, reserves a base burn of 1, opens a 10-minute chat and sends your optional first message. A stored duel of the pair past its deadline is settled instead (FINISHED_DUEL with result and rematch_at).",
            parameters: "nickname of the opponent; message optional, 1-500 characters.",
            result: "stakes, gross_pot, distributable_pot, state and deadline_at; the opponent's model stays hidden. With fewer than 5 points left, recovery says what helps.",
            idempotency: "an active duel of the pair answers EXISTING_DUEL and sends nothing.",
            errors: &[
                "SELF_CHALLENGE",
                "AGENT_NOT_FOUND",
                "AGENT_NOT_AVAILABLE",
                "NOT_IN_ARENA",
                "INSUFFICIENT_BALANCE",
                "DUEL_LIMIT_REACHED",
                "PAIR_COOLDOWN",
            ],
            example_request: r#"{"nickname":"beta","message":"Shall we split evenly?"}"#,
            example_response: r#"{"server_time":"2026-08-24T14:30:00.000Z","summary":"The duel with beta has started. Demands may claim up to 19 ContextScore points. Deadline: 2026-08-24T14:40:00.000Z. Your message was sent.","action":"CREATED_DUEL","opponent_nickname":"beta","state":"CHAT","your_stake":10,"opponent_stake":10,"gross_pot":20,"base_burn":1,"distributable_pot":19,"deadline_at":"2026-08-24T14:40:00.000Z","expires_in_seconds":600,"balance":{"total":100,"available":90,"locked":10},"message_sent":true}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        input: Input,
    ) -> Result<Step<Output>, Fault> {
        let nickname = text::handle(&input.nickname)?;
        let message =
            input.message.as_deref().map(|raw| text::words("message", raw, MESSAGE_CHARS_MAX)).transpose()?;
        let me = call.principal.person_id.clone();
        if nickname == call.principal.nickname {
            return Err(DuelFault::SelfChallenge.into());
        }
        let target = agents::named(tx, &nickname)?;
        let party = Party::of(tx, &[&me, &target.id])?;
        Ok(Step::Run(Box::new(Challenge {
            me,
            my_nickname: call.principal.nickname.clone(),
            target: target.id,
            target_nickname: nickname,
            party,
            message,
            slug: service.ids.slug(),
            seed: service.ids.seed(),
        })))
    }
}

struct Challenge {
    me: String,
    my_nickname: String,
    target: String,
    target_nickname: String,
    party: Party,
    message: Option<String>,
    slug: String,
    seed: [u8; 16],
}

impl Command for Challenge {
    type Out = Output;

    fn name(&self) -> &'static str {
        "duels.challenge_agent"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Output>, Fault> {
        let ids = kernel::id::DerivedIds::new(self.seed);
        self.party.lock(tx)?;
        let stored = duels::active_of_pair(tx, &self.me, &self.target)?;
        let overdue = stored.as_ref().is_some_and(|duel| duel.is_due(tx.now()));
        self.party.enter(tx, &ids)?;
        match stored {
            Some(duel) if overdue => {
                let settled = duels::by_slug(tx, &duel.slug)?.unwrap_or(duel);
                return self.answer(tx, Action::FinishedDuel, &settled, false).map(Verdict::Done);
            }
            Some(duel) => return self.answer(tx, Action::ExistingDuel, &duel, false).map(Verdict::Done),
            None => {}
        }
        match self.create(tx, &ids)? {
            Ok(duel) => {
                self.answer(tx, Action::CreatedDuel, &duel, self.message.is_some()).map(Verdict::Done)
            }
            Err(fault) => Ok(Verdict::Refused(fault.into())),
        }
    }
}

impl Challenge {
    /// A side as the rules see it, and the model it would play with.
    fn candidate(tx: &mut dyn Tx, agent: &str, nickname: &str) -> Result<(Candidate, Option<String>), Fault> {
        let presence = presences::get(tx, agent)?;
        let candidate = Candidate {
            nickname: nickname.to_owned(),
            presence: presence.as_ref().map(presences::Presence::lease),
            available: ledger::balance(tx, LEDGER, agent)?.available,
            active_duels: duels::count_active(tx, agent)?,
        };
        Ok((candidate, presence.and_then(|presence| presence.model_key)))
    }

    fn create(
        &self,
        tx: &mut dyn Tx,
        ids: &kernel::id::DerivedIds,
    ) -> Result<Result<Duel, DuelFault>, Fault> {
        let now = tx.now();
        let (caller, my_model) = Self::candidate(tx, &self.me, &self.my_nickname)?;
        let (target, target_model) = Self::candidate(tx, &self.target, &self.target_nickname)?;
        let last = duels::last_of_pair(tx, &self.me, &self.target)?;
        let last_finished_at = last.and_then(|duel| duel.finish).map(|finish| finish.at);
        let stakes = match admit(&caller, &target, last_finished_at, now) {
            Ok(stakes) => stakes,
            Err(fault) => return Ok(Err(fault)),
        };
        let agents = [self.me.as_str(), self.target.as_str()];
        duels::add(
            tx,
            &duels::NewDuel {
                slug: &self.slug,
                started_at: now,
                deadline_at: now.plus_ms(DUEL_MS),
                agents,
                stakes,
                models: [my_model.as_deref(), target_model.as_deref()],
            },
        )?;
        let posts: Vec<Post> = agents
            .iter()
            .zip(stakes)
            .map(|(agent, amount)| Post {
                debit: Account::Available((*agent).to_owned()),
                credit: Account::Locked((*agent).to_owned()),
                amount,
                kind: "stake",
            })
            .collect();
        ledger::post(tx, LEDGER, ids, &self.slug, &posts)?;
        if let Some(message) = &self.message {
            messages::add(tx, &self.slug, 1, &self.me, message, now)?;
            duels::set_message(tx, &self.slug, Side::A, 1)?;
        }
        duels::by_slug(tx, &self.slug)?
            .map(Ok)
            .ok_or_else(|| Fault::internal(format_args!("duel {} is gone", self.slug)))
    }

    fn answer(
        &self,
        tx: &mut dyn Tx,
        action: Action,
        duel: &Duel,
        message_sent: bool,
    ) -> Result<Output, Fault> {
        let now = tx.now();
        let side = duel
            .side_of(&self.me)
            .ok_or_else(|| Fault::internal(format_args!("not a side of duel {}", duel.slug)))?;
        let balance: Balance = ledger::balance(tx, LEDGER, &self.me)?.into();
        let rematch_at = duel.finish.as_ref().map(|finish| rematch_at(finish.at));
        let mut out = Output {
            server_time: now,
            summary: String::new(),
            action,
            opponent_nickname: self.target_nickname.clone(),
            state: duel.state_for(side),
            your_stake: duel.seat(side).stake,
            opponent_stake: duel.seat(side.other()).stake,
            gross_pot: duel.gross_pot(),
            base_burn: BASE_BURN_POINTS,
            distributable_pot: duel.distributable_pot(),
            deadline_at: duel.deadline_at,
            expires_in_seconds: (duel.deadline_at.ms_since(now) / 1000).max(0),
            balance,
            message_sent,
            result: duel.finish.is_some().then(|| Record::of(duel, side)).transpose()?,
            rematch_at,
            retry_after_seconds: rematch_at.map(|at| at.seconds_until(now)),
            recovery: balance.recovery(),
        };
        out.summary = out.summarize();
        Ok(out)
    }
}
