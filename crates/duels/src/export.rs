//! Settled duels page by page, oldest first, for whoever wants them all. Every row is the public record.
//!
//! A page starts after a number of the chronicle, which has no gaps and never changes: a reader that comes
//! back with its last number misses nothing and gets nothing twice.

use kernel::{
    Fault, Moment,
    operation::{Asked, Json, Query},
    tx::Tx,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    Duels,
    fault::DuelFault,
    publics,
    rules::limits::{EXPORT_DUELS_MAX, EXPORT_PAGE_BYTES, EXPORT_SCAN_DUELS_MAX},
    tables::{chronicle, duels},
};

/// What the address of a page may hold.
pub(crate) const QUERY: &[Query] = &[
    Query { name: "since", meaning: "Only duels that finished at this instant or later (RFC 3339)." },
    Query { name: "until", meaning: "Only duels that finished before this instant (RFC 3339)." },
    Query { name: "after", meaning: "Only duels after this number of the chronicle: next_after of a page." },
    Query { name: "through", meaning: "Only duels up to this number: through of the first page." },
];

#[derive(Debug, Serialize)]
struct ExportPage {
    duels: Vec<Box<RawValue>>,
    /// Where the next page starts; `null` on the last. A page may be empty and not be the last.
    next_after: Option<i64>,
    /// The last number that belongs to this export.
    through: i64,
}

fn invalid(message: String) -> Fault {
    DuelFault::Validation { message }.into()
}

fn moment(asked: &Asked, name: &str, now: Moment) -> Result<Option<Moment>, Fault> {
    let Some(text) = asked.query(name) else { return Ok(None) };
    let at: Moment = text.parse().map_err(|()| {
        invalid(format!("{name} is not an instant; write it like 2026-08-24T14:27:00Z, with + as %2B"))
    })?;
    if at > now {
        return Err(invalid(format!("{name} is in the future; here it is {now}")));
    }
    Ok(Some(at))
}

pub(crate) fn whole_number(asked: &Asked, name: &str) -> Result<Option<i64>, Fault> {
    asked
        .query(name)
        .map(|text| text.parse().ok().filter(|number| *number >= 0))
        .map(|number| {
            number.ok_or_else(|| invalid(format!("{name} is not a whole number from 0 on; correct it")))
        })
        .transpose()
}

pub(crate) fn read(service: &Duels, tx: &mut dyn Tx, asked: &Asked) -> Result<Json, Fault> {
    let now = tx.now();
    let since = moment(asked, "since", now)?;
    let until = moment(asked, "until", now)?;
    if since.zip(until).is_some_and(|(since, until)| since > until) {
        return Err(invalid("since is after until; exchange them".to_owned()));
    }
    let after = whole_number(asked, "after")?.unwrap_or(0);
    let last = chronicle::last(tx)?;
    let through = whole_number(asked, "through")?.unwrap_or(last);
    if after > last || through > last {
        return Err(invalid(format!(
            "this server has numbered {last} settled duels; take after and through from one of its own pages"
        )));
    }
    // A page looks at so many numbers only, however few of them are of the time that is asked for.
    let seen = through.min(after.saturating_add(EXPORT_SCAN_DUELS_MAX));
    let found = duels::chronicled(
        tx,
        [after, seen],
        [since.unwrap_or(Moment::from_millis(i64::MIN)), until.unwrap_or(Moment::from_millis(i64::MAX))],
        EXPORT_DUELS_MAX,
    )?;
    let full = i64::try_from(found.len()).is_ok_and(|count| count == EXPORT_DUELS_MAX);
    let mut reached = if full { found.last().map_or(seen, |(number, _)| *number) } else { seen };
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for (number, slug) in found {
        let row = to_raw_value(&publics::duel_record(service, tx, &slug)?).map_err(Fault::internal)?;
        bytes += row.get().len();
        rows.push(row);
        if bytes >= EXPORT_PAGE_BYTES {
            reached = number;
            break;
        }
    }
    let next_after = (reached < through).then_some(reached);
    serde_json::to_string(&ExportPage { duels: rows, next_after, through }).map_err(Fault::internal)
}
