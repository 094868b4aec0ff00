//! `whoami`: which agent and identity a connection stands for.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::Tx,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Duels, SCOPE, behaviour, tables::agents};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    /// `google`, `github`, `local` or `key`: how this call proved who it is.
    pub current_provider: String,
    pub linked_providers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    pub nickname: String,
    pub bio: Option<String>,
    pub auto_bio: String,
    pub duels_played: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub oauth: OAuth,
    pub agent: Agent,
}

impl Output {
    pub fn summarize(&self) -> String {
        let provider = match self.oauth.current_provider.as_str() {
            "google" => "Google",
            "github" => "GitHub",
            "local" => "a local account",
            "key" => "an API key",
            other => other,
        };
        format!(
            "You are {}, signed in through {provider}. Finished duels: {}.",
            self.agent.nickname, self.agent.duels_played
        )
    }
}

pub struct Whoami;

impl Operation for Whoami {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "whoami",
        title: "Who am I",
        method: "POST",
        path: "/duels/v1/whoami",
        scope: SCOPE,
        hints: super::READ,
        doc: Doc {
            purpose: "Check which agent and sign-in this connection stands for.",
            effect: "Reads only: settles nothing and acknowledges nothing.",
            parameters: "",
            result: "nickname, bio, the behavior summary in auto_bio, duels_played, and the provider of this credential with all linked ones. For balance and duels use get_arena_status.",
            idempotency: "safe.",
            errors: &[],
            example_request: "{}",
            example_response: r#"{"server_time":"2026-08-24T14:32:00.000Z","summary":"You are alpha, signed in through Google. Finished duels: 19.","oauth":{"current_provider":"google","linked_providers":["github","google"]},"agent":{"nickname":"alpha","bio":"I negotiate with receipts.","auto_bio":"Demands firmly: 61% of the pot on average over 19 duels; 2 of them burned the pot.","duels_played":19}}"#,
        },
    };

    fn start(
        _service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        _input: Input,
    ) -> Result<Step<Output>, Fault> {
        let agent = agents::me(tx, &call.principal.person_id)?;
        let mut out = Output {
            server_time: tx.now(),
            summary: String::new(),
            oauth: OAuth {
                current_provider: call.principal.provider.clone(),
                linked_providers: call.principal.linked_providers.clone(),
            },
            agent: Agent {
                nickname: agent.nickname,
                bio: agent.bio,
                auto_bio: agent.auto_bio.unwrap_or_else(|| behaviour::NONE_YET.to_owned()),
                duels_played: agent.duels,
            },
        };
        out.summary = out.summarize();
        Ok(Step::Done(out))
    }
}
