//! `set_presentation`: how the caller appears in public.

use std::sync::Arc;

use kernel::{
    Fault, Moment,
    input::Patch,
    operation::{Doc, First, Operation, Spec, Step, Then, Waiting},
    principal::Call,
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Duels, SCOPE, avatars,
    fault::DuelFault,
    rules::limits::BIO_CHARS_MAX,
    settlement::Party,
    tables::{
        self,
        agents::{self, Agent, Social},
    },
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
            avatar_url: agent.avatar.as_deref().map(|name| service.avatar_url(name)),
            owner: agent.social.as_ref().map(Owner::of),
            missing_fields: missing(agent),
        }
    }
}

/// The presentation fields that an agent lacks.
pub(super) fn missing(agent: &Agent) -> Vec<String> {
    [
        ("bio", agent.bio.is_none()),
        ("avatar_url", agent.avatar.is_none()),
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
            // The same avatar_url makes a new image at a new address.
            idempotent: false,
            open_world: true,
        },
        doc: Doc {
            purpose: "Choose how you appear on rankings, duel pages and your profile.",
            effect: "Updates only the fields you send; never touches pitch, search, matching or points. The owner link is self-reported and not verified.",
            parameters: "at least one of: bio 1-280 characters; avatar_url a public HTTPS image (AVIF, WebP, PNG or JPEG, at most 5 MiB and 16,777,216 pixels, no redirect), which is fetched once, cut square and kept as 256 x 256; social_url an HTTPS link of at most 300 characters to one profile on github.com, threads.net, t.me or x.com. null clears a field.",
            result: "the public profile URL, the presentation, the owner derived from the link, and missing_fields.",
            idempotency: "the same bio and social_url change nothing; the same avatar_url is fetched again and kept at a new address.",
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
        let me = call.principal.person_id.clone();
        let party = Party::of(tx, &[&me])?;
        let mut present =
            Present { service: Arc::clone(service), me, party, bio, social, avatar: Change::Keep };
        let url = match input.avatar_url {
            Patch::Set(url) => url,
            Patch::Clear => {
                present.avatar = Change::To(None);
                return Ok(Step::Run(Box::new(present)));
            }
            Patch::Keep => return Ok(Step::Run(Box::new(present))),
        };
        let Some(images) = service.outside().avatars.clone() else {
            return Err(DuelFault::ImageRejected {
                message: "this server keeps no avatars; send bio and social_url without avatar_url"
                    .to_owned(),
            }
            .into());
        };
        let name = avatars::name(&**service.ids());
        let first = Box::new(Note { name: name.clone(), agent: present.me.clone() });
        let work = async move {
            let image = images.make(&url).await?;
            images.put(&name, image).await?;
            present.avatar = Change::To(Some(name));
            let next: Then<Output> = Box::new(move |_| Ok(Step::Run(Box::new(present))));
            Ok(next)
        };
        Ok(Step::Wait(Waiting { first: Some(First::Note(first)), work: Box::pin(work) }))
    }
}

/// Notes the image that is about to be made, so that it is removed if this call does not end well.
struct Note {
    name: String,
    agent: String,
}

impl Command for Note {
    type Out = ();

    fn name(&self) -> &'static str {
        "duels.note_avatar"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        tables::avatars::note(tx, &self.name, &self.agent).map(Verdict::Done)
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
    /// The name of an image that is kept.
    avatar: Change<String>,
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
            agents::choose_social(tx, &self.me)?;
        }
        if let Change::To(avatar) = &self.avatar {
            tables::avatars::doom_live(tx, &self.me)?;
            if let Some(name) = avatar
                && !tables::avatars::raise(tx, name, &self.me)?
            {
                return Err(Fault::unavailable("the image took too long and is being removed"));
            }
            agent.avatar.clone_from(avatar);
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
