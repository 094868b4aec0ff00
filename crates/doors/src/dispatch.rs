//! The seam between a door and an operation: credential, scope, budget, input, state, change.
//!
//! On one node the whole of it up to a change is one closure on one reader thread. Several nodes
//! decide the budget in rows, which is a change of its own, so there it takes three steps.

use std::sync::Arc;

use bytes::Bytes;
use identity::{act::Act, keys};
use kernel::{
    Fault, Kind, Moment,
    operation::{Json, Step},
    principal::{Call, Principal},
    tx::{Command, Tx, Verdict},
};
use sha2::{Digest, Sha256};
use store::{Once, OnceKey, Ready, once::key_reused};

use crate::{auth::metadata, credential::Credential, house::House};

const ONCE_KEY_CHARS_MAX: usize = 255;

/// One call on its way to an operation.
pub(crate) struct Incoming {
    /// Index of the product.
    pub(crate) product: usize,
    /// Index of the operation in the product's catalog.
    pub(crate) entry: usize,
    pub(crate) credential: Credential,
    pub(crate) request_id: String,
    /// The caller's idempotency key, as sent.
    pub(crate) once_key: Option<String>,
    /// The input as JSON text, or why it could not be read. That fault waits for its turn: who may
    /// not call learns only that, and a call with broken input still counts.
    pub(crate) input: Result<Bytes, Fault>,
}

/// A success.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) json: Json,
    /// The answer was given before and nothing happened now.
    pub(crate) replayed: bool,
}

/// Which check in front of the operation refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    NoCredential,
    BadCredential,
    Scope(&'static str),
}

/// A refusal and when it was given.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) fault: Fault,
    pub(crate) at: Moment,
    pub(crate) gate: Option<Gate>,
    /// Where a client reads how to get in, and with which scope, when people can sign in here.
    pub(crate) way_in: Option<WayIn>,
}

/// What a challenge says of the way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WayIn {
    pub(crate) metadata: String,
    pub(crate) scope: String,
}

impl Refused {
    pub(crate) fn new(fault: Fault, at: Moment) -> Self {
        Self { fault, at, gate: None, way_in: None }
    }

    fn at_gate(fault: Fault, at: Moment) -> Self {
        let gate = (fault.kind == Kind::Unauthenticated).then_some(Gate::BadCredential);
        Self { fault, at, gate, way_in: None }
    }

    /// Points a client that was stopped at the gate to the metadata of what it called.
    pub(crate) fn pointing(mut self, house: &House, product: usize, metadata: String) -> Self {
        if house.has_accounts && self.gate.is_some() {
            let mut scopes: Vec<&str> =
                house.products[product].product.operations.iter().map(|entry| entry.spec.scope).collect();
            scopes.sort_unstable();
            scopes.dedup();
            self.way_in = Some(WayIn { metadata, scope: scopes.join(" ") });
        }
        self
    }
}

/// Runs one call to its end.
pub(crate) async fn dispatch(house: &Arc<House>, incoming: Incoming) -> Result<Answer, Refused> {
    let product = incoming.product;
    run(house, incoming).await.map_err(|refused| {
        let path = house.products[product].product.mcp_path;
        refused.pointing(house, product, metadata::address(&house.public_url, path))
    })
}

async fn run(house: &Arc<House>, incoming: Incoming) -> Result<Answer, Refused> {
    if let Some(refused) = refused_unread(house, &incoming.credential) {
        return Err(refused);
    }
    let incoming = Arc::new(incoming);
    let first = on_reader(house, &incoming, first_step).await?;
    let (begun, person_id, at) = match first {
        First::Refused(refused) => return Err(refused),
        First::Started { begun, person_id, at, new_key } => {
            note_first_call(house, new_key);
            (begun, person_id, at)
        }
        First::AskRows(principal) => {
            note_first_call(house, principal.new_key.clone());
            let mounted = &house.products[incoming.product];
            let subject = subject(mounted.product.name, &principal);
            let admit = house.limiter.admit_command(&subject, &mounted.windows);
            match house.store.write(admit).await {
                Ok(Verdict::Done(())) => {}
                Ok(Verdict::Refused(fault)) | Err(fault) => return Err(Refused::new(fault, house.now())),
            }
            on_reader(house, &incoming, |house, tx, incoming| {
                let at = tx.now();
                let person_id = principal.person_id.clone();
                First::Started { begun: start(house, tx, incoming, principal), person_id, at, new_key: None }
            })
            .await?
            .into_started()?
        }
    };
    finish(house, &incoming, begun, &person_id, at).await
}

