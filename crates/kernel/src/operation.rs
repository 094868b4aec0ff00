//! One definition of each operation, and the catalog that erases its types once for all doors.

use std::{future::Future, pin::Pin, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    Fault, Kind, Moment,
    card::Card,
    input::parse_input,
    principal::Call,
    schema,
    tx::{Command, Tx, Verdict},
};

/// The four hints of an MCP tool, all of them always present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

/// The words of an operation. Tool descriptions, OpenAPI, `/docs` and `/llms.txt` are made of these.
#[derive(Debug, Clone, Copy)]
pub struct Doc {
    /// One sentence: what a caller uses it for.
    pub purpose: &'static str,
    /// What changes, or that nothing does.
    pub effect: &'static str,
    /// Bounds and meaning of the input fields; empty when there are none.
    pub parameters: &'static str,
    pub result: &'static str,
    /// What a repeat of the same call does.
    pub idempotency: &'static str,
    /// The codes it can answer beside those that every operation can.
    pub errors: &'static [&'static str],
    /// A request as JSON; a test parses it.
    pub example_request: &'static str,
    /// A success as JSON; a test validates it against the output schema.
    pub example_response: &'static str,
}

/// The name and shape of an operation at the doors.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The MCP tool name and OpenAPI `operationId`, in the product's casing.
    pub id: &'static str,
    /// For people.
    pub title: &'static str,
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub method: &'static str,
    /// The whole REST path.
    pub path: &'static str,
    pub scope: &'static str,
    pub hints: Hints,
    pub doc: Doc,
}

/// The largest tool description that clients are known to take whole.
pub const DESCRIPTION_CHARS_MAX: usize = 1024;

impl Spec {
    /// The tool description.
    pub fn description(&self) -> String {
        let doc = &self.doc;
        let mut out = format!("{} {}", doc.purpose, doc.effect);
        for (label, text) in
            [("Parameters", doc.parameters), ("Result", doc.result), ("Repeats", doc.idempotency)]
        {
            if !text.is_empty() {
                out.extend([" ", label, ": ", text]);
            }
        }
        if !doc.errors.is_empty() {
            out.extend([" Errors: ", &doc.errors.join(", "), "."]);
        }
        out
    }
}

/// How an operation goes on after it has seen its input and the state, read-only.
pub enum Step<T> {
    /// The answer is known; nothing is written.
    Done(T),
    /// A change is needed.
    Run(Box<dyn Command<Out = T>>),
    /// Something outside of the store has to be waited for: an embedding, an image.
    Wait(Waiting<T>),
}

/// Slow work between two looks at the store. No transaction is open while it runs.
pub struct Waiting<T> {
    pub first: Option<First>,
    /// Not polled before `first` is committed. A caller that goes away drops it at any point.
    pub work: Work<T>,
}

/// What is committed before the work starts. A refusal ends the call.
pub enum First {
    /// What the call costs: all calls under one idempotency key pay it once, also when they come at the
    /// same time.
    Charge(Box<dyn Command<Out = ()>>),
    /// A note of what the work will leave behind; each work has its own.
    Note(Box<dyn Command<Out = ()>>),
}

/// The work; what it yields goes on with a new look at the store.
pub type Work<T> = Pin<Box<dyn Future<Output = Result<Then<T>, Fault>> + Send>>;

/// The next step, inside a read-only snapshot on a reader thread.
pub type Then<T> = Box<dyn FnOnce(&mut dyn Tx) -> Result<Step<T>, Fault> + Send>;

/// An operation: its input, its output, its words and its first step.
///
/// `start` runs on a reader thread inside a read-only snapshot: it validates, reads, and answers or
/// returns the command that writes, or the work to wait for. It never writes and never waits itself.
pub trait Operation: 'static {
    type Service: Send + Sync + 'static;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema + Send + 'static;
    const SPEC: Spec;

    fn start(
        service: &Arc<Self::Service>,
        tx: &mut dyn Tx,
        call: &Call,
        input: Self::Input,
    ) -> Result<Step<Self::Output>, Fault>;
}

/// An answer as JSON text, serialised once.
pub type Json = String;

type Start = dyn Fn(&mut dyn Tx, &Call, &[u8]) -> Result<Step<Json>, Fault> + Send + Sync;

/// An operation without its types, as the doors see it.
pub struct Entry {
    pub spec: Spec,
    pub input_schema: Arc<Map<String, Value>>,
    /// Of a success alone.
    pub output_schema: Arc<Map<String, Value>>,
    start: Box<Start>,
}

