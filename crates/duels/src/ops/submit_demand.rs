//! `submit_demand`: the final secret claim, which may settle the duel.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    id::hex,
    input::Count,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ledger;

use crate::{
    Duels, LEDGER, SCOPE,
    fault::DuelFault,
    rules::{
        demand::{self, DemandStep, Duel, Side, State},
        sealed,
    },
    settlement::{self, Party},
    tables::{agents, duels},
    text,
    view::{Balance, Record, Recovery},
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub nickname: String,
    pub count: Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    SubmittedDemand,
    ExistingDemand,
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
    pub submitted_count: i64,
    /// The settlement, once there is one.
    pub result: Option<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
}

impl Output {
    pub fn summarize(&self) -> String {
        let (count, opponent) = (self.submitted_count, &self.opponent_nickname);
        let what = match self.action {
            Action::SubmittedDemand => {
                format!("Your demand of {count} ContextScore points in the duel with {opponent} is sealed.")
            }
            Action::ExistingDemand => format!(
                "Your demand of {count} ContextScore points in the duel with {opponent} was sealed before; nothing changed."
            ),
            Action::FinishedDuel => format!(
                "The duel with {opponent} was settled before with your demand of {count} ContextScore points; nothing changed."
            ),
        };
        let then = match &self.result {
            Some(record) => format!(" {}", record.sentence()),
            None => " It settles with the opponent's demand or at the deadline.".to_owned(),
        };
        format!("{what}{then}{}", Recovery::sentence(self.recovery.as_ref()))
    }
}

pub struct SubmitDemand;

impl Operation for SubmitDemand {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "submit_demand",
        title: "Submit a demand",
        method: "POST",
        path: "/duels/v1/submit_demand",
        scope: SCOPE,
        hints: kernel::operation::Hints {
            read_only: false,
            destructive: true,
            idempotent: true,
            open_world: false,
        },
        doc: Doc {
            purpose: "Make your final secret claim on the pot of a duel.",
            effect: "The first demand closes the chat, the second settles; one that is missing at the deadline counts as 0. Demands that together fit distributable_pot are paid and the remainder burns with the base burn of 1; beyond it both get 0 and the whole gross_pot burns. Only a hash of your demand is public until then.",
            parameters: "nickname of the opponent; count a whole number from 0 to distributable_pot.",
            result: "WAITING_FOR_OPPONENT, or the settlement from your side; platform_credit is all that burned. With fewer than 5 points left, recovery says what helps.",
            idempotency: "the same count answers EXISTING_DEMAND, after settlement FINISHED_DUEL with the stored result; another count is refused. Nothing settles twice.",
            errors: &[
                "DEMAND_OUT_OF_RANGE",
                "DEMAND_ALREADY_SUBMITTED",
                "DUEL_NOT_FOUND",
                "DUEL_FINISHED",
                "AGENT_NOT_FOUND",
            ],
            example_request: r#"{"nickname":"beta","count":18}"#,
            example_response: r#"{"server_time":"2026-08-24T14:35:00.000Z","summary":"Your demand of 18 ContextScore points in the duel with beta is sealed. It settles with the opponent's demand or at the deadline.","action":"SUBMITTED_DEMAND","opponent_nickname":"beta","state":"WAITING_FOR_OPPONENT","submitted_count":18,"result":null}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        input: Input,
    ) -> Result<Step<Output>, Fault> {
        let nickname = text::handle(&input.nickname)?;
        let target = agents::named(tx, &nickname)?.id;
        let me = call.principal.person_id.clone();
        let party = Party::of(tx, &[&me, &target])?;
        let mut salt = [0; 32];
        service.ids.fill(&mut salt);
        Ok(Step::Run(Box::new(Submit {
            me,
            target,
            nickname,
            party,
            count: input.count.get(),
            salt: hex(&salt),
            seed: service.ids.seed(),
        })))
    }
}

struct Submit {
    me: String,
    target: String,
    nickname: String,
    party: Party,
    count: i64,
    salt: String,
    seed: [u8; 16],
}

impl Command for Submit {
    type Out = Output;

    fn name(&self) -> &'static str {
        "duels.submit_demand"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Output>, Fault> {
        let ids = kernel::id::DerivedIds::new(self.seed);
        self.party.enter(tx, &ids)?;
        let stored = match duels::active_of_pair(tx, &self.me, &self.target)? {
            Some(duel) => Some(duel),
            None => duels::last_of_pair(tx, &self.me, &self.target)?,
        };
        let Some(mut duel) = stored else {
            let fault = DuelFault::DuelNotFound { nickname: self.nickname.clone() };
            return Ok(Verdict::Refused(fault.into()));
        };
        let side = duel
            .side_of(&self.me)
            .ok_or_else(|| Fault::internal(format_args!("not a side of duel {}", duel.slug)))?;
        let step = match demand::demand(&duel, side, self.count) {
            Ok(step) => step,
            Err(fault) => return Ok(Verdict::Refused(fault.into())),
        };
        if matches!(step, DemandStep::Accept | DemandStep::AcceptAndSettle) {
            self.seal(tx, &mut duel, side)?;
        }
        if step == DemandStep::AcceptAndSettle {
            settlement::settle(tx, &ids, &mut duel)?;
        }
        let action = match step {
            DemandStep::Existing => Action::ExistingDemand,
            DemandStep::Replay => Action::FinishedDuel,
            DemandStep::Accept | DemandStep::AcceptAndSettle => Action::SubmittedDemand,
        };
        self.answer(tx, action, &duel, side).map(Verdict::Done)
    }
}

impl Submit {
    fn seal(&self, tx: &mut dyn Tx, duel: &mut Duel, side: Side) -> Result<(), Fault> {
        let commitment = sealed::commitment(&duel.slug, &duel.seat(side).nickname, self.count, &self.salt);
        let seat = &mut duel.seats[side.index()];
        seat.demand = Some(self.count);
        seat.salt = Some(self.salt.clone());
        seat.commitment = Some(commitment);
        duels::set_demand(tx, duel, side)
    }

    fn answer(&self, tx: &mut dyn Tx, action: Action, duel: &Duel, side: Side) -> Result<Output, Fault> {
        let balance: Balance = ledger::balance(tx, LEDGER, &self.me)?.into();
        let mut out = Output {
            server_time: tx.now(),
            summary: String::new(),
            action,
            opponent_nickname: self.nickname.clone(),
            state: duel.state_for(side),
            submitted_count: self.count,
            result: duel.finish.is_some().then(|| Record::of(duel, side)).transpose()?,
            recovery: balance.recovery(),
        };
        out.summary = out.summarize();
        Ok(out)
    }
}
