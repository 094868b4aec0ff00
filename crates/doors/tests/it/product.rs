//! The product of these tests: a counter that each caller can read, raise and fail at.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use kernel::{
    Fault, Kind, Moment,
    card::{AgentCard, Card},
    input::Whole,
    operation::{
        Budget, CardRead, CardShown, Code, Doc, Entry, First, Hints, LiveEvent, LiveKind, Operation, Page,
        PageRead, Pages, Product, Public, Query, Spec, Step, Stream, StreamEvent, Then, Waiting,
    },
    principal::{Call, Principal},
    tx::{Command, Tx, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::Schema;

pub(crate) const SCHEMA: Schema = Schema {
    product: "toy",
    steps: &["CREATE TABLE toy_count (person TEXT NOT NULL PRIMARY KEY, n INTEGER NOT NULL) STRICT;"],
};

kernel::statements! {
    ALL_COUNTS = "SELECT person, n FROM toy_count ORDER BY person";
    COUNT = "SELECT n FROM toy_count WHERE person = $1";
    RAISE = "INSERT INTO toy_count (person, n) VALUES ($1, $2) ON CONFLICT (person) DO UPDATE SET n = toy_count.n + excluded.n";
}

/// A text that is an attack wherever it is not escaped.
pub(crate) const HOSTILE: &str = "</pre><script>alert('x')</script><img src=x onerror=\"y\">&amp;";

/// How often the work of `brew` ran, in this process.
pub(crate) static BREWED: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Toy;

#[derive(Serialize, JsonSchema)]
struct Answer {
    server_time: Moment,
    summary: String,
    nickname: String,
    count: i64,
    request_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeekInput {}

struct Peek;

const READS: Hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
const WRITES: Hints = Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
const EXAMPLE: &str = r#"{"server_time":"2026-08-24T14:27:00.000Z","summary":"alpha has 3.","nickname":"alpha","count":3,"request_id":"r"}"#;

/// Ends the key that is for now.
pub(crate) static REVOKED: AtomicBool = AtomicBool::new(false);

fn answer(tx: &mut dyn Tx, principal: &Principal, request_id: &str) -> Result<Answer, Fault> {
    let count = tx.row(&COUNT, &[principal.person_id.as_str().into()])?.map_or(Ok(0), |row| row.i64(0))?;
    Ok(Answer {
        server_time: tx.now(),
        summary: format!("{} has {count}.", principal.nickname),
        nickname: principal.nickname.clone(),
        count,
        request_id: request_id.to_owned(),
    })
}

impl Operation for Peek {
    type Service = Toy;
    type Input = PeekInput;
    type Output = Answer;
    const SPEC: Spec = Spec {
        id: "peek",
        title: "Look at the counter",
        method: "POST",
        path: "/toy/v1/peek",
        scope: "toy:use",
        hints: READS,
        doc: Doc {
            purpose: "Look at your counter.",
            effect: "Nothing changes.",
            parameters: "",
            result: "The count.",
            idempotency: "A repeat reads again.",
            errors: &[],
            example_request: "{}",
            example_response: EXAMPLE,
        },
    };

    fn start(_: &Arc<Toy>, tx: &mut dyn Tx, call: &Call, _: PeekInput) -> Result<Step<Answer>, Fault> {
        answer(tx, &call.principal, &call.request_id).map(Step::Done)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PokeInput {
    by: Whole<1, 10>,
    #[serde(default)]
    note: Option<String>,
}

struct Poke;

struct Raise {
    call: Call,
    by: i64,
}

impl Command for Raise {
    type Out = Answer;

    fn name(&self) -> &'static str {
        "toy.raise"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Answer>, Fault> {
        let person = self.call.principal.person_id.as_str();
        tx.exec(&RAISE, &[person.into(), self.by.into()])?;
        let answer = answer(tx, &self.call.principal, &self.call.request_id)?;
        Ok(if answer.count > 1000 {
            Verdict::Refused(Fault::new("TOY_FULL", Kind::Conflict, "the counter is full; start a new one"))
        } else {
            Verdict::Done(answer)
        })
    }
}

impl Operation for Poke {
    type Service = Toy;
    type Input = PokeInput;
    type Output = Answer;
    const SPEC: Spec = Spec {
        id: "poke",
        title: "Raise the counter",
        method: "POST",
        path: "/toy/v1/poke",
        scope: "toy:write",
        hints: WRITES,
        doc: Doc {
            purpose: "Raise your counter.",
            effect: "The counter grows.",
            parameters: "by: 1 to 10. note: any text.",
            result: HOSTILE,
            idempotency: "A repeat raises again.",
            errors: &["TOY_FULL"],
            example_request: r#"{"by":2,"note":"</pre><script>"}"#,
            example_response: EXAMPLE,
        },
    };

    fn start(_: &Arc<Toy>, _: &mut dyn Tx, call: &Call, input: PokeInput) -> Result<Step<Answer>, Fault> {
        drop(input.note);
        Ok(Step::Run(Box::new(Raise { call: call.clone(), by: input.by.get() })))
    }
}

struct Fail;

impl Operation for Fail {
    type Service = Toy;
    type Input = PeekInput;
    type Output = Answer;
    const SPEC: Spec = Spec {
        id: "fail",
        title: "Fail",
        method: "DELETE",
        path: "/toy/v1/poke",
        scope: "toy:use",
        hints: WRITES,
        doc: Doc { purpose: "Fail.", effect: "Nothing changes.", ..Peek::SPEC.doc },
    };

    fn start(_: &Arc<Toy>, _: &mut dyn Tx, _: &Call, _: PeekInput) -> Result<Step<Answer>, Fault> {
        Err(Fault::new("TOY_BUSY", Kind::Conflict, "the toy is busy; wait")
            .with_retry_after(7)
            .with_detail("pieces", 3)
            .with_context("secret path /etc/shadow"))
    }
}

/// What `brew` pays before its work, committed whatever becomes of it.
pub(crate) const BREW_PRICE: i64 = 100;

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Brewing {
    Well,
    /// The work fails.
    Boils,
    /// The work succeeds and the step after it refuses.
    Spills,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BrewInput {
    by: Whole<1, 10>,
    how: Brewing,
}

struct Brew;

struct Pay(Raise);

impl Command for Pay {
    type Out = ();

    fn name(&self) -> &'static str {
        "toy.pay"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        Ok(match self.0.run(tx)? {
            Verdict::Done(_) => Verdict::Done(()),
            Verdict::Refused(fault) => Verdict::Refused(fault),
        })
    }
}

/// Pays, waits for something outside of the store, then looks again and changes.
impl Operation for Brew {
    type Service = Toy;
    type Input = BrewInput;
    type Output = Answer;
    const SPEC: Spec = Spec {
        id: "brew",
        title: "Brew slowly",
        method: "POST",
        path: "/toy/v1/brew",
        scope: "toy:write",
        hints: WRITES,
        doc: Doc {
            purpose: "Brew.",
            parameters: "by: 1 to 10.",
            example_request: r#"{"by":1,"how":"well"}"#,
            ..Poke::SPEC.doc
        },
    };

    fn start(_: &Arc<Toy>, _: &mut dyn Tx, call: &Call, input: BrewInput) -> Result<Step<Answer>, Fault> {
        let (call, how) = (call.clone(), input.how);
        let raise = Raise { call: call.clone(), by: input.by.get() };
        let work = async move {
            tokio::task::yield_now().await;
            BREWED.fetch_add(1, Ordering::SeqCst);
            if matches!(how, Brewing::Boils) {
                return Err(Fault::unavailable("the kettle is away"));
            }
            Ok(Box::new(move |tx: &mut dyn Tx| {
                let seen = answer(tx, &raise.call.principal, "")?;
                // The payment is committed before the work, so this look sees it.
                assert!(seen.count >= BREW_PRICE, "{}", seen.count);
                if matches!(how, Brewing::Spills) {
                    return Err(Fault::new("TOY_BUSY", Kind::Conflict, "it spilled; brew again"));
                }
                Ok(Step::Run(Box::new(raise)))
            }) as Then<Answer>)
        };
        let first = Box::new(Pay(Raise { call, by: BREW_PRICE }));
        Ok(Step::Wait(Waiting { first: Some(First::Charge(first)), work: Box::pin(work) }))
    }
}

const CODES: &[Code] = &[
    Code { code: "VALIDATION_FAILED", kind: Kind::Invalid, meaning: "The input breaks a rule; mend it." },
    Code { code: "TOY_BUSY", kind: Kind::Conflict, meaning: "The toy is busy; wait." },
    Code { code: "TOY_FULL", kind: Kind::Conflict, meaning: "The counter is full; stop <b>now</b>." },
    Code { code: "RATE_LIMITED", kind: Kind::RateLimited, meaning: "Too many calls; wait." },
];

fn code_of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "VALIDATION_FAILED",
        Kind::Unauthenticated => "UNAUTHENTICATED",
        Kind::Forbidden => "FORBIDDEN",
        Kind::Foreign => "ORIGIN_NOT_ALLOWED",
        Kind::NotFound => "NOT_FOUND",
        Kind::RateLimited => "RATE_LIMITED",
        Kind::TooLarge => "PAYLOAD_TOO_LARGE",
        Kind::Unavailable => "UNAVAILABLE",
        Kind::MethodNotAllowed => "METHOD_NOT_ALLOWED",
        Kind::Conflict => "CONFLICT",
        Kind::UnsupportedMedia => "UNSUPPORTED_MEDIA_TYPE",
        Kind::Internal => "INTERNAL",
    }
}

fn fault_body(fault: &Fault, code: &'static str, at: Moment) -> Value {
    let mut error = json!({"code": code, "message": fault.message});
    if let Some(seconds) = fault.retry_after_seconds {
        error["retry_after_seconds"] = seconds.into();
    }
    for (name, value) in &fault.details {
        error[name] = value.clone();
    }
    json!({"server_time": at, "summary": fault.message, "error": error})
}

fn fault_schema() -> Map<String, Value> {
    let Value::Object(map) = json!({
        "server_time": {"type": "string", "format": "date-time"},
        "summary": {"type": "string"},
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "retry_after_seconds": {"type": "integer", "minimum": 0},
                "pieces": {"type": "integer"},
            },
            "required": ["code", "message"],
            "additionalProperties": false,
        },
    }) else {
        unreachable!()
    };
    map
}

