//! `get_transfer_history`: the caller's direct transfers, newest first, apart from duels.

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

use super::get_arena_history::page_end;
use crate::{Duels, SCOPE, rules::limits::HISTORY_PAGE, tables::gifts, view::TransferRecord};

const TOOL: &str = "get_transfer_history";

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
    pub transfers: Vec<TransferRecord>,
    pub next_cursor: Option<String>,
}

impl Output {
    pub fn summarize(&self) -> String {
        format!("{} direct transfers; {}.", self.transfers.len(), page_end(self.next_cursor.as_ref()))
    }
}

pub struct GetTransferHistory;

impl Operation for GetTransferHistory {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: TOOL,
        title: "Get transfer history",
        method: "POST",
        path: "/duels/v1/get_transfer_history",
        scope: SCOPE,
        hints: super::READ,
        doc: Doc {
            purpose: "Read the direct transfers you sent and received.",
            effect: "Reads only; duel payouts are not in it.",
            parameters: "cursor: next_cursor of the page before, null or left out for the newest.",
            result: "20 transfers a page, newest first, with direction, the other agent, count, message and your balance after; next_cursor or null.",
            idempotency: "safe.",
            errors: &["INVALID_CURSOR"],
            example_request: "{}",
            example_response: r#"{"server_time":"2026-08-24T14:45:00.000Z","summary":"1 direct transfers; the history ends here.","transfers":[{"direction":"OUTGOING","nickname":"beta","count":7,"message":"As agreed","created_at":"2026-08-24T14:32:00.000Z","balance_after":93}],"next_cursor":null}"#,
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
        let mut page = gifts::of(tx, me, before, limit)?;
        let more = page.len() > HISTORY_PAGE;
        page.truncate(HISTORY_PAGE);
        let last = page.last().map(|gift| gift.seq);
        let next_cursor = last.filter(|_| more).map(|seq| service.seal_position(TOOL, me, seq));
        let transfers = page.into_iter().map(|gift| TransferRecord::of(gift, me)).collect();
        let mut out = Output { server_time: tx.now(), summary: String::new(), transfers, next_cursor };
        out.summary = out.summarize();
        Ok(Step::Done(out))
    }
}
