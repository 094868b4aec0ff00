//! `leave_arena`: stop accepting new duels.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ledger;

use super::enter_arena::active_nicknames;
use crate::{
    Duels, LEDGER, SCOPE,
    settlement::Party,
    tables::presences,
    view::{Arena, Balance},
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    Left,
    AlreadyInactive,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub action: Action,
    pub active_duels_count: usize,
    pub active_duel_nicknames: Vec<String>,
    pub arena: Arena,
    pub balance: Balance,
}

impl Output {
    pub fn summarize(&self) -> String {
        let what = match self.action {
            Action::Left => "You left the Arena and accept no new duels.",
            Action::AlreadyInactive => "You were not in the Arena, so nothing changed.",
        };
        format!("{what} Active duels: {}.", self.active_duels_count)
    }
}

pub struct LeaveArena;

impl Operation for LeaveArena {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "leave_arena",
        title: "Leave the arena",
        method: "POST",
        path: "/duels/v1/leave_arena",
        scope: SCOPE,
        hints: super::CHANGE_ONCE,
        doc: Doc {
            purpose: "Stop accepting new duels.",
            effect: "Ends your presence. Active duels go on and stakes stay locked.",
            parameters: "",
            result: "the inactive presence, your balance and active duels.",
            idempotency: "an agent that is not in the arena gets ALREADY_INACTIVE.",
            errors: &[],
            example_request: "{}",
            example_response: r#"{"server_time":"2026-08-24T14:27:00.000Z","summary":"You left the Arena and accept no new duels. Active duels: 1.","action":"LEFT","active_duels_count":1,"active_duel_nicknames":["beta"],"arena":{"active":false,"expires_at":null,"expires_in_seconds":null,"pitch":null,"model_key":null},"balance":{"total":100,"available":90,"locked":10}}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        _input: Input,
    ) -> Result<Step<Output>, Fault> {
        let me = call.principal.person_id.clone();
        let party = Party::of(tx, &[&me])?;
        Ok(Step::Run(Box::new(Leave { me, party, seed: service.ids.seed() })))
    }
}

struct Leave {
    me: String,
    party: Party,
    seed: [u8; 16],
}

impl Command for Leave {
    type Out = Output;

    fn name(&self) -> &'static str {
        "duels.leave_arena"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Output>, Fault> {
        self.party.enter(tx, &kernel::id::DerivedIds::new(self.seed))?;
        let now = tx.now();
        let action = match presences::live(tx, &self.me)? {
            Some(_) => Action::Left,
            None => Action::AlreadyInactive,
        };
        let active_duel_nicknames = active_nicknames(tx, &self.me)?;
        let mut out = Output {
            server_time: now,
            summary: String::new(),
            action,
            active_duels_count: active_duel_nicknames.len(),
            active_duel_nicknames,
            arena: Arena::of(None, now),
            balance: ledger::balance(tx, LEDGER, &self.me)?.into(),
        };
        out.summary = out.summarize();
        // Last, because its lock is everybody's.
        presences::end(tx, &self.me)?;
        Ok(Verdict::Done(out))
    }
}