/// A page beside a public read, one of its own, a front and a stream.
fn pages() -> Pages {
    let page = |text: String| Page {
        title: text.clone(),
        description: text.clone(),
        main: format!("<p>page of {}</p>", text.len()),
    };
    Pages {
        pages: vec![
            PageRead {
                id: "toyOfPage",
                path: "/toy/v1/of/{id}",
                max_age_seconds: 1,
                read: Box::new(move |tx, id| match tx.row(&COUNT, &[id.into()])? {
                    Some(row) => Ok(page(format!("count {}", row.i64(0)?))),
                    None => Err(Fault::of(Kind::NotFound, "nobody has this id; take one from a list")),
                }),
            },
            PageRead {
                id: "toyPage",
                path: "/toy/page",
                max_age_seconds: 1,
                read: Box::new(move |_, _| Ok(page(HOSTILE.to_owned()))),
            },
        ],
        cards: vec![CardRead {
            id: "toyCard",
            page: "/toy/v1/of/{id}",
            read: Box::new(|tx, id| match tx.row(&COUNT, &[id.into()])? {
                Some(row) => {
                    let wins = row.i64(0)?;
                    let (nickname, rating_permille) = (HOSTILE.to_owned(), Some(500));
                    let agent = AgentCard { nickname, rating_permille, wins, draws: 0, losses: wins };
                    Ok(CardShown { card: Card::Agent(agent), max_age_seconds: 7 })
                }
                None => Err(Fault::of(Kind::NotFound, "nobody has this id; take one from a list")),
            }),
        }],
        front: Some(Box::new(|_| Ok("<p>front of toy</p>".to_owned()))),
        live: Some(Box::new(|tx| {
            let rows = tx.rows(&ALL_COUNTS, &[])?;
            rows.iter()
                .map(|row| {
                    Ok(LiveEvent {
                        id: format!("{}-{}", row.text(0)?, row.i64(1)?),
                        kind: LiveKind::Settled,
                        html: "<li>\n</li>".to_owned(),
                    })
                })
                .collect()
        })),
        news: None,
        links: vec![("Toy", "/toy/page")],
    }
}