/// Checks a credential that nothing else will check, for the calls that need none.
pub(crate) async fn check_credential(
    house: &Arc<House>,
    product: usize,
    credential: &Credential,
) -> Result<(), Refused> {
    if *credential == Credential::Absent {
        return Ok(());
    }
    if let Some(refused) = refused_unread(house, credential) {
        return Err(refused);
    }
    let (shared, credential) = (Arc::clone(house), credential.clone());
    let checked = house
        .store
        .read(move |tx| {
            let at = tx.now();
            Ok(authenticated(&shared, tx, product, &credential)
                .map(|principal| principal.new_key)
                .map_err(|fault| Refused::at_gate(fault, at)))
        })
        .await;
    let new_key = checked.unwrap_or_else(|fault| Err(Refused::new(fault, house.now())))?;
    note_first_call(house, new_key);
    Ok(())
}

/// The refusal that needs no look into the store.
pub(crate) fn refused_unread(house: &House, credential: &Credential) -> Option<Refused> {
    let (message, gate) = match credential {
        Credential::Token(_) => return None,
        Credential::Absent => (
            format!(
                "no credential was sent; send `Authorization: Bearer arena_sk_…`, with a key from {}",
                house.source_of_keys()
            ),
            Gate::NoCredential,
        ),
        Credential::Unusable(why) => ((*why).to_owned(), Gate::BadCredential),
    };
    let fault = Fault::of(Kind::Unauthenticated, message);
    Some(Refused { fault, at: house.now(), gate: Some(gate), way_in: None })
}

enum First {
    Refused(Refused),
    /// Several nodes share the budget: it is decided in rows.
    AskRows(Principal),
    Started {
        begun: Begun,
        person_id: String,
        at: Moment,
        /// A key that calls for the first time.
        new_key: Option<String>,
    },
}

type Begun = Result<Step<Json>, Fault>;

impl First {
    fn into_started(self) -> Result<(Begun, String, Moment), Refused> {
        match self {
            Self::Started { begun, person_id, at, .. } => Ok((begun, person_id, at)),
            Self::Refused(refused) => Err(refused),
            Self::AskRows(_) => {
                Err(Refused::new(Fault::internal("the budget asked twice"), Moment::from_millis(0)))
            }
        }
    }
}

async fn on_reader(
    house: &Arc<House>,
    incoming: &Arc<Incoming>,
    step: impl FnOnce(&House, &mut dyn Tx, &Incoming) -> First + Send + 'static,
) -> Result<First, Refused> {
    let (shared, call) = (Arc::clone(house), Arc::clone(incoming));
    let read = house.store.read(move |tx| Ok(step(&shared, tx, &call))).await;
    read.map_err(|fault| Refused::new(fault, house.now()))
}

fn first_step(house: &House, tx: &mut dyn Tx, incoming: &Incoming) -> First {
    let at = tx.now();
    let scope = house.entry(incoming.product, incoming.entry).spec.scope;
    match let_in(house, tx, incoming.product, &incoming.credential, scope) {
        Err(refused) => First::Refused(refused),
        Ok((principal, Budget::InRows)) => First::AskRows(principal),
        Ok((principal, Budget::Counted)) => {
            let (person_id, new_key) = (principal.person_id.clone(), principal.new_key.clone());
            First::Started { begun: start(house, tx, incoming, principal), person_id, at, new_key }
        }
    }
}

