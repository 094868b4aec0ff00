//! Other issuers as the doors ask them: the client of each with its button, and its refusals as faults.

use std::sync::Arc;

use doors::auth::{CameBack, FlowSecrets, Pending, Upstream, Vouched};
use identity::logins::Account;
use kernel::{
    Fault, Kind, Moment,
    time::{Clock, SystemClock},
};
use upstream::{Profile, UpstreamError};
use url::Url;

use crate::{
    config::sign_in::{Issuer, SignIn},
    failure::Failure,
};

struct Client {
    upstream: upstream::Upstream,
    title: String,
}

/// The issuers that the configuration names, each with its callback under the public address.
pub(super) fn open(config: &SignIn, public_url: &Url) -> Result<Vec<Arc<dyn Upstream>>, Failure> {
    let base = public_url.as_str().trim_end_matches('/');
    config
        .issuers()?
        .into_iter()
        .map(|Issuer { provider, title }| {
            let id = provider.id();
            let callback = format!("{base}/oauth/callback/{id}");
            let upstream = upstream::Upstream::new(provider, &callback).map_err(|error| {
                Failure::usage(format!("sign-in with {title} cannot be set up: {error}")).hint(format!(
                    "see the keys of sign_in in `arena config show`; the callback is {callback}"
                ))
            })?;
            Ok(Arc::new(Client { upstream, title }) as Arc<dyn Upstream>)
        })
        .collect()
}

impl Upstream for Client {
    fn provider(&self) -> &str {
        self.upstream.provider()
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn start<'a>(&'a self, secrets: &'a FlowSecrets) -> Pending<'a, Url> {
        Box::pin(async move {
            let started = self.upstream.start(&theirs(secrets), now()).await;
            started.map_err(|error| self.fault(error))
        })
    }

    fn finish<'a>(&'a self, back: &'a CameBack, secrets: &'a FlowSecrets) -> Pending<'a, Vouched> {
        Box::pin(async move {
            let iss = back.iss.as_deref();
            let came = self.upstream.finish(&back.code, iss, &theirs(secrets), now()).await;
            came.map(vouched).map_err(|error| self.fault(error))
        })
    }

    fn refusal(&self, code: &str) -> Fault {
        self.fault(UpstreamError::of_code(code))
    }
}

impl Client {
    /// The words are for the person; what the operator can do something about is logged.
    fn fault(&self, error: UpstreamError) -> Fault {
        let kind = kind(error);
        if kind == Kind::Unavailable {
            tracing::warn!(provider = self.provider(), %error, "a sign-in elsewhere failed");
        } else {
            tracing::info!(provider = self.provider(), %error, "a sign-in elsewhere was refused");
        }
        Fault::of(kind, error.to_string())
    }
}

/// Whose turn it is: the person's, or that of the other service and the operator.
const fn kind(error: UpstreamError) -> Kind {
    match error {
        UpstreamError::Refused | UpstreamError::UnverifiedEmail => Kind::Forbidden,
        UpstreamError::CodeSpent
        | UpstreamError::BadSecrets
        | UpstreamError::ForeignAnswer
        | UpstreamError::WrongIssuer
        | UpstreamError::WrongAudience
        | UpstreamError::WrongParty
        | UpstreamError::Expired
        | UpstreamError::WrongNonce
        | UpstreamError::BadSignature => Kind::Invalid,
        UpstreamError::Busy
        | UpstreamError::Unreachable(_)
        | UpstreamError::TooSlow(_)
        | UpstreamError::Status(..)
        | UpstreamError::Redirect(_)
        | UpstreamError::TooLarge(_)
        | UpstreamError::Nonsense(_)
        | UpstreamError::Insecure(_)
        | UpstreamError::ForeignDiscovery
        | UpstreamError::InvalidClient
        | UpstreamError::UnknownCallback
        | UpstreamError::RequestRefused
        | UpstreamError::ClockSkew
        | UpstreamError::ForbiddenAlgorithm
        | UpstreamError::UnknownKey => Kind::Unavailable,
    }
}

fn theirs(secrets: &FlowSecrets) -> upstream::FlowSecrets {
    upstream::FlowSecrets {
        state: secrets.state.clone(),
        nonce: secrets.nonce.clone(),
        verifier: secrets.verifier.clone(),
    }
}

/// Other issuers live in real time.
fn now() -> Moment {
    Moment::from_millis(SystemClock.real_ms())
}

/// What a person recognises an account by: the name there, an address that is surely theirs, their name.
fn vouched(profile: Profile) -> Vouched {
    let Profile { provider, subject, login, email, email_verified, display_name } = profile;
    let address = email.filter(|_| email_verified);
    let suggested = login.clone().or_else(|| {
        address.as_deref().and_then(|address| address.split_once('@')).map(|(local, _)| local.to_owned())
    });
    let label = login.or(address).or(display_name).unwrap_or_else(|| subject.clone());
    Vouched { account: Account { provider, subject, label }, login: suggested }
}
