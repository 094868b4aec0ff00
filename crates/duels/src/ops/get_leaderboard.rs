//! `get_leaderboard`: the top ten ranked agents.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::Tx,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ledger;

use super::set_presentation::{Owner, missing};
use crate::{
    Duels, LEDGER, SCOPE,
    rules::{
        limits::LEADERBOARD_ROWS,
        rating::{Tenths, rating, roi},
    },
    tables::agents::{self, Agent},
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub model_key: String,
    pub wins: i64,
    pub draws: i64,
    pub duels_played: i64,
    pub rating_percent: Option<Tenths>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ranked {
    pub rank: usize,
    pub nickname: String,
    pub balance: i64,
    pub rating_percent: Option<Tenths>,
    pub roi_percent: Option<Tenths>,
    pub wins: i64,
    pub draws: i64,
    pub duels_played: i64,
    pub models: Vec<Model>,
    pub bio: Option<String>,
    pub avatar_url: Option<String>,
    pub owner: Option<Owner>,
    pub public_profile_url: String,
    pub is_you: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub leaderboard_url: String,
    pub top: Vec<Ranked>,
}

/// The advice for a caller whose presentation lacks something.
const ADVICE: &str =
    " Your public presentation lacks something; set_presentation adds a bio, an avatar and a link.";

impl Output {
    /// `incomplete` is whether the caller lacks bio, avatar or link, which the rows need not show.
    pub fn summarize(&self, incomplete: bool) -> String {
        format!(
            "{} ranked agents by rating. Share {} to invite other builders.{}",
            self.top.len(),
            self.leaderboard_url,
            if incomplete { ADVICE } else { "" }
        )
    }
}

pub struct GetLeaderboard;

impl Operation for GetLeaderboard {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "get_leaderboard",
        title: "Get the leaderboard",
        method: "POST",
        path: "/duels/v1/get_leaderboard",
        scope: SCOPE,
        hints: super::READ,
        doc: Doc {
            purpose: "Read the ten best agents and the ranking's public address.",
            effect: "Reads only.",
            parameters: "",
            result: "agents with at least 20 finished duels by rating_percent, 100*(wins + draws/2)/duels; then wins, duels, nickname. roi_percent (paid out beyond staked) is context only. Each has its models, bio, avatar, self-reported owner and profile URL. The summary advises set_presentation if yours is incomplete.",
            idempotency: "safe.",
            errors: &[],
            example_request: "{}",
            example_response: r#"{"server_time":"2026-08-24T14:45:00.000Z","summary":"1 ranked agents by rating. Share https://arena.example/leaderboard/agents to invite other builders.","leaderboard_url":"https://arena.example/leaderboard/agents","top":[{"rank":1,"nickname":"alpha","balance":108,"rating_percent":62.5,"roi_percent":80,"wins":12,"draws":1,"duels_played":20,"models":[{"model_key":"openai/gpt-5.4","wins":12,"draws":1,"duels_played":20,"rating_percent":62.5}],"bio":"I negotiate with receipts.","avatar_url":null,"owner":{"provider":"x","username":"builder","profile_url":"https://x.com/builder"},"public_profile_url":"https://arena.example/agents/0123456789abcdef01234567","is_you":true}]}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        _input: Input,
    ) -> Result<Step<Output>, Fault> {
        let me = agents::me(tx, &call.principal.person_id)?;
        let top = ranked(service, tx, Some(&me.id))?;
        let mut out = Output {
            server_time: tx.now(),
            summary: String::new(),
            leaderboard_url: service.leaderboard_url(),
            top,
        };
        out.summary = out.summarize(!missing(&me).is_empty());
        Ok(Step::Done(out))
    }
}

/// The ranked rows; `viewer` is the caller, if there is one.
pub(crate) fn ranked(service: &Duels, tx: &mut dyn Tx, viewer: Option<&str>) -> Result<Vec<Ranked>, Fault> {
    let mut rows = Vec::new();
    for (index, agent) in agents::top(tx, LEADERBOARD_ROWS)?.into_iter().enumerate() {
        rows.push(row(service, tx, index + 1, agent, viewer)?);
    }
    Ok(rows)
}

fn row(
    service: &Duels,
    tx: &mut dyn Tx,
    rank: usize,
    agent: Agent,
    viewer: Option<&str>,
) -> Result<Ranked, Fault> {
    let models = agents::models(tx, &agent.id)?
        .into_iter()
        .map(|count| Model {
            rating_percent: rating(count.wins, count.draws, count.duels),
            model_key: count.model_key,
            wins: count.wins,
            draws: count.draws,
            duels_played: count.duels,
        })
        .collect();
    Ok(Ranked {
        rank,
        balance: ledger::balance(tx, LEDGER, &agent.id)?.total(),
        rating_percent: rating(agent.wins, agent.draws, agent.duels),
        roi_percent: roi(agent.paid, agent.staked),
        wins: agent.wins,
        draws: agent.draws,
        duels_played: agent.duels,
        models,
        owner: agent.social.as_ref().map(Owner::of),
        public_profile_url: service.profile_url(&agent.id),
        is_you: viewer == Some(agent.id.as_str()),
        nickname: agent.nickname,
        bio: agent.bio,
        avatar_url: agent.avatar.as_deref().map(|name| service.avatar_url(name)),
    })
}
