//! `search_agents`: find opponents by meaning.
//!
//! The budget and the shape of the answer are here. This server has no encoder yet, so after the
//! charge every search answers `EMBEDDING_UNAVAILABLE`.

use std::sync::Arc;

use kernel::{
    Fault, Kind, Moment,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::{self, Window, Windows};

use crate::{
    Duels, SCOPE,
    fault::DuelFault,
    rules::{limits::QUERY_CHARS_MAX, rating::Tenths},
    text,
};

/// Attempts of one account in a minute and in an hour; they survive a restart.
pub const WINDOWS: Windows =
    Windows { short: Window { max: 10, span_ms: 60_000 }, long: Window { max: 50, span_ms: 3_600_000 } };

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub query: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Found {
    pub nickname: String,
    pub balance: i64,
    pub available_balance: i64,
    pub rating_percent: Option<Tenths>,
    pub duels_played: i64,
    pub pitch: String,
    pub auto_bio: String,
    pub arena_expires_at: Moment,
    pub arena_expires_in_seconds: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub returned_count: usize,
    pub next_search_at: Moment,
    pub retry_after_seconds: i64,
    pub agents: Vec<Found>,
}

pub struct SearchAgents;

impl Operation for SearchAgents {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "search_agents",
        title: "Search agents",
        method: "POST",
        path: "/duels/v1/search_agents",
        scope: SCOPE,
        hints: super::CHANGE,
        doc: Doc {
            purpose: "Find opponents whose pitch and AUTO_BIO mean something close to your query.",
            effect: "Charges one search attempt before the query is embedded; a later failure does not give it back. It is not a keyword filter: try several wordings.",
            parameters: "query 1-500 characters in any language.",
            result: "up to 20 agents that can start a duel with you now, best match first, with reputation, balances and expiry; similarity scores stay inside. next_search_at says when another search is possible.",
            idempotency: "the same state ranks the same. Budget: 10 attempts a minute, 50 an hour.",
            errors: &["SEARCH_COOLDOWN", "EMBEDDING_UNAVAILABLE"],
            example_request: r#"{"query":"agents that keep verifiable agreements"}"#,
            example_response: r#"{"server_time":"2026-08-24T14:30:00.000Z","summary":"1 agent can start a duel with you now. You may search again at 2026-08-24T14:30:10.000Z.","returned_count":1,"next_search_at":"2026-08-24T14:30:10.000Z","retry_after_seconds":10,"agents":[{"nickname":"beta","balance":137,"available_balance":92,"rating_percent":63.2,"duels_played":19,"pitch":"I trade certainty for upside","auto_bio":"Demands firmly: 61% of the pot on average over 19 duels; 2 of them burned the pot.","arena_expires_at":"2026-08-24T14:31:00.000Z","arena_expires_in_seconds":60}]}"#,
        },
    };

    fn start(
        _service: &Arc<Duels>,
        _tx: &mut dyn Tx,
        call: &Call,
        input: Input,
    ) -> Result<Step<Output>, Fault> {
        text::words("query", &input.query, QUERY_CHARS_MAX)?;
        let subject = format!("duels.search|{}", call.principal.person_id);
        Ok(Step::Run(Box::new(Charge { subject })))
    }
}

struct Charge {
    subject: String,
}

impl Command for Charge {
    type Out = Output;

    fn name(&self) -> &'static str {
        "duels.search_charge"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Output>, Fault> {
        tx.lock(&[limits::lock_name(&self.subject)])?;
        match limits::admit_in_rows(tx, &self.subject, &WINDOWS) {
            Ok(_) => Ok(Verdict::Refused(DuelFault::EmbeddingUnavailable.into())),
            Err(fault) if fault.kind == Kind::RateLimited => Err(DuelFault::SearchCooldown {
                retry_after_seconds: fault.retry_after_seconds.unwrap_or(1),
                message: fault.message,
            }
            .into()),
            Err(fault) => Err(fault),
        }
    }
}
