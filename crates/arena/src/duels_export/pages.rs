//! Reads the export of a server page by page, and completes transcripts that a page only begins.
//!
//! The server may be anybody's: every answer is bounded, and one that leads nowhere ends the export.

use kernel::{Moment, id::is_slug};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::{
    exit::ExitCode,
    failure::Failure,
    remote::http::{Answer, Http},
};

/// More messages of one duel than this, as JSON, are no Arena's: an account may call 200 times a minute.
const TRANSCRIPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Which duels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) since: Option<Moment>,
    pub(super) until: Option<Moment>,
    /// The number of the chronicle after which they begin.
    pub(super) after: i64,
}

#[derive(Debug, Deserialize)]
struct Page {
    duels: Vec<Value>,
    next_after: Option<i64>,
    through: i64,
}

/// What follows the beginning of a transcript.
#[derive(Debug, Deserialize)]
struct More {
    transcript: Vec<Value>,
}

/// The pages of one export.
pub(super) struct Pages {
    http: Http,
    base: Url,
    window: Window,
    /// The end, which the first page tells; duels that are settled later are not part of this export.
    through: Option<i64>,
    done: bool,
}

fn strange(what: &str) -> Failure {
    Failure::new(
        ExitCode::Network,
        format!("the server answered something else than an Arena server does: {what}"),
    )
    .hint("check --server, and that the server is not older than this program")
}

impl Pages {
    pub(super) fn new(base: Url, window: Window) -> Result<Self, Failure> {
        Ok(Self { http: Http::new()?, base, window, through: None, done: false })
    }

    /// The last number that belongs to this export, once a page told it.
    pub(super) fn through(&self) -> Option<i64> {
        self.through
    }

    /// The number up to which the pages were read.
    pub(super) fn reached(&self) -> i64 {
        if self.done { self.through.unwrap_or(self.window.after) } else { self.window.after }
    }

    /// The records of the next page, whole; `None` after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Value>>, Failure> {
        if self.done {
            return Ok(None);
        }
        let page: Page = told(self.http.get(&self.address()?).await?)?;
        self.through.get_or_insert(page.through);
        match page.next_after {
            Some(next) if next > self.window.after => self.window.after = next,
            Some(_) => return Err(strange("a page that is its own next one")),
            None => self.done = true,
        }
        Ok(Some(page.duels))
    }

    fn address(&self) -> Result<Url, Failure> {
        let mut url = self.join("/duels/v1/export")?;
        let mut query = url.query_pairs_mut();
        for (name, at) in [("since", self.window.since), ("until", self.window.until)] {
            if let Some(at) = at {
                query.append_pair(name, &at.to_string());
            }
        }
        query.append_pair("after", &self.window.after.to_string());
        if let Some(through) = self.through {
            query.append_pair("through", &through.to_string());
        }
        drop(query);
        Ok(url)
    }

    fn join(&self, path: &str) -> Result<Url, Failure> {
        self.base.join(path).map_err(|error| Failure::failed(format!("{path} is no address: {error}")))
    }

    /// Adds the messages that are missing in a record; answers how many it has.
    pub(super) async fn complete(&self, record: &mut Value) -> Result<u64, Failure> {
        let slug = record["slug"].as_str().filter(|slug| is_slug(slug)).map(str::to_owned);
        let (Some(slug), Some(messages), Some(mut said)) =
            (slug, record["messages"].as_u64(), record["transcript"].as_array().map(Vec::len))
        else {
            return Err(strange("a duel without address or transcript"));
        };
        let mut bytes = 0;
        while u64::try_from(said).is_ok_and(|said| said < messages) {
            let url = self.join(&format!("/duels/v1/messages/{slug}?after={said}"))?;
            let more: More = told(self.http.get(&url).await?)?;
            bytes += more.transcript.iter().map(|line| line.to_string().len()).sum::<usize>();
            let Some(transcript) = record["transcript"].as_array_mut() else { break };
            transcript.extend(more.transcript);
            if transcript.len() == said || bytes > TRANSCRIPT_BYTES_MAX {
                return Err(strange(&format!(
                    "duel {slug} has {messages} messages, and they cannot be read"
                )));
            }
            said = transcript.len();
            record["more_messages_url"] = Value::Null;
        }
        if u64::try_from(said).ok() == Some(messages) {
            Ok(messages)
        } else {
            Err(strange(&format!("duel {slug} has more messages than it says")))
        }
    }
}

fn told<T: for<'a> Deserialize<'a>>(answer: Answer) -> Result<T, Failure> {
    if answer.status != 200 {
        return Err(answer.failure());
    }
    let body = answer.body.ok_or_else(|| strange("no JSON"))?;
    serde_json::from_value(body).map_err(|_| strange("JSON of another shape"))
}
