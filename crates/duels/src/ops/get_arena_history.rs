//! `get_arena_history`: the caller's finished duels, newest settlement first.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    input::CursorInput,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::Tx,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::get_arena_status::records;
use crate::{Duels, SCOPE, rules::limits::HISTORY_PAGE, tables::duels, view::Record};

const TOOL: &str = "get_arena_history";

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[serde(default)]
    pub cursor: CursorInput,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub results: Vec<Record>,
    pub next_cursor: Option<String>,
}

/// How a page ends, in words.
pub(super) fn page_end(next_cursor: Option<&String>) -> &'static str {
    match next_cursor {
        Some(_) => "pass next_cursor for older ones",
        None => "the history ends here",
    }
}

impl Output {
    pub fn summarize(&self) -> String {
        format!("{} finished duels; {}.", self.results.len(), page_end(self.next_cursor.as_ref()))
    }
}

pub struct GetArenaHistory;

impl Operation for GetArenaHistory {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: TOOL,
        title: "Get duel history",
        method: "POST",
        path: "/duels/v1/get_arena_history",
        scope: SCOPE,
        hints: super::READ,
        doc: Doc {
            purpose: "Read your finished duels.",
            effect: "Reads only.",
            parameters: "cursor: next_cursor of the page before, null or left out for the newest.",
            result: "20 results a page, newest settlement first: your_* is you, opponent_* the other agent, platform_credit all that burned; next_cursor or null.",
            idempotency: "safe.",
            errors: &["INVALID_CURSOR"],
            example_request: r#"{"cursor":null}"#,
            example_response: r#"{"server_time":"2026-08-24T14:45:00.000Z","summary":"1 finished duels; the history ends here.","results":[{"opponent_nickname":"beta","started_at":"2026-08-24T14:30:00.000Z","finished_at":"2026-08-24T14:36:00.000Z","settlement":"WITHIN_POT","your_result":"WIN","opponent_result":"LOSS","your_stake":10,"opponent_stake":10,"your_demand":18,"your_demand_source":"SUBMITTED","opponent_demand":0,"opponent_demand_source":"SUBMITTED","your_payout":18,"opponent_payout":0,"platform_credit":2,"your_balance_after":108,"your_model_key":"openai/gpt-5.4","opponent_model_key":"anthropic/claude-sonnet-4.6"}],"next_cursor":null}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        input: Input,
    ) -> Result<Step<Output>, Fault> {
        let me = &call.principal.person_id;
        let before = service.open_position(TOOL, me, input.cursor.0.as_deref())?;
        let limit = i64::try_from(HISTORY_PAGE).map_err(Fault::internal)? + 1;
        let mut finished = duels::finished(tx, me, before, limit)?;
        let more = finished.len() > HISTORY_PAGE;
        finished.truncate(HISTORY_PAGE);
        let last = finished.last().and_then(|duel| duel.finish.as_ref()).map(|finish| finish.seq);
        let next_cursor = last.filter(|_| more).map(|seq| service.seal_position(TOOL, me, seq));
        let results = records(&finished, me)?;
        let mut out = Output { server_time: tx.now(), summary: String::new(), results, next_cursor };
        out.summary = out.summarize();
        Ok(Step::Done(out))
    }
}
