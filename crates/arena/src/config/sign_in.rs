//! How people sign in, as the operator sets it: with a nickname here, or at other issuers.

use serde::Deserialize;
use upstream::{Provider, Secret};

use super::model::Switch;
use crate::failure::Failure;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    local: Local,
    pub(crate) open: Switch,
    #[serde(default)]
    google_client_id: Option<String>,
    #[serde(default)]
    google_client_secret: Option<String>,
    google_issuer: String,
    #[serde(default)]
    github_client_id: Option<String>,
    #[serde(default)]
    github_client_secret: Option<String>,
    github_url: String,
    github_api_url: String,
    #[serde(default)]
    apple_client_id: Option<String>,
    #[serde(default)]
    apple_team_id: Option<String>,
    #[serde(default)]
    apple_key_id: Option<String>,
    #[serde(default)]
    apple_private_key: Option<String>,
    #[serde(default)]
    oidc_client_id: Option<String>,
    #[serde(default)]
    oidc_client_secret: Option<String>,
    #[serde(default)]
    oidc_issuer: Option<String>,
    oidc_name: String,
    #[serde(default)]
    oidc_title: Option<String>,
}

/// Whether people may have a password or a passkey here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Local {
    /// When there is no other way in.
    Auto,
    On,
    Off,
}

/// Another issuer, and what its button is called.
#[derive(Debug, Clone)]
pub(crate) struct Issuer {
    pub(crate) provider: Provider,
    pub(crate) title: String,
}

impl SignIn {
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.issuers().map(|_| ())
    }

    pub(crate) fn is_local(&self) -> Result<bool, Failure> {
        Ok(match self.local {
            Local::On => true,
            Local::Off => false,
            Local::Auto => self.issuers()?.is_empty(),
        })
    }

    /// The other issuers, in the order of their buttons.
    pub(crate) fn issuers(&self) -> Result<Vec<Issuer>, Failure> {
        let mut issuers = Vec::new();
        if let Some([client_id, secret]) = all([
            ("google_client_id", &self.google_client_id),
            ("google_client_secret", &self.google_client_secret),
        ])? {
            let issuer = self.google_issuer.clone();
            let provider = Provider::Google { client_id, client_secret: Secret::new(secret), issuer };
            issuers.push(Issuer { provider, title: "Google".to_owned() });
        }
        if let Some([client_id, secret]) = all([
            ("github_client_id", &self.github_client_id),
            ("github_client_secret", &self.github_client_secret),
        ])? {
            let (base, api) = (self.github_url.clone(), self.github_api_url.clone());
            let provider = Provider::Github { client_id, client_secret: Secret::new(secret), base, api };
            issuers.push(Issuer { provider, title: "GitHub".to_owned() });
        }
        if let Some([client_id, team_id, key_id, key]) = all([
            ("apple_client_id", &self.apple_client_id),
            ("apple_team_id", &self.apple_team_id),
            ("apple_key_id", &self.apple_key_id),
            ("apple_private_key", &self.apple_private_key),
        ])? {
            let issuer = upstream::APPLE_ISSUER.to_owned();
            let private_key_pem = Secret::new(key);
            let provider = Provider::Apple { client_id, team_id, key_id, private_key_pem, issuer };
            issuers.push(Issuer { provider, title: "Apple".to_owned() });
        }
        if let Some([client_id, secret, issuer]) = all([
            ("oidc_client_id", &self.oidc_client_id),
            ("oidc_client_secret", &self.oidc_client_secret),
            ("oidc_issuer", &self.oidc_issuer),
        ])? {
            let name = self.oidc_name.clone();
            let title = self.oidc_title.clone().unwrap_or_else(|| name.clone());
            let provider = Provider::Oidc { name, issuer, client_id, client_secret: Secret::new(secret) };
            issuers.push(Issuer { provider, title });
        }
        Ok(issuers)
    }
}

/// The values of keys that are set together: all of them, or `None` when none is.
fn all<const N: usize>(keys: [(&str, &Option<String>); N]) -> Result<Option<[String; N]>, Failure> {
    if keys.iter().all(|(_, value)| value.is_none()) {
        return Ok(None);
    }
    let missing: Vec<String> =
        keys.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| format!("sign_in.{key}")).collect();
    if !missing.is_empty() {
        let given: Vec<String> = keys
            .iter()
            .filter(|(_, value)| value.is_some())
            .map(|(key, _)| format!("sign_in.{key}"))
            .collect();
        return Err(Failure::usage(format!(
            "{} is set without {}",
            given.join(" and "),
            missing.join(" and ")
        ))
        .hint("set all of them, as the other service shows them, or none"));
    }
    Ok(Some(keys.map(|(_, value)| value.clone().unwrap_or_default())))
}
