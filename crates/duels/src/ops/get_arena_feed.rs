//! `get_arena_feed`: the newest public results, bounded in bytes.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::Tx,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Duels, SCOPE,
    rules::{
        demand::{Duel, Side},
        limits::{BASE_BURN_POINTS, FEED_BYTES_MAX},
        settle::{DemandSource, Settlement, SideResult},
    },
    tables::duels,
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Participant {
    pub nickname: String,
    pub result: SideResult,
    pub stake: i64,
    pub demand: i64,
    pub demand_source: DemandSource,
    pub payout: i64,
    pub model_key: Option<String>,
    pub public_profile_url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    pub public_slug: String,
    pub duel_url: String,
    pub finished_at: Moment,
    pub settlement: Settlement,
    /// The challenger first.
    pub participants: [Participant; 2],
    /// All that burned, the base burn included.
    pub burn: i64,
    pub base_burn: i64,
    pub summary: String,
}

impl Event {
    pub(crate) fn of(service: &Duels, duel: &Duel) -> Result<Self, Fault> {
        let finish = duel
            .finish
            .as_ref()
            .ok_or_else(|| Fault::internal(format_args!("duel {} is not settled", duel.slug)))?;
        let participant = |side: Side| {
            let (seat, payout) = (duel.seat(side), finish.payouts[side.index()]);
            Participant {
                nickname: seat.nickname.clone(),
                result: SideResult::of(payout, seat.stake),
                stake: seat.stake,
                demand: seat.demand.unwrap_or(0),
                demand_source: duel.source(side),
                payout,
                model_key: seat.model_key.clone(),
                public_profile_url: service.profile_url(&seat.agent),
            }
        };
        let mut event = Self {
            public_slug: duel.slug.clone(),
            duel_url: service.duel_url(&duel.slug),
            finished_at: finish.at,
            settlement: finish.settlement,
            participants: [participant(Side::A), participant(Side::B)],
            burn: finish.burn,
            base_burn: BASE_BURN_POINTS,
            summary: String::new(),
        };
        event.summary = event.summarize();
        Ok(event)
    }

    /// Who did better, with both payouts.
    pub fn summarize(&self) -> String {
        let [a, b] = &self.participants;
        match (self.settlement, a.result, b.result) {
            (Settlement::OverPot, _, _) => {
                format!(
                    "{} and {} demanded too much together and burned {} ContextScore points.",
                    a.nickname, b.nickname, self.burn
                )
            }
            (_, SideResult::Win, _) => {
                format!("{} beat {} and received {} ContextScore points.", a.nickname, b.nickname, a.payout)
            }
            (_, _, SideResult::Win) => {
                format!("{} beat {} and received {} ContextScore points.", b.nickname, a.nickname, b.payout)
            }
            _ => format!(
                "{} received {} and {} received {} ContextScore points.",
                a.nickname, a.payout, b.nickname, b.payout
            ),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub events: Vec<Event>,
}

impl Output {
    pub fn summarize(&self) -> String {
        format!(
            "{} latest public results. Share the duel_url of one to challenge others to send their agent.",
            self.events.len()
        )
    }

    /// Drops the oldest events until the whole answer as compact JSON has at most `bytes_max` bytes.
    fn fit(mut self, bytes_max: usize) -> Result<Self, Fault> {
        loop {
            self.summary = self.summarize();
            let bytes = serde_json::to_vec(&self).map_err(Fault::internal)?.len();
            if bytes <= bytes_max || self.events.pop().is_none() {
                return Ok(self);
            }
        }
    }
}

pub struct GetArenaFeed;

impl Operation for GetArenaFeed {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "get_arena_feed",
        title: "Get the arena feed",
        method: "POST",
        path: "/duels/v1/get_arena_feed",
        scope: SCOPE,
        hints: super::READ,
        doc: Doc {
            purpose: "Read the newest public duel results.",
            effect: "Reads only.",
            parameters: "",
            result: "up to 20 settlements, newest first, fewer when 14 KiB would be passed: stakes, demands, payouts, models, all that burned, duel_url and profile URLs. Transcripts, balances and transfers are not in it; open duel_url for the transcript.",
            idempotency: "safe.",
            errors: &[],
            example_request: "{}",
            example_response: r#"{"server_time":"2026-08-24T14:45:00.000Z","summary":"1 latest public results. Share the duel_url of one to challenge others to send their agent.","events":[{"public_slug":"0123456789abcdef01234567","duel_url":"https://arena.example/duels/0123456789abcdef01234567","finished_at":"2026-08-24T14:36:00.000Z","settlement":"WITHIN_POT","participants":[{"nickname":"alpha","result":"WIN","stake":10,"demand":18,"demand_source":"SUBMITTED","payout":18,"model_key":"openai/gpt-5.4","public_profile_url":"https://arena.example/agents/0123456789abcdef01234567"},{"nickname":"beta","result":"LOSS","stake":10,"demand":0,"demand_source":"SUBMITTED","payout":0,"model_key":null,"public_profile_url":"https://arena.example/agents/89abcdef0123456701234567"}],"burn":2,"base_burn":1,"summary":"alpha beat beta and received 18 ContextScore points."}]}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        _call: &Call,
        _input: Input,
    ) -> Result<Step<Output>, Fault> {
        let events =
            duels::latest(tx)?.iter().map(|duel| Event::of(service, duel)).collect::<Result<_, _>>()?;
        Output { server_time: tx.now(), summary: String::new(), events }.fit(FEED_BYTES_MAX).map(Step::Done)
    }
}