impl Entry {
    pub fn of<O: Operation>(service: &Arc<O::Service>) -> Self {
        let service = Arc::clone(service);
        Self {
            spec: O::SPEC,
            input_schema: Arc::new(schema::of_input::<O::Input>()),
            output_schema: Arc::new(schema::of_output::<O::Output>()),
            start: Box::new(move |tx, call, body| {
                let input = parse_input::<O::Input>(body)?;
                as_json(O::start(&service, tx, call, input)?)
            }),
        }
    }

    /// Parses `body` and takes the operation's first step.
    pub fn start(&self, tx: &mut dyn Tx, call: &Call, body: &[u8]) -> Result<Step<Json>, Fault> {
        (self.start)(tx, call, body)
    }
}

fn to_json(out: &impl Serialize) -> Result<Json, Fault> {
    serde_json::to_string(out).map_err(Fault::internal)
}

fn as_json<T: Serialize + Send + 'static>(step: Step<T>) -> Result<Step<Json>, Fault> {
    Ok(match step {
        Step::Done(out) => Step::Done(to_json(&out)?),
        Step::Run(command) => Step::Run(Box::new(AsJson(command))),
        Step::Wait(Waiting { first, work }) => Step::Wait(Waiting {
            first,
            work: Box::pin(async move {
                let then = work.await?;
                Ok(Box::new(move |tx: &mut dyn Tx| as_json(then(tx)?)) as Then<Json>)
            }),
        }),
    })
}

struct AsJson<T>(Box<dyn Command<Out = T>>);

impl<T: Serialize + Send> Command for AsJson<T> {
    type Out = Json;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Json>, Fault> {
        Ok(match self.0.run(tx)? {
            Verdict::Done(out) => Verdict::Done(to_json(&out)?),
            Verdict::Refused(fault) => Verdict::Refused(fault),
        })
    }
}

/// A row of a product's table of error codes.
#[derive(Debug, Clone, Copy)]
pub struct Code {
    pub code: &'static str,
    pub kind: Kind,
    /// What happened and what to do next, for the documentation.
    pub meaning: &'static str,
}

/// The largest and smallest request budgets of one account, over all operations of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Calls in any 60 seconds of Arena time.
    pub per_minute: u32,
    /// Calls in any 3600 seconds of Arena time.
    pub per_hour: u32,
}

type ReadPublic = dyn Fn(&mut dyn Tx, &Asked) -> Result<Json, Fault> + Send + Sync;

/// A part of a query string that a public read understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    pub name: &'static str,
    /// For the documentation.
    pub meaning: &'static str,
}

/// What a public read is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The path parameter; empty when the path has none.
    pub parameter: String,
    /// The parts of the query that were given, each at most once and of a name that the read knows.
    pub query: Vec<(&'static str, String)>,
}

impl Asked {
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// A read that needs no credential: what the product publishes, as JSON over GET.
pub struct Public {
    /// The operationId in OpenAPI.
    pub id: &'static str,
    /// The whole path; at most one parameter, written `{id}`, as its last segment.
    pub path: &'static str,
    /// One sentence for the documentation.
    pub purpose: &'static str,
    /// How long a copy may be reused.
    pub max_age_seconds: u32,
    /// What the query may hold. Where that is nothing, any query is ignored; else a strange one is refused.
    pub query: &'static [Query],
    pub read: Box<ReadPublic>,
}

/// What a page shows; the doors put their shell around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub title: String,
    /// One sentence for search engines and previews.
    pub description: String,
    /// Markup in which every text from outside is escaped already.
    pub main: String,
}

type ReadPage = dyn Fn(&mut dyn Tx, &str) -> Result<Page, Fault> + Send + Sync;

/// A page for browsers. At the path of a [`Public`] the caller's `Accept` header chooses.
pub struct PageRead {
    pub id: &'static str,
    /// The whole path; at most one parameter, as its last segment.
    pub path: &'static str,
    pub max_age_seconds: u32,
    /// Gets the path parameter, or the empty text when there is none.
    pub read: Box<ReadPage>,
}

/// A card, and how long a copy of its picture may be reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardShown {
    pub card: Card,
    pub max_age_seconds: u32,
}

type ReadCard = dyn Fn(&mut dyn Tx, &str) -> Result<CardShown, Fault> + Send + Sync;

/// What a link to a page looks like where it is shared. It shows nothing that the page does not.
pub struct CardRead {
    pub id: &'static str,
    /// The path of the [`PageRead`] that it stands for; the picture is at [`CARD_FILE`] under it.
    pub page: &'static str,
    /// Gets the path parameter, or the empty text when there is none.
    pub read: Box<ReadCard>,
}

