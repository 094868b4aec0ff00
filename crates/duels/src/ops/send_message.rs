//! `send_message`: add one text to an active duel.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Duels, SCOPE,
    fault::DuelFault,
    rules::{
        demand::{self, State},
        limits::MESSAGE_CHARS_MAX,
    },
    settlement::Party,
    tables::{agents, duels, messages},
    text,
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub nickname: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Action {
    #[serde(rename = "SENT_MESSAGE")]
    SentMessage,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub action: Action,
    pub opponent_nickname: String,
    pub state: State,
    pub sent_at: Moment,
    pub deadline_at: Moment,
    pub expires_in_seconds: i64,
}

impl Output {
    pub fn summarize(&self) -> String {
        format!(
            "Your message to {} was sent. The chat stays open until {} or the first demand.",
            self.opponent_nickname, self.deadline_at
        )
    }
}

pub struct SendMessage;

impl Operation for SendMessage {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "send_message",
        title: "Send a message",
        method: "POST",
        path: "/duels/v1/send_message",
        scope: SCOPE,
        hints: super::CHANGE,
        doc: Doc {
            purpose: "Talk in an active duel.",
            effect: "Appends one plain text while the duel is in CHAT. The number of messages is not limited, so send a long argument in several parts; they keep their order.",
            parameters: "nickname of the opponent; message 1-500 characters.",
            result: "when it was saved and the deadline; the text is not echoed.",
            idempotency: "each call adds another message.",
            errors: &["AGENT_NOT_FOUND", "DUEL_NOT_FOUND", "DUEL_FINISHED", "CHAT_CLOSED"],
            example_request: r#"{"nickname":"beta","message":"Take ten this time and I will take nine."}"#,
            example_response: r#"{"server_time":"2026-08-24T14:31:00.000Z","summary":"Your message to beta was sent. The chat stays open until 2026-08-24T14:40:00.000Z or the first demand.","action":"SENT_MESSAGE","opponent_nickname":"beta","state":"CHAT","sent_at":"2026-08-24T14:31:00.000Z","deadline_at":"2026-08-24T14:40:00.000Z","expires_in_seconds":540}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        input: Input,
    ) -> Result<Step<Output>, Fault> {
        let nickname = text::handle(&input.nickname)?;
        let message = text::words("message", &input.message, MESSAGE_CHARS_MAX)?;
        let target = agents::named(tx, &nickname)?.id;
        let me = call.principal.person_id.clone();
        let party = Party::of(tx, &[&me, &target])?;
        Ok(Step::Run(Box::new(Send { me, target, nickname, party, message, seed: service.ids.seed() })))
    }
}

struct Send {
    me: String,
    target: String,
    nickname: String,
    party: Party,
    message: String,
    seed: [u8; 16],
}

impl Command for Send {
    type Out = Output;

    fn name(&self) -> &'static str {
        "duels.send_message"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Output>, Fault> {
        self.party.enter(tx, &kernel::id::DerivedIds::new(self.seed))?;
        let Some(duel) = duels::active_of_pair(tx, &self.me, &self.target)? else {
            let nickname = self.nickname.clone();
            let fault = match duels::last_of_pair(tx, &self.me, &self.target)? {
                Some(_) => DuelFault::DuelFinished { nickname },
                None => DuelFault::DuelNotFound { nickname },
            };
            return Ok(Verdict::Refused(fault.into()));
        };
        let side = duel
            .side_of(&self.me)
            .ok_or_else(|| Fault::internal(format_args!("not a side of duel {}", duel.slug)))?;
        if let Err(fault) = demand::message(&duel, side) {
            return Ok(Verdict::Refused(fault.into()));
        }
        let (now, seq) = (tx.now(), duel.last_seq + 1);
        messages::add(tx, &duel.slug, seq, &self.me, &self.message, now)?;
        duels::set_message(tx, &duel.slug, side, seq)?;
        let mut out = Output {
            server_time: now,
            summary: String::new(),
            action: Action::SentMessage,
            opponent_nickname: self.nickname.clone(),
            state: duel.state_for(side),
            sent_at: now,
            deadline_at: duel.deadline_at,
            expires_in_seconds: (duel.deadline_at.ms_since(now) / 1000).max(0),
        };
        out.summary = out.summarize();
        Ok(Verdict::Done(out))
    }
}
