//! One thing that was looked at.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Holds,
    Fails,
    /// There was nothing to look at, for example no server that runs.
    Skipped,
}

impl Outcome {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Holds => "✓ holds",
            Self::Fails => "✗ FAILS",
            Self::Skipped => "- skipped",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// What was found.
    pub(crate) detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

impl Check {
    pub(crate) fn holds(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), outcome: Outcome::Holds, detail: detail.into(), hint: None }
    }

    pub(crate) fn skipped(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), outcome: Outcome::Skipped, detail: detail.into(), hint: None }
    }

    pub(crate) fn fails(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            outcome: Outcome::Fails,
            detail: detail.into(),
            hint: Some(hint.into()),
        }
    }
}