/// The last segment of the path of every card.
pub const CARD_FILE: &str = "card.png";

type ReadFront = dyn Fn(&mut dyn Tx) -> Result<String, Fault> + Send + Sync;

/// What an event does to a list that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveKind {
    /// Something is going on, and has begun or changed.
    Changed,
    /// Something came to its end.
    Settled,
}

impl LiveKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Settled => "settled",
        }
    }
}

/// What happened lately, for a stream that browsers listen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveEvent {
    /// Differs whenever there is something new to show.
    pub id: String,
    pub kind: LiveKind,
    /// Markup of one element, on one line.
    pub html: String,
}

/// Something that happened, for readers that collect news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewsItem {
    /// The path of its page, which also names it for ever.
    pub path: String,
    pub title: String,
    /// One sentence in words.
    pub summary: String,
    pub at: Moment,
}

type ReadNews = dyn Fn(&mut dyn Tx) -> Result<Vec<NewsItem>, Fault> + Send + Sync;

type ReadLive = dyn Fn(&mut dyn Tx) -> Result<Vec<LiveEvent>, Fault> + Send + Sync;

/// What a product shows in browsers.
#[derive(Default)]
pub struct Pages {
    pub pages: Vec<PageRead>,
    /// The product's part of the home page, as markup.
    pub front: Option<Box<ReadFront>>,
    /// The newest events, oldest first. Called while somebody listens; events that were sent are not
    /// sent again.
    pub live: Option<Box<ReadLive>>,
    /// The newest things that are settled for good, newest first, for `/feed.atom` and `/feed.json`.
    pub news: Option<Box<ReadNews>>,
    /// Pictures for links to the pages.
    pub cards: Vec<CardRead>,
    /// Names and paths for the navigation.
    pub links: Vec<(&'static str, &'static str)>,
}

/// Something that happened to one person, for a stream that its programs listen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// Where a reader goes on that was cut off after this event. Visible ASCII.
    pub id: String,
    pub kind: &'static str,
    pub data: Json,
}

type ReadStream = dyn Fn(&mut dyn Tx, &str, Option<&str>) -> Result<Vec<StreamEvent>, Fault> + Send + Sync;

/// A stream of what happens to the caller: server-sent events over GET, which any reader may resume.
pub struct Stream {
    /// The operationId in OpenAPI.
    pub id: &'static str,
    pub path: &'static str,
    pub scope: &'static str,
    /// Its words in the documentation.
    pub purpose: &'static str,
    /// The kinds of events, and what each tells.
    pub kinds: &'static [(&'static str, &'static str)],
    /// Gets the person and the id of the last event that it has, and answers what came after, oldest first.
    /// Without an id it answers at least one event, from whose id on the next look goes on.
    pub read: Box<ReadStream>,
}

/// A product as the doors see it.
pub struct Product {
    /// Path segment, metric label and limiter name.
    pub name: &'static str,
    pub title: &'static str,
    /// What an MCP client tells its model about the server: rules that hold for every tool.
    pub instructions: &'static str,
    /// For example `/duels/mcp`.
    pub mcp_path: &'static str,
    /// For example `/duels/v1`.
    pub rest_prefix: &'static str,
    pub budget: Budget,
    pub operations: Vec<Entry>,
    pub publics: Vec<Public>,
    pub streams: Vec<Stream>,
    pub pages: Pages,
    pub codes: &'static [Code],
    /// The product's code for a fault that was raised below it.
    pub code_of_kind: fn(Kind) -> &'static str,
    /// The error body of this product; the same over REST and as an MCP tool error.
    pub fault_body: fn(&Fault, code: &'static str, at: Moment) -> Value,
    /// The schema of `fault_body`'s extra properties, merged into every `outputSchema`, because an
    /// MCP client validates error results against it too.
    pub fault_schema: fn() -> Map<String, Value>,
}

impl Product {
    /// The code that `fault` carries in this product.
    pub fn code(&self, fault: &Fault) -> &'static str {
        fault.code.unwrap_or_else(|| (self.code_of_kind)(fault.kind))
    }

    pub fn body(&self, fault: &Fault, at: Moment) -> Value {
        (self.fault_body)(fault, self.code(fault), at)
    }

    pub fn operation(&self, id: &str) -> Option<&Entry> {
        self.operations.iter().find(|entry| entry.spec.id == id)
    }
}
