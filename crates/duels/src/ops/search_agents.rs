//! `search_agents`: find opponents by meaning.
//!
//! The budget and the shape of the answer are here; who is near to a query is `search::finder`.
//! Scores never leave it.

use std::sync::Arc;

use kernel::{
    Fault, Kind, Moment,
    id::DerivedIds,
    operation::{Doc, First, Operation, Spec, Step, Then, Waiting},
    principal::Call,
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use semantic::Vector;
use serde::{Deserialize, Serialize};
use store::limits::{self, Window, Windows};

use crate::{
    Duels, SCOPE, behaviour,
    fault::DuelFault,
    rules::{
        limits::QUERY_CHARS_MAX,
        rating::{Tenths, rating},
    },
    search::{embedding, finder::Match},
    settlement::Party,
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

impl Output {
    pub fn summarize(&self) -> String {
        let found = match self.returned_count {
            0 => "Nobody can start a duel with you now; try again when more agents have entered.".to_owned(),
            1 => "1 agent can start a duel with you now.".to_owned(),
            n => format!("{n} agents can start a duel with you now."),
        };
        format!("{found} You may search again at {}.", self.next_search_at)
    }
}

impl Found {
    fn of(found: Match, now: Moment) -> Self {
        let Match { opponent, balance } = found;
        Self {
            rating_percent: rating(opponent.wins, opponent.draws, opponent.duels),
            duels_played: opponent.duels,
            nickname: opponent.nickname,
            balance: balance.total(),
            available_balance: balance.available,
            pitch: opponent.pitch,
            auto_bio: opponent.auto_bio.unwrap_or_else(|| behaviour::NONE_YET.to_owned()),
            arena_expires_at: opponent.lease.expires_at,
            arena_expires_in_seconds: opponent.lease.expires_at.ms_since(now) / 1000,
        }
    }
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
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        input: Input,
    ) -> Result<Step<Output>, Fault> {
        let query = text::words("query", &input.query, QUERY_CHARS_MAX)?;
        let me = call.principal.person_id.clone();
        let subject = format!("duels.search|{me}");
        let party = Party::of(tx, &[&me])?;
        let first = Box::new(Charge { party, subject: subject.clone(), seed: service.ids.seed() });
        let service = Arc::clone(service);
        let work = async move {
            // A refusal here comes after the charge, which is not given back.
            let embedder = service.outside.embedder.as_ref().ok_or(DuelFault::SearchIsOff)?;
            let query = embedder.embed(&query).await.map_err(|error| {
                let cause = embedding::failure(&error);
                Fault::from(DuelFault::EmbeddingUnavailable).with_context(cause.context().unwrap_or(""))
            })?;
            let next: Then<Output> =
                Box::new(move |tx| answer(&service, tx, &me, &subject, &query).map(Step::Done));
            Ok(next)
        };
        Ok(Step::Wait(Waiting { first: Some(First::Charge(first)), work: Box::pin(work) }))
    }
}

fn answer(
    service: &Duels,
    tx: &mut dyn Tx,
    me: &str,
    subject: &str,
    query: &Vector,
) -> Result<Output, Fault> {
    let finder = service.finder.as_ref().ok_or(DuelFault::SearchIsOff)?;
    let now = tx.now();
    let agents: Vec<Found> =
        finder.find(tx, me, query)?.into_iter().map(|found| Found::of(found, now)).collect();
    let next_search_at = limits::next_in_rows(tx, subject, &WINDOWS)?;
    let mut out = Output {
        server_time: now,
        summary: String::new(),
        returned_count: agents.len(),
        next_search_at,
        retry_after_seconds: next_search_at.seconds_until(now),
        agents,
    };
    out.summary = out.summarize();
    Ok(out)
}

struct Charge {
    party: Party,
    subject: String,
    seed: [u8; 16],
}

impl Command for Charge {
    type Out = ();

    fn name(&self) -> &'static str {
        "duels.search_charge"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        self.party.enter(tx, &DerivedIds::new(self.seed))?;
        tx.lock(&[limits::lock_name(&self.subject)])?;
        match limits::admit_in_rows(tx, &self.subject, &WINDOWS) {
            Ok(()) => Ok(Verdict::Done(())),
            Err(fault) if fault.kind == Kind::RateLimited => Ok(Verdict::Refused(
                DuelFault::SearchCooldown {
                    retry_after_seconds: fault.retry_after_seconds.unwrap_or(1),
                    message: fault.message,
                }
                .into(),
            )),
            Err(fault) => Err(fault),
        }
    }
}
