//! Who calls, and what travels with a call beside its input.

/// The caller, once the credential has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// 24 hex characters.
    pub person_id: String,
    pub nickname: String,
    /// What the credential may do, for example `duels:play`.
    pub scopes: Vec<String>,
    /// How the person proved who they are: `key`, `google`, `github`, `local`.
    pub provider: String,
    /// Every provider linked to the person, in ascending order.
    pub linked_providers: Vec<String>,
    /// The one address that an access token is for; keys are for all.
    pub resource: Option<String>,
    /// The id of a key that calls for the first time.
    pub new_key: Option<String>,
}

impl Principal {
    pub fn may(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}

/// One call of one operation. What is not input travels here, never in the input struct.
#[derive(Debug, Clone)]
pub struct Call {
    pub principal: Principal,
    /// Printed in the answer and in every log line of the call.
    pub request_id: String,
}
