//! Whom people may sign in with, as the operator's settings say it. Nothing is asked of anybody here.

use std::fmt;

use url::Url;

use crate::http::is_safe;

pub const GOOGLE_ISSUER: &str = "https://accounts.google.com";
pub const APPLE_ISSUER: &str = "https://appleid.apple.com";
pub const GITHUB_BASE: &str = "https://github.com";
pub const GITHUB_API: &str = "https://api.github.com";

/// The longest name of an issuer, which is a part of addresses and of what is stored.
const NAME_CHARS_MAX: usize = 30;

/// A secret of ours at a provider. It is sent, and never printed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// A provider and what this server is there. Addresses are https, or loopback for tests and development.
#[derive(Debug, Clone)]
pub enum Provider {
    Google {
        client_id: String,
        client_secret: Secret,
        /// [`GOOGLE_ISSUER`] but in tests.
        issuer: String,
    },
    Apple {
        client_id: String,
        team_id: String,
        key_id: String,
        /// The key of Apple's `.p8` file: PKCS #8 in PEM, of the curve P-256.
        private_key_pem: Secret,
        /// [`APPLE_ISSUER`] but in tests.
        issuer: String,
    },
    Github {
        client_id: String,
        client_secret: Secret,
        /// [`GITHUB_BASE`], or the address of an enterprise's own.
        base: String,
        /// [`GITHUB_API`], or `/api/v3` under the address of an enterprise's own.
        api: String,
    },
    Oidc {
        /// What the operator calls it: 1 to 30 of `a-z`, `0-9` and `-`.
        name: String,
        /// Exactly what the issuer calls itself.
        issuer: String,
        client_id: String,
        client_secret: Secret,
    },
}

/// Why a provider cannot be used at all, for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("the client id, or the secret or key that belongs to it, is empty; copy it from the provider")]
    Empty,
    #[error("the name is not 1 to {NAME_CHARS_MAX} of a-z, 0-9 and -; choose another")]
    Name,
    #[error(
        "the provider's address is not https without user, query and fragment; copy it from the provider"
    )]
    Address,
    #[error(
        "the callback address is not https without user and fragment; set the public address of this server"
    )]
    Callback,
    #[error("the private key is not a P-256 key as PKCS #8 in PEM; give the content of the .p8 file")]
    Key,
    #[error("TLS cannot be set up on this machine")]
    Tls,
}

impl Provider {
    /// `google`, `github`, `apple`, or `oidc:` and a name.
    pub fn id(&self) -> String {
        match self {
            Self::Google { .. } => "google".to_owned(),
            Self::Apple { .. } => "apple".to_owned(),
            Self::Github { .. } => "github".to_owned(),
            Self::Oidc { name, .. } => format!("oidc:{name}"),
        }
    }

    pub(crate) fn check(&self) -> Result<(), SetupError> {
        let (filled, addresses): (&[&str], &[&str]) = match self {
            Self::Google { client_id, client_secret, issuer } => {
                (&[client_id, client_secret.reveal()], &[issuer])
            }
            Self::Apple { client_id, team_id, key_id, private_key_pem, issuer } => {
                (&[client_id, team_id, key_id, private_key_pem.reveal()], &[issuer])
            }
            Self::Github { client_id, client_secret, base, api } => {
                (&[client_id, client_secret.reveal()], &[base, api])
            }
            Self::Oidc { name, issuer, client_id, client_secret } => {
                let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
                if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.bytes().all(plain) {
                    return Err(SetupError::Name);
                }
                (&[client_id, client_secret.reveal()], &[issuer])
            }
        };
        if filled.iter().any(|text| text.trim().is_empty()) {
            return Err(SetupError::Empty);
        }
        let safe = |address: &&str| {
            Url::parse(address)
                .is_ok_and(|url| is_safe(&url) && url.query().is_none() && url.fragment().is_none())
        };
        if addresses.iter().all(safe) { Ok(()) } else { Err(SetupError::Address) }
    }
}

/// A path under an address that may end with a slash.
pub(crate) fn under(base: &str, path: &str) -> String {
    format!("{}/{path}", base.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oidc(name: &str, issuer: &str, client_id: &str) -> Provider {
        Provider::Oidc {
            name: name.to_owned(),
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            client_secret: Secret::new("s3cret"),
        }
    }

    #[test]
    fn settings_that_cannot_work_are_told() {
        let fine = "https://id.example/realms/a";
        for (provider, found) in [
            (oidc("house", fine, "arena"), Ok(())),
            (oidc("house", "http://127.0.0.1:9", "arena"), Ok(())),
            (oidc("house", "http://[::1]:9", "arena"), Ok(())),
            (oidc("house", "http://localhost", "arena"), Ok(())),
            (oidc("House", fine, "arena"), Err(SetupError::Name)),
            (oidc("", fine, "arena"), Err(SetupError::Name)),
            (oidc(&"a".repeat(31), fine, "arena"), Err(SetupError::Name)),
            (oidc("house", fine, " "), Err(SetupError::Empty)),
            (oidc("house", "http://id.example", "arena"), Err(SetupError::Address)),
            (oidc("house", "https://user@id.example", "arena"), Err(SetupError::Address)),
            (oidc("house", "https://id.example?x=1", "arena"), Err(SetupError::Address)),
            (oidc("house", "id.example", "arena"), Err(SetupError::Address)),
            (oidc("house", "http://localhost.example", "arena"), Err(SetupError::Address)),
        ] {
            assert_eq!(provider.check(), found, "{provider:?}");
        }
    }
}
