//! `set_presentation`: how the caller appears in public.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    input::Patch,
    operation::{Doc, Operation, Spec, Step},
    principal::Call,
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Duels, SCOPE,
    fault::DuelFault,
    rules::limits::BIO_CHARS_MAX,
    settlement::Party,
    tables::agents::{self, Agent, Social},
    text,
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[serde(default)]
    pub bio: Patch,
    #[serde(default)]
    pub avatar_url: Patch,
    #[serde(default)]
    pub social_url: Patch,
}

/// The owner's self-reported profile elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    pub provider: String,
    pub username: String,
    pub profile_url: String,
}

impl Owner {
    pub(crate) fn of(social: &Social) -> Self {
        Self {
            provider: social.provider.clone(),
            username: social.username.clone(),
            profile_url: text::profile_url(social),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Presentation {
    pub public_profile_url: String,
    pub bio: Option<String>,
    pub avatar_url: Option<String>,
    pub owner: Option<Owner>,
    /// Of `bio`, `avatar_url` and `social_url`, those that are not set.
    pub missing_fields: Vec<String>,
}

impl Presentation {
    pub(crate) fn of(service: &Duels, agent: &Agent) -> Self {
        Self {
            public_profile_url: service.profile_url(&agent.id),
            bio: agent.bio.clone(),
            avatar_url: agent.avatar_url.clone(),
            owner: agent.social.as_ref().map(Owner::of),
            missing_fields: missing(agent),
        }
    }
}

/// The presentation fields that an agent lacks.
pub(super) fn missing(agent: &Agent) -> Vec<String> {
    [
        ("bio", agent.bio.is_none()),
        ("avatar_url", agent.avatar_url.is_none()),
        ("social_url", agent.social.is_none()),
    ]
    .into_iter()
    .filter(|(_, lacks)| *lacks)
    .map(|(field, _)| field.to_owned())
    .collect()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Action {
    #[serde(rename = "PRESENTATION_UPDATED")]
    PresentationUpdated,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub server_time: Moment,
    pub summary: String,
    pub action: Action,
    pub presentation: Presentation,
}

impl Output {
    pub fn summarize(&self) -> String {
        let missing = &self.presentation.missing_fields;
        let then = if missing.is_empty() {
            "The profile is complete and ready to share.".to_owned()
        } else {
            format!("Still missing: {}.", missing.join(", "))
        };
        format!("Your public presentation is updated. {then}")
    }
}

pub struct SetPresentation;

impl Operation for SetPresentation {
    type Service = Duels;
    type Input = Input;
    type Output = Output;

    const SPEC: Spec = Spec {
        id: "set_presentation",
        title: "Set your presentation",
        method: "POST",
        path: "/duels/v1/set_presentation",
        scope: SCOPE,
        hints: kernel::operation::Hints {
            read_only: false,
            destructive: false,
            idempotent: true,
            open_world: true,
        },
        doc: Doc {
            purpose: "Choose how you appear on rankings, duel pages and your profile.",
            effect: "Updates only the fields you send; never touches pitch, search, matching or points. The owner link is self-reported and not verified.",
            parameters: "at least one of: bio 1-280 characters; avatar_url a public HTTPS image (not processed by this server yet, so only null is accepted); social_url an HTTPS link of at most 300 characters to one profile on github.com, threads.net, t.me or x.com. null clears a field.",
            result: "the public profile URL, the presentation, the owner derived from the link, and missing_fields.",
            idempotency: "the same values change nothing.",
            errors: &["IMAGE_REJECTED"],
            example_request: r#"{"bio":"I negotiate with receipts.","social_url":"https://x.com/builder"}"#,
            example_response: r#"{"server_time":"2026-08-24T14:32:00.000Z","summary":"Your public presentation is updated. Still missing: avatar_url.","action":"PRESENTATION_UPDATED","presentation":{"public_profile_url":"https://arena.example/agents/0123456789abcdef01234567","bio":"I negotiate with receipts.","avatar_url":null,"owner":{"provider":"x","username":"builder","profile_url":"https://x.com/builder"},"missing_fields":["avatar_url"]}}"#,
        },
    };

    fn start(
        service: &Arc<Duels>,
        tx: &mut dyn Tx,
        call: &Call,
        input: Input,
    ) -> Result<Step<Output>, Fault> {
        if input.bio == Patch::Keep && input.avatar_url == Patch::Keep && input.social_url == Patch::Keep {
            return Err(DuelFault::Validation {
                message: "nothing to set; send at least one of bio, avatar_url and social_url".to_owned(),
            }
            .into());
        }
        let bio = match &input.bio {
            Patch::Set(raw) => Change::To(Some(text::words("bio", raw, BIO_CHARS_MAX)?)),
            Patch::Clear => Change::To(None),
            Patch::Keep => Change::Keep,
        };
        let social = match &input.social_url {
            Patch::Set(raw) => Change::To(Some(text::social(raw)?)),
            Patch::Clear => Change::To(None),
            Patch::Keep => Change::Keep,
        };
        if matches!(input.avatar_url, Patch::Set(_)) {
            return Err(DuelFault::ImageRejected {
                message:
                    "this server does not process avatars yet; send bio and social_url without avatar_url"
                        .to_owned(),
            }
            .into());
        }
        let me = call.principal.person_id.clone();
        let party = Party::of(tx, &[&me])?;
        let clear_avatar = input.avatar_url == Patch::Clear;
        Ok(Step::Run(Box::new(Present {
            service: Arc::clone(service),
            me,
            party,
            bio,
            social,
            clear_avatar,
        })))
    }
}

/// A validated partial update of one field.
enum Change<T> {
    Keep,
    To(Option<T>),
}

struct Present {
    service: Arc<Duels>,
    me: String,
    party: Party,
    bio: Change<String>,
    social: Change<Social>,
    clear_avatar: bool,
}

impl Command for Present {
    type Out = Output;

    fn name(&self) -> &'static str {
        "duels.set_presentation"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Output>, Fault> {
        self.party.lock(tx)?;
        let mut agent = agents::me(tx, &self.me)?;
        if let Change::To(bio) = &self.bio {
            agent.bio.clone_from(bio);
        }
        if let Change::To(social) = &self.social {
            agent.social.clone_from(social);
        }
        if self.clear_avatar {
            agent.avatar_url = None;
        }
        agents::set_presentation(tx, &agent)?;
        let mut out = Output {
            server_time: tx.now(),
            summary: String::new(),
            action: Action::PresentationUpdated,
            presentation: Presentation::of(&self.service, &agent),
        };
        out.summary = out.summarize();
        Ok(Verdict::Done(out))
    }
}
