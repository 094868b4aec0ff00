//! `arena duels verify`: recomputes the commitment of each sealed demand of a settled duel.
//!
//! The commitment binds the duel, the agent, the count and a salt. It was public before the demands
//! were, so a match proves that the server changed none afterwards.

use duels::rules::sealed::commitment;
use serde::{Deserialize, Serialize};

use crate::{
    exit::ExitCode,
    failure::Failure,
    output::{print, table},
    remote::http::Http,
};

/// The public record of a duel, as far as it is needed here.
#[derive(Debug, Deserialize)]
struct Record {
    slug: String,
    participants: Vec<Participant>,
}

#[derive(Debug, Deserialize)]
struct Participant {
    nickname: String,
    demand: Option<i64>,
    demand_source: Option<Source>,
    salt: Option<String>,
    commitment: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Source {
    #[serde(rename = "SUBMITTED")]
    Submitted,
    #[serde(rename = "DEFAULT_TIMEOUT")]
    DefaultTimeout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Matches,
    Differs,
    /// A demand set by the deadline was never sealed.
    NotSealed,
}

#[derive(Debug, Serialize)]
struct Line {
    nickname: String,
    demand: i64,
    commitment: Option<String>,
    computed: Option<String>,
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
struct Report {
    slug: String,
    verified: bool,
    demands: Vec<Line>,
}

/// Fetches the record at `url` and checks it.
pub(crate) async fn run(url: &str, as_json: bool) -> Result<ExitCode, Failure> {
    let parsed = url::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(parsed) = parsed else {
        return Err(Failure::usage(format!("{url:?} is not the address of a duel"))
            .hint("pass for example https://arena.example/duels/ and the 24 characters of the duel"));
    };
    let answer = Http::new()?.get(&parsed).await?;
    if answer.status != 200 {
        return Err(answer.failure().hint("check the address of the duel"));
    }
    let record: Record = answer.body.and_then(|body| serde_json::from_value(body).ok()).ok_or_else(|| {
        Failure::new(ExitCode::Refused, "the answer is not the public record of a duel")
            .hint("pass the address of one settled duel, as the feed of settled duels gives it")
    })?;
    let report = check(&record)?;
    if as_json {
        print::json(&report)?;
    } else {
        print::data(&shown(&report));
    }
    Ok(if report.verified { ExitCode::Ok } else { ExitCode::Failed })
}

fn check(record: &Record) -> Result<Report, Failure> {
    let not_settled = || {
        Failure::new(ExitCode::Refused, "the duel is not settled, so its demands are still sealed")
            .hint("try again after its deadline, at most ten minutes after it began")
    };
    let mut demands = Vec::new();
    for side in &record.participants {
        let (Some(demand), Some(source)) = (side.demand, side.demand_source) else {
            return Err(not_settled());
        };
        let computed =
            side.salt.as_deref().map(|salt| commitment(&record.slug, &side.nickname, demand, salt));
        let outcome = match (source, &side.commitment, &computed) {
            (Source::DefaultTimeout, None, None) => Outcome::NotSealed,
            (Source::Submitted, Some(public), Some(computed)) if public == computed => Outcome::Matches,
            _ => Outcome::Differs,
        };
        demands.push(Line {
            nickname: side.nickname.clone(),
            demand,
            commitment: side.commitment.clone(),
            computed,
            outcome,
        });
    }
    if demands.is_empty() {
        return Err(not_settled());
    }
    let verified = demands.iter().all(|line| line.outcome != Outcome::Differs);
    Ok(Report { slug: record.slug.clone(), verified, demands })
}

fn shown(report: &Report) -> String {
    let rows: Vec<Vec<String>> = report
        .demands
        .iter()
        .map(|line| {
            let outcome = match line.outcome {
                Outcome::Matches => "matches",
                Outcome::Differs => "DIFFERS",
                Outcome::NotSealed => "not sealed: set by the deadline",
            };
            vec![
                line.nickname.clone(),
                line.demand.to_string(),
                line.commitment.clone().unwrap_or_else(|| "-".to_owned()),
                outcome.to_owned(),
            ]
        })
        .collect();
    let mut out = table::columns(&["agent", "demand", "commitment", "outcome"], &rows);
    out.push_str(if report.verified {
        "every sealed demand is the one that was committed to\n"
    } else {
        "at least one demand is not the one that was committed to\n"
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(demand: i64, salt: Option<&str>, commitment: Option<String>, source: Source) -> Record {
        Record {
            slug: "0123456789abcdef01234567".into(),
            participants: vec![Participant {
                nickname: "alpha".into(),
                demand: Some(demand),
                demand_source: Some(source),
                salt: salt.map(str::to_owned),
                commitment,
            }],
        }
    }

    #[test]
    fn only_the_committed_demand_matches() {
        let salt = "ab".repeat(32);
        let sealed = commitment("0123456789abcdef01234567", "alpha", 9, &salt);
        let outcome = |record: &Record| check(record).unwrap().demands[0].outcome;
        assert_eq!(
            outcome(&record(9, Some(&salt), Some(sealed.clone()), Source::Submitted)),
            Outcome::Matches
        );
        assert_eq!(
            outcome(&record(8, Some(&salt), Some(sealed.clone()), Source::Submitted)),
            Outcome::Differs
        );
        assert_eq!(outcome(&record(9, None, Some(sealed), Source::Submitted)), Outcome::Differs);
        assert_eq!(outcome(&record(9, None, None, Source::Submitted)), Outcome::Differs);
        assert_eq!(outcome(&record(0, None, None, Source::DefaultTimeout)), Outcome::NotSealed);
    }

    #[test]
    fn an_open_duel_is_refused() {
        let mut open = record(0, None, None, Source::Submitted);
        open.participants[0].demand = None;
        assert_eq!(check(&open).unwrap_err().exit, ExitCode::Refused);
    }
}
