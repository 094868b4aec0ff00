//! What is measured, by name.

mod avatar;
mod duels;
mod matching;
mod pages;
mod peers;
mod run;
mod search;
mod start;
mod whoami;

use serde::Serialize;

use crate::{Effort, harness::Outcome};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Whoami,
    Duels,
    Start,
    Search,
    Run,
    Avatar,
    Pages,
    Matching,
}

impl Name {
    pub(crate) const ALL: [Self; 8] = [
        Self::Whoami,
        Self::Duels,
        Self::Start,
        Self::Search,
        Self::Run,
        Self::Avatar,
        Self::Pages,
        Self::Matching,
    ];

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Whoami => "whoami",
            Self::Duels => "duels",
            Self::Start => "start",
            Self::Search => "search",
            Self::Run => "run",
            Self::Avatar => "avatar",
            Self::Pages => "pages",
            Self::Matching => "matching",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Pass,
    Miss,
    /// No target.
    Reported,
    /// What it needs is not on this machine.
    Absent,
}

/// One line of the table.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) part: &'static str,
    pub(crate) what: String,
    pub(crate) value: String,
    /// The same as a number, in the unit that `value` names.
    pub(crate) number: f64,
    pub(crate) spread: String,
    pub(crate) target: Option<String>,
    pub(crate) verdict: Verdict,
}

impl Row {
    pub(crate) fn reported(part: Name, what: &str, number: f64, value: String, spread: String) -> Self {
        let (part, what) = (part.as_str(), what.to_owned());
        Self { part, what, value, number, spread, target: None, verdict: Verdict::Reported }
    }

    pub(crate) fn absent(part: Name, what: &str) -> Self {
        let (part, what, value) = (part.as_str(), what.to_owned(), "not installed".to_owned());
        Self { part, what, value, number: 0.0, spread: String::new(), target: None, verdict: Verdict::Absent }
    }

    #[must_use]
    pub(crate) fn at_most(mut self, limit: f64, target: &str) -> Self {
        self.verdict = if self.number <= limit { Verdict::Pass } else { Verdict::Miss };
        self.target = Some(format!("≤ {target}"));
        self
    }

    #[must_use]
    pub(crate) fn at_least(mut self, limit: f64, target: &str) -> Self {
        self.verdict = if self.number >= limit { Verdict::Pass } else { Verdict::Miss };
        self.target = Some(format!("≥ {target}"));
        self
    }
}

pub(crate) fn measure(name: Name, effort: Effort) -> Outcome<Vec<Row>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match name {
            Name::Whoami => whoami::measure(effort).await,
            Name::Duels => duels::measure(effort).await,
            Name::Start => start::measure(effort).await,
            Name::Run => run::measure(effort).await,
            Name::Pages => pages::measure(effort).await,
            Name::Avatar => tokio::task::spawn_blocking(move || avatar::measure(effort)).await?,
            Name::Matching => tokio::task::spawn_blocking(move || matching::measure(effort)).await?,
            Name::Search => search::measure(effort).await,
        }
    })
}