pub(crate) fn toy() -> Product {
    let service = Arc::new(Toy);
    let publics = vec![
        Public {
            id: "toyTotal",
            path: "/toy/v1/total",
            purpose: "How many callers there are.",
            max_age_seconds: 5,
            query: &[],
            read: Box::new(|_, _| Ok(json!({"callers": 2}).to_string())),
        },
        Public {
            id: "toyOf",
            path: "/toy/v1/of/{id}",
            purpose: "The counter of one caller.",
            max_age_seconds: 60,
            query: &[Query { name: "as", meaning: "How to call it." }],
            read: Box::new(|tx, asked| {
                let id = &asked.parameter;
                match tx.row(&COUNT, &[id.into()])? {
                    Some(row) => {
                        let id = asked.query("as").unwrap_or(id);
                        Ok(json!({"id": id, "count": row.i64(0)?}).to_string())
                    }
                    None => Err(Fault::of(Kind::NotFound, "nobody has this id; take one from a list")),
                }
            }),
        },
    ];
    Product {
        name: "toy",
        title: "Toy <counter>",
        instructions: "Poke before you peek.",
        mcp_path: "/toy/mcp",
        rest_prefix: "/toy/v1",
        budget: Budget { per_minute: 100_000, per_hour: 1_000_000 },
        operations: vec![
            Entry::of::<Peek>(&service),
            Entry::of::<Poke>(&service),
            Entry::of::<Fail>(&service),
            Entry::of::<Brew>(&service),
        ],
        publics,
        streams: vec![Stream {
            id: "raises",
            path: "/toy/v1/events",
            scope: "toy:write",
            purpose: "How your counter <rises>.",
            kinds: &[("state", "Where it stands."), ("raised", "It rose.")],
            read: Box::new(raised),
        }],
        pages: pages(),
        codes: CODES,
        code_of_kind,
        fault_body,
        fault_schema,
    }
}

