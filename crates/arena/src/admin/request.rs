//! What an administrator can ask and be answered: the words on the admin socket.

use kernel::{Fault, Kind, Moment};
use serde::{Deserialize, Serialize};

use crate::{doctor::check::Check, exit::ExitCode, failure::Failure};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum AdminRequest {
    UserCreate {
        nickname: String,
        scopes: Vec<String>,
        expires_in_days: Option<i64>,
    },
    UserList,
    KeyCreate {
        nickname: String,
        scopes: Vec<String>,
        expires_in_days: Option<i64>,
    },
    KeyList {
        nickname: String,
    },
    KeyRevoke {
        nickname: String,
        key: String,
    },
    /// Shuts a person out, or lets it in again.
    UserSwitch {
        nickname: String,
        disabled: bool,
    },
    /// Ends all keys, sessions and grants of a person.
    UserSignOut {
        nickname: String,
    },
    /// A link that lets a person in once.
    UserLink {
        nickname: String,
    },
    Audit {
        before: Option<String>,
        limit: i64,
    },
    /// The checks of `arena doctor` that need the store.
    Check,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", content = "with", rename_all = "snake_case")]
pub(crate) enum AdminResponse {
    UserCreated(CreatedUser),
    Users(Vec<User>),
    KeyCreated(CreatedKey),
    Keys(Vec<Key>),
    KeyRevoked(Key),
    UserSwitched(User),
    UserSignedOut(SignedOut),
    UserLinked(EntryLink),
    Audited(Vec<AuditEntry>),
    Checks(Examined),
    Refused(Refusal),
}

/// What `arena admin user create --json` prints. The key is shown here and never again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedUser {
    pub(crate) user_id: String,
    pub(crate) nickname: String,
    pub(crate) api_key: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) expires_at: Option<Moment>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct User {
    #[serde(rename = "userId")]
    pub(crate) id: String,
    pub(crate) nickname: String,
    pub(crate) created_at: Moment,
    pub(crate) disabled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedKey {
    pub(crate) key_id: String,
    pub(crate) nickname: String,
    pub(crate) api_key: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) expires_at: Option<Moment>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Key {
    #[serde(rename = "keyId")]
    pub(crate) id: String,
    /// How the key begins.
    pub(crate) prefix: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) created_at: Moment,
    pub(crate) expires_at: Option<Moment>,
    pub(crate) revoked_at: Option<Moment>,
    /// `active`, `expired` or `revoked`.
    pub(crate) status: String,
}

/// What was ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignedOut {
    pub(crate) nickname: String,
    pub(crate) keys: u64,
    pub(crate) sessions: u64,
    /// Programs that were let in by signing in.
    pub(crate) grants: u64,
}

/// A link that lets a person in once. It is shown here and never again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryLink {
    pub(crate) nickname: String,
    pub(crate) url: String,
    pub(crate) expires_at: Moment,
}

/// One privileged act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditEntry {
    pub(crate) id: String,
    pub(crate) at: Moment,
    pub(crate) actor: String,
    pub(crate) act: String,
    pub(crate) subject: String,
    pub(crate) detail: String,
}

/// What the checks of the store found, and who made them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Examined {
    pub(crate) checks: Vec<Check>,
    /// Where the server listens that made them; `None` when no server did.
    pub(crate) server: Option<String>,
}

/// A fault as far as the caller may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) message: String,
}

/// Who has to change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefusalKind {
    Refused,
    Unavailable,
    Internal,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        if let Some(context) = fault.context() {
            tracing::error!(context, "an admin command failed");
        }
        let kind = match fault.kind {
            Kind::Unavailable => RefusalKind::Unavailable,
            Kind::Internal => RefusalKind::Internal,
            Kind::Invalid
            | Kind::Unauthenticated
            | Kind::Forbidden
            | Kind::Foreign
            | Kind::NotFound
            | Kind::MethodNotAllowed
            | Kind::Conflict
            | Kind::TooLarge
            | Kind::UnsupportedMedia
            | Kind::RateLimited => RefusalKind::Refused,
        };
        Self { kind, message: fault.message }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal.kind {
            RefusalKind::Refused => Self::new(ExitCode::Refused, refusal.message),
            RefusalKind::Unavailable => Self::new(ExitCode::Network, refusal.message)
                .hint("run `arena doctor` to see which part is down"),
            RefusalKind::Internal => {
                Self::failed(refusal.message).hint("run `arena doctor` and look at the log for the cause")
            }
        }
    }
}
