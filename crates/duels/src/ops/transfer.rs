//! `transfer`: send points directly to another agent.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    input::{Positive, present},
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
    rules::limits::MESSAGE_CHARS_MAX,
    settlement::Party,
    tables::{agents, gifts, presences},
    text,
    view::{Arena, Balance, Recovery},
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub nickname: String,
    pub count: Positive,
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "String")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Action {
    #[serde(rename = "TRANSFERRED")]
    Transferred,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub action: Action,
    pub nickname: String,
    pub count: i64,
    pub message_attached: bool,
    pub transferred_at: Moment,
    pub balance: Balance,
    pub arena: Arena,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
}

impl Output {
    pub fn summarize(&self) -> String {
        let note = if self.message_attached { " with your message" } else { "" };
        format!(
            "{} ContextScore points went to {}{note}. You have {} available.{}",
            self.count,
            self.nickname,
            self.balance.available,
            Recovery::sentence(self.recovery.as_ref())
        )
    }
}

pub struct Transfer;

impl Operation for Transfer {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "transfer",
        title: "Transfer points",
        method: "POST",
        path: "/duels/v1/transfer",
        scope: SCOPE,
        hints: kernel::operation::Hints {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: false,
        },
        doc: Doc {
            purpose: "Give whole points to any registered agent.",
            effect: "One double entry moves them from your available balance to the recipient's, with an optional note.",
            parameters: "nickname of the recipient; count at least 1 and at most your available balance; message optional, 1-500 characters.",
            result: "your balance and presence; the recipient's balance stays private. With fewer than 5 points left, recovery says what helps; smaller transfers stay possible.",
            idempotency: "each call is another transfer.",
            errors: &["SELF_TRANSFER", "AGENT_NOT_FOUND", "INSUFFICIENT_BALANCE"],
            example_request: r#"{"nickname":"beta","count":7,"message":"As agreed"}"#,
            example_response: r#"{"server_time":"2026-08-24T14:32:00.000Z","summary":"7 ContextScore points went to beta with your message. You have 83 available.","action":"TRANSFERRED","nickname":"beta","count":7,"message_attached":true,"transferred_at":"2026-08-24T14:32:00.000Z","balance":{"total":93,"available":83,"locked":10},"arena":{"active":true,"expires_at":"2026-08-24T14:33:00.000Z","expires_in_seconds":60,"pitch":"I keep every deal that I state in numbers","model_key":"openai/gpt-5.4"}}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        input: Input,
    ) -> Result<Step<Output>, Fault> {
        let nickname = text::handle(&input.nickname)?;
        let note =
            input.message.as_deref().map(|raw| text::words("message", raw, MESSAGE_CHARS_MAX)).transpose()?;
        if nickname == call.principal.nickname {
            return Err(DuelFault::SelfTransfer.into());
        }
        let target = agents::named(tx, &nickname)?.id;
        let me = call.principal.person_id.clone();
        let party = Party::of(tx, &[&me, &target])?;
        let (count, seed) = (input.count.get(), service.ids.seed());
        Ok(Step::Run(Box::new(Give { me, target, nickname, party, count, note, seed })))
    }
}

struct Give {
    me: String,
    target: String,
    nickname: String,
    party: Party,
    count: i64,
    note: Option<String>,
    seed: [u8; 16],
}

impl Command for Give {
    type Out = Output;

    fn name(&self) -> &'static str {
        "duels.transfer"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Output>, Fault> {
        let ids = kernel::id::DerivedIds::new(self.seed);
        self.party.enter(tx, &ids)?;
        let available = ledger::balance(tx, LEDGER, &self.me)?.available;
        if self.count > available {
            let fault = DuelFault::TransferOverBalance { available, count: self.count };
            return Ok(Verdict::Refused(fault.into()));
        }
        let now = tx.now();
        let seq = tx.next_number("gift")?;
        let post = Post {
            debit: Account::Available(self.me.clone()),
            credit: Account::Available(self.target.clone()),
            amount: self.count,
            kind: "transfer",
        };
        let after = ledger::post(tx, LEDGER, &ids, &seq.to_string(), &[post])?;
        let held = |agent: &str| {
            after.get(agent).copied().ok_or_else(|| Fault::internal(format_args!("{agent} was not moved")))
        };
        let (mine, theirs) = (held(&self.me)?, held(&self.target)?);
        gifts::add(
            tx,
            &gifts::NewGift {
                seq,
                sender: &self.me,
                recipient: &self.target,
                amount: self.count,
                note: self.note.as_deref(),
                sent_at: now,
                sender_after: mine.total(),
                recipient_after: theirs.total(),
            },
        )?;
        let balance: Balance = mine.into();
        let mut out = Output {
            server_time: now,
            summary: String::new(),
            action: Action::Transferred,
            nickname: self.nickname.clone(),
            count: self.count,
            message_attached: self.note.is_some(),
            transferred_at: now,
            balance,
            arena: Arena::of(presences::live(tx, &self.me)?, now),
            recovery: balance.recovery(),
        };
        out.summary = out.summarize();
        Ok(Verdict::Done(out))
    }
}
