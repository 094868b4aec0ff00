//! Why a command did not do what was asked: what happened, what to do next, and the exit code.
//!
//! A failure holds words for people only; the operator's context of a fault goes to the log.

use kernel::{Fault, Kind};
use serde::Serialize;

use crate::exit::ExitCode;

/// A command's refusal, printed as `error: …` and `hint: …`, or as one JSON object with `--json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exit: ExitCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

#[derive(Serialize)]
struct Body<'a> {
    error: Inner<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inner<'a> {
    code: &'static str,
    exit_code: u8,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl Failure {
    pub(crate) fn new(exit: ExitCode, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Failed, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The JSON error object, on one line.
    pub(crate) fn json(&self) -> String {
        let body = Body {
            error: Inner {
                code: self.exit.word(),
                exit_code: self.exit.number(),
                message: &self.message,
                hint: self.hint.as_deref(),
            },
        };
        serde_json::to_string(&body).unwrap_or_else(|_| r#"{"error":{"code":"failed"}}"#.to_owned())
    }
}

/// A sentence of another crate: what is wrong first, what to do after the last semicolon.
pub(crate) fn split(exit: ExitCode, text: &str) -> Failure {
    match text.rsplit_once("; ") {
        Some((what, next)) => Failure::new(exit, what).hint(next),
        None => Failure::new(exit, text),
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        if let Some(context) = fault.context() {
            tracing::error!(kind = ?fault.kind, context, "a command failed");
        }
        let hint = match fault.kind {
            Kind::Internal => Some("run `arena doctor`, and report this with the log lines above"),
            Kind::Unavailable => Some("run `arena doctor` to see which part is down"),
            _ => None,
        };
        Self { exit: ExitCode::of_kind(fault.kind), message: fault.message, hint: hint.map(str::to_owned) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_form_is_one_line_with_its_code() {
        let failure = Failure::usage("no such key \"x\"\n").hint("use y");
        assert_eq!(
            failure.json(),
            r#"{"error":{"code":"usage","exitCode":2,"message":"no such key \"x\"\n","hint":"use y"}}"#
        );
        assert_eq!(
            Failure::failed("it broke").json(),
            r#"{"error":{"code":"failed","exitCode":1,"message":"it broke"}}"#
        );
    }

    #[test]
    fn a_fault_never_shows_its_context() {
        let failure = Failure::from(Fault::internal("row 7 of table secret"));
        assert!(!failure.json().contains("secret"));
        assert_eq!(failure.exit, ExitCode::Failed);
    }
}