/// One event for each step that the counter rose, at most two a look.
fn raised(tx: &mut dyn Tx, person: &str, last: Option<&str>) -> Result<Vec<StreamEvent>, Fault> {
    let count = tx.row(&COUNT, &[person.into()])?.map_or(Ok(0), |row| row.i64(0))?;
    let event =
        |kind, at: i64| StreamEvent { id: at.to_string(), kind, data: json!({"count": at}).to_string() };
    let Some(last) = last else { return Ok(vec![event("state", count)]) };
    let seen: i64 = last.parse().map_err(|_| Fault::invalid("that is no count; connect without it"))?;
    Ok((seen + 1..=count).take(2).map(|at| event("raised", at)).collect())
}

/// Three people: one may do all, one only read, one's key is over.
pub(crate) fn authenticate(_: &mut dyn Tx, token: &str) -> Result<Principal, Fault> {
    let (nickname, scopes) = match token {
        "arena_sk_alpha" => ("alpha", vec!["toy:use", "toy:write"]),
        "arena_sk_alpha_for_now" if !REVOKED.load(Ordering::SeqCst) => {
            ("alpha", vec!["toy:use", "toy:write"])
        }
        "arena_sk_beta" => ("beta", vec!["toy:use"]),
        "arena_sk_broken" => return Err(Fault::internal("the key table is gone")),
        "arena_sk_old" => {
            return Err(Fault::of(Kind::Unauthenticated, "this key expired; ask the operator for a new one"));
        }
        _ => return Err(Fault::of(Kind::Unauthenticated, "this key is unknown; check that it is whole")),
    };
    Ok(Principal {
        person_id: format!("{:0>24}", if nickname == "alpha" { "a" } else { "b" }),
        nickname: nickname.to_owned(),
        scopes: scopes.into_iter().map(str::to_owned).collect(),
        provider: "key".to_owned(),
        linked_providers: vec![],
        resource: None,
        new_key: None,
    })
}