/// Notes beside the call that a key has called for the first time; its owner's page waits for that.
fn note_first_call(house: &Arc<House>, new_key: Option<String>) {
    let Some(key) = new_key else { return };
    let house = Arc::clone(house);
    tokio::spawn(async move {
        let note = Act::new("identity.first_call", move |tx| keys::note_first_call(tx, &key));
        if let Err(fault) = house.store.write(Box::new(note)).await {
            tracing::warn!(error = fault.context(), "a first call was not noted; the next one is");
        }
    });
}

/// Whether the call is counted already, or has to be in rows.
enum Budget {
    Counted,
    InRows,
}

/// Credential, scope and budget.
fn let_in(
    house: &House,
    tx: &mut dyn Tx,
    product: usize,
    credential: &Credential,
    scope: &'static str,
) -> Result<(Principal, Budget), Refused> {
    let at = tx.now();
    let principal =
        authenticated(house, tx, product, credential).map_err(|fault| Refused::at_gate(fault, at))?;
    if !principal.may(scope) {
        let message = format!("this credential lacks the scope {scope}; use one that has it");
        let fault = Fault::of(Kind::Forbidden, message);
        return Err(Refused { fault, at, gate: Some(Gate::Scope(scope)), way_in: None });
    }
    let mounted = &house.products[product];
    match house.limiter.admit_here(tx, &subject(mounted.product.name, &principal), &mounted.windows) {
        None => Ok((principal, Budget::InRows)),
        Some(Err(fault)) => Err(Refused::new(fault, at)),
        Some(Ok(())) => Ok((principal, Budget::Counted)),
    }
}

/// Lets a caller in whom no operation checks: a stream. It counts as one call.
pub(crate) async fn admit(
    house: &Arc<House>,
    product: usize,
    credential: &Credential,
    scope: &'static str,
) -> Result<Principal, Refused> {
    let admitted = async {
        if let Some(refused) = refused_unread(house, credential) {
            return Err(refused);
        }
        let (shared, credential) = (Arc::clone(house), credential.clone());
        let read = house.store.read(move |tx| Ok(let_in(&shared, tx, product, &credential, scope))).await;
        let (principal, budget) = read.map_err(|fault| Refused::new(fault, house.now()))??;
        if matches!(budget, Budget::InRows) {
            let mounted = &house.products[product];
            let admit =
                house.limiter.admit_command(&subject(mounted.product.name, &principal), &mounted.windows);
            match house.store.write(admit).await {
                Ok(Verdict::Done(())) => {}
                Ok(Verdict::Refused(fault)) | Err(fault) => return Err(Refused::new(fault, house.now())),
            }
        }
        note_first_call(house, principal.new_key.clone());
        Ok(principal)
    };
    let path = house.products[product].product.mcp_path;
    admitted
        .await
        .map_err(|refused| refused.pointing(house, product, metadata::address(&house.public_url, path)))
}

pub(crate) fn authenticated(
    house: &House,
    tx: &mut dyn Tx,
    product: usize,
    credential: &Credential,
) -> Result<Principal, Fault> {
    match credential {
        Credential::Token(token) => {
            let principal = (house.authenticate)(tx, token)?;
            // A token that was given for one resource is none for another (RFC 8707).
            let fits = |resource: &String| metadata::product_of(house, resource) == Some(product);
            if principal.resource.as_ref().is_some_and(|resource| !fits(resource)) {
                return Err(Fault::of(
                    Kind::Unauthenticated,
                    "the access token is for another resource; sign in for this one",
                ));
            }
            Ok(principal)
        }
        Credential::Absent | Credential::Unusable(_) => Err(Fault::of(
            Kind::Unauthenticated,
            "no usable credential was sent; send `Authorization: Bearer …`",
        )),
    }
}

fn start(house: &House, tx: &mut dyn Tx, incoming: &Incoming, principal: Principal) -> Begun {
    if incoming.once_key.as_deref().is_some_and(|key| !is_once_key(key)) {
        return Err(Fault::invalid(format!(
            "the idempotency key is not 1 to {ONCE_KEY_CHARS_MAX} visible ASCII characters; send such a key or none"
        )));
    }
    let input = incoming.input.as_ref().map_err(Clone::clone)?;
    if crate::body::is_deeper_than(input, house.limits.json_depth_max) {
        return Err(Fault::invalid(format!(
            "the input nests deeper than {} levels; flatten it",
            house.limits.json_depth_max
        )));
    }
    let call = Call { principal, request_id: incoming.request_id.clone() };
    house.entry(incoming.product, incoming.entry).start(tx, &call, input)
}

