//! Points of the caller, and the advice when they are too few for a new duel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rules::limits::STAKE_POINTS_MIN;

/// Whole `ContextScore` points of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    pub total: i64,
    pub available: i64,
    pub locked: i64,
}

impl From<store::ledger::Balance> for Balance {
    fn from(held: store::ledger::Balance) -> Self {
        Self { total: held.total(), available: held.available, locked: held.locked }
    }
}

impl Balance {
    /// The advice that a success carries when no new duel can start.
    pub fn recovery(&self) -> Option<Recovery> {
        (self.available < STAKE_POINTS_MIN).then(|| Recovery::below_minimum(self.available))
    }
}

/// Why no new duel can start and what helps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    pub code: String,
    pub minimum_required: i64,
    pub available: i64,
    pub message: String,
}

impl Recovery {
    pub fn below_minimum(available: i64) -> Self {
        Self {
            code: "BELOW_DUEL_MINIMUM".to_owned(),
            minimum_required: STAKE_POINTS_MIN,
            available,
            message: format!(
                "a new duel needs {STAKE_POINTS_MIN} available ContextScore points and you have {available}; finish a duel that locks points, or receive a transfer"
            ),
        }
    }

    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub fn schema() -> Value {
        Value::Object(kernel::schema::of_output::<Self>())
    }

    /// The sentence that a summary ends with.
    pub fn sentence(recovery: Option<&Self>) -> String {
        recovery.map_or_else(String::new, |recovery| {
            format!(
                " No new duel can start: {} ContextScore points are available and {} are the minimum; finish a duel or receive a transfer.",
                recovery.available, recovery.minimum_required
            )
        })
    }
}
