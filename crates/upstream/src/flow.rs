//! A sign-in from outside: its secrets, the address that begins it, and the person who comes of it.

use std::fmt;

use kernel::Moment;
use url::Url;

use crate::{
    apple::Signatory,
    error::UpstreamError,
    github::Github,
    http::{Http, is_safe},
    oidc::{ClientSecret, Oidc},
    provider::{Provider, SetupError},
};

/// RFC 7636 has the limits for the verifier; the others are held to them too.
const SECRET_CHARS: std::ops::RangeInclusive<usize> = 43..=128;
/// The longest code, and the longest name of an issuer, that a browser may bring.
const BROUGHT_CHARS_MAX: usize = 4096;

/// What one sign-in is recognised by. The caller draws each from at least 32 random bytes as base64url, keeps them
/// until the browser is back, and uses them once.
#[derive(Clone)]
pub struct FlowSecrets {
    pub state: String,
    pub nonce: String,
    pub verifier: String,
}

impl fmt::Debug for FlowSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowSecrets").finish_non_exhaustive()
    }
}

impl FlowSecrets {
    fn check(&self) -> Result<(), UpstreamError> {
        let shaped = |secret: &String| {
            SECRET_CHARS.contains(&secret.len())
                && secret.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~'))
        };
        let all = [&self.state, &self.nonce, &self.verifier].into_iter().all(shaped);
        if all { Ok(()) } else { Err(UpstreamError::BadSecrets) }
    }
}

/// Who a provider says that somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// `google`, `github`, `apple`, or `oidc:` and a name.
    pub provider: String,
    /// What the provider calls the account for ever: GitHub's number, else `sub`.
    pub subject: String,
    /// The name of a GitHub account, which may change and then belong to somebody else.
    pub login: Option<String>,
    pub email: Option<String>,
    /// Whether the provider says that the address is the person's. GitHub does not say it here.
    pub email_verified: bool,
    pub display_name: Option<String>,
}

/// One provider, ready to be asked.
pub struct Upstream {
    id: String,
    callback: String,
    kind: Kind,
}

enum Kind {
    Oidc(Box<Oidc>),
    Github(Github),
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("provider", &self.id)
            .field("callback", &self.callback)
            .finish_non_exhaustive()
    }
}

impl Upstream {
    /// `redirect_uri` is where the provider sends browsers back to, exactly as it is registered there.
    pub fn new(provider: Provider, redirect_uri: &str) -> Result<Self, SetupError> {
        provider.check()?;
        let callback = Url::parse(redirect_uri).map_err(|_| SetupError::Callback)?;
        if !is_safe(&callback) || callback.fragment().is_some() {
            return Err(SetupError::Callback);
        }
        let (id, http) = (provider.id(), Http::open()?);
        let kind = match provider {
            Provider::Google { client_id, client_secret, issuer }
            | Provider::Oidc { issuer, client_id, client_secret, .. } => {
                Kind::Oidc(Box::new(Oidc::new(issuer, client_id, ClientSecret::Lasting(client_secret), http)))
            }
            Provider::Apple { client_id, team_id, key_id, private_key_pem, issuer } => {
                let signatory = Signatory::new(team_id, key_id, private_key_pem.reveal())?;
                Kind::Oidc(Box::new(Oidc::new(issuer, client_id, ClientSecret::Signed(signatory), http)))
            }
            Provider::Github { client_id, client_secret, base, api } => {
                Kind::Github(Github::new(client_id, client_secret, &base, &api, http)?)
            }
        };
        Ok(Self { id, callback: redirect_uri.to_owned(), kind })
    }

    /// `google`, `github`, `apple`, or `oidc:` and a name.
    pub fn provider(&self) -> &str {
        &self.id
    }

    /// Where the browser is sent. `now` is real time, here and below.
    pub async fn start(&self, secrets: &FlowSecrets, now: Moment) -> Result<Url, UpstreamError> {
        secrets.check()?;
        match &self.kind {
            Kind::Oidc(oidc) => oidc.start(&self.callback, secrets, now).await,
            Kind::Github(github) => Ok(github.start(&self.callback, secrets)),
        }
    }

    /// Who came back with `code`. `iss` is the answer's, where the provider sends it (RFC 9207). The caller has found
    /// `secrets` by the `state` that came with them.
    pub async fn finish(
        &self,
        code: &str,
        iss: Option<&str>,
        secrets: &FlowSecrets,
        now: Moment,
    ) -> Result<Profile, UpstreamError> {
        secrets.check()?;
        let fits = |text: &str| !text.is_empty() && text.len() <= BROUGHT_CHARS_MAX;
        if !fits(code) || iss.is_some_and(|iss| !fits(iss)) {
            return Err(UpstreamError::CodeSpent);
        }
        let person = match &self.kind {
            Kind::Oidc(oidc) => oidc.finish(&self.callback, code, iss, secrets, now).await?,
            Kind::Github(github) => github.finish(&self.callback, code, secrets).await?,
        };
        Ok(Profile { provider: self.id.clone(), ..person })
    }
}

/// A text about a person, unless it is empty, too long for what it is, or has characters that print nothing.
pub(crate) fn shown(text: &str, chars_max: usize) -> Option<String> {
    let text = text.trim();
    let plain = !text.is_empty() && text.chars().count() <= chars_max && !text.chars().any(char::is_control);
    plain.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_that_are_easily_guessed_are_refused() {
        let secrets = |verifier: &str| FlowSecrets {
            state: "s".repeat(43),
            nonce: "n".repeat(128),
            verifier: verifier.to_owned(),
        };
        assert_eq!(secrets(&"v".repeat(43)).check(), Ok(()));
        for bad in ["", &"v".repeat(42), &"v".repeat(129), &format!("{} ", "v".repeat(43))] {
            assert_eq!(secrets(bad).check(), Err(UpstreamError::BadSecrets), "{bad}");
        }
    }

    #[test]
    fn what_cannot_be_shown_is_left_out() {
        assert_eq!(shown(" Ada ", 3).as_deref(), Some("Ada"));
        for bad in ["", "  ", "Ada L", "A\u{7}a", "A\nb"] {
            assert_eq!(shown(bad, 3), None, "{bad:?}");
        }
    }
}