fn is_once_key(key: &str) -> bool {
    (1..=ONCE_KEY_CHARS_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

fn subject(product: &str, principal: &Principal) -> String {
    [product, "|", &principal.person_id].concat()
}

async fn finish(
    house: &Arc<House>,
    incoming: &Incoming,
    begun: Begun,
    person_id: &str,
    at: Moment,
) -> Result<Answer, Refused> {
    let key = once_key(house, incoming, person_id);
    // Work under a key that has its answer would be done, and charged, for nothing.
    if let (Some(key), Ok(Step::Wait(_))) = (&key, &begun)
        && let Some(known) =
            house.store.once_known(key).await.map_err(|fault| Refused::new(fault, house.now().max(at)))?
    {
        return once_answer(house, known, at);
    }
    let waits = matches!(begun, Ok(Step::Wait(_)));
    let ready = match begun {
        Ok(step) => house.store.wait_for(step, key.as_ref()).await,
        Err(fault) => Err(fault),
    };
    // What is refused after a wait is dated after it.
    let at = if waits { house.now().max(at) } else { at };
    if let Some(key) = key {
        let command = match ready {
            Ok(Ready::Run(command)) => command,
            // Even a call that needs no change goes through the writer: the state may have moved since
            // the first call of that key, whose answer is what the caller is promised.
            Ok(Ready::Done(json)) => Box::new(Known(Ok(json))),
            Err(fault) => Box::new(Known(Err(fault))),
        };
        return match house.store.write_once(key, command).await {
            Ok(once) => once_answer(house, once, at),
            Err(fault) => Err(Refused::new(fault, at)),
        };
    }
    match ready {
        Err(fault) => Err(Refused::new(fault, at)),
        Ok(Ready::Done(json)) => Ok(Answer { json, replayed: false }),
        Ok(Ready::Run(command)) => answer(house, house.store.write(command).await, at),
    }
}

/// The caller's idempotency key, where it has a meaning.
fn once_key(house: &House, incoming: &Incoming, person_id: &str) -> Option<OnceKey> {
    let spec = &house.entry(incoming.product, incoming.entry).spec;
    let input = incoming.input.as_ref().ok()?;
    let key = incoming.once_key.as_deref().filter(|key| is_once_key(key))?;
    let product = house.products[incoming.product].product.name;
    (!spec.hints.read_only).then(|| OnceKey {
        scope: [product, "|", person_id, "|", spec.id].concat(),
        key: key.to_owned(),
        hash: Sha256::digest(input).into(),
    })
}

fn once_answer(house: &House, once: Once, at: Moment) -> Result<Answer, Refused> {
    match once {
        Once::Ran(verdict) => answer(house, Ok(verdict), at),
        Once::Replayed(json) => Ok(Answer { json, replayed: true }),
        Once::KeyReused => Err(Refused::new(key_reused(), at)),
    }
}

fn answer(house: &House, verdict: Result<Verdict<Json>, Fault>, at: Moment) -> Result<Answer, Refused> {
    match verdict {
        Ok(Verdict::Done(json)) => Ok(Answer { json, replayed: false }),
        // The command ran later than the first step; its refusal must not be dated before it.
        Ok(Verdict::Refused(fault)) | Err(fault) => Err(Refused::new(fault, house.now().max(at))),
    }
}

/// What the first step already knows, as a command, so that a stored answer goes before it.
struct Known(Result<Json, Fault>);

impl Command for Known {
    type Out = Json;

    fn name(&self) -> &'static str {
        "doors.known"
    }

    fn run(&self, _: &mut dyn Tx) -> Result<Verdict<Json>, Fault> {
        self.0.clone().map(Verdict::Done)
    }
}
