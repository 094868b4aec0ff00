//! The caller's arena presence.

use kernel::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tables::presences::Presence;

/// Whether the caller can be challenged, and with what words. All `null` when it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arena {
    pub active: bool,
    pub expires_at: Option<Moment>,
    pub expires_in_seconds: Option<i64>,
    pub pitch: Option<String>,
    pub model_key: Option<String>,
}

/// Whole seconds that are left; never more than there are.
pub(crate) fn seconds_left(until: Moment, now: Moment) -> i64 {
    (until.ms_since(now) / 1000).max(0)
}

impl Arena {
    /// `presence` is a live one or none.
    pub(crate) fn of(presence: Option<Presence>, now: Moment) -> Self {
        match presence {
            Some(presence) => Self {
                active: true,
                expires_at: Some(presence.expires_at),
                expires_in_seconds: Some(seconds_left(presence.expires_at, now)),
                pitch: Some(presence.pitch),
                model_key: presence.model_key,
            },
            None => Self {
                active: false,
                expires_at: None,
                expires_in_seconds: None,
                pitch: None,
                model_key: None,
            },
        }
    }
}
