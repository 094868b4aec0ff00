//! Signing in: our own authorization server for MCP clients, the pages on which people prove who they are, and
//! their account. What is kept is in `identity`; here is only what browsers and programs see of it.

mod account;
mod browser;
mod entry_link;
mod forms;
mod keys;
pub mod limits;
mod oauth;
mod page;
mod pair;
mod passkey;
mod sign_in;
mod sign_up;
mod upstream;
mod user_agent;

use std::{
    future::{Future, ready},
    pin::Pin,
    sync::Arc,
};

use axum::{
    body::Body,
    middleware::map_response,
    routing::{MethodRouter, any},
};
use http::{HeaderValue, Response, StatusCode, header};
use identity::{act::Act, logins::Account, people::Person};
use kernel::{
    Fault,
    id::Ids,
    tx::{Tx, Verdict},
};
pub(crate) use oauth::metadata;
use passkeys::RelyingParty;
use url::Url;

use crate::house::House;

/// Work that waits for somebody else's server.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// Opens what a new person has in every product, in the transaction that makes the person.
pub type Enrol = Arc<dyn Fn(&mut dyn Tx, &dyn Ids, &Person) -> Result<(), Fault> + Send + Sync>;

/// Tells the products that an account of another issuer was linked to a person.
pub type Linked = Arc<dyn Fn(&mut dyn Tx, &Person, &Account) -> Result<(), Fault> + Send + Sync>;

/// What a sign-in at another issuer is recognised by when it comes back.
#[derive(Debug, Clone)]
pub struct FlowSecrets {
    pub state: String,
    pub nonce: String,
    pub verifier: String,
}

/// What comes back with a browser.
#[derive(Debug, Clone)]
pub struct CameBack {
    pub code: String,
    /// RFC 9207, where the issuer sends it.
    pub iss: Option<String>,
}

/// Who another issuer says that somebody is.
#[derive(Debug, Clone)]
pub struct Vouched {
    pub account: Account,
    /// A name there that may do as a nickname here.
    pub login: Option<String>,
}

/// Another issuer.
pub trait Upstream: Send + Sync {
    /// `google`, `github`, `apple`, or `oidc:` and a name.
    fn provider(&self) -> &str;

    /// What the button says, for example `GitHub`.
    fn title(&self) -> &str;

    /// Where the browser is sent.
    fn start<'a>(&'a self, secrets: &'a FlowSecrets) -> Pending<'a, Url>;

    /// Who came back.
    fn finish<'a>(&'a self, back: &'a CameBack, secrets: &'a FlowSecrets) -> Pending<'a, Vouched>;

    /// What the `error` means that a browser came back with.
    fn refusal(&self, code: &str) -> Fault;
}

/// Fetches a document of a stranger's, guarded: public addresses only, no redirect.
pub trait Documents: Send + Sync {
    fn fetch<'a>(&'a self, url: &'a str, bytes_max: usize) -> Pending<'a, Vec<u8>>;
}

/// How people sign in on this server.
#[derive(Clone)]
pub struct SignIn {
    /// Whether people may have a password and passkeys here.
    pub local: bool,
    /// Whether strangers may become people.
    pub open: bool,
    pub upstreams: Vec<Arc<dyn Upstream>>,
    pub documents: Arc<dyn Documents>,
    pub enrol: Enrol,
    pub linked: Linked,
}

/// What all handlers here share.
pub(crate) struct Auth {
    pub(crate) house: Arc<House>,
    pub(crate) config: SignIn,
    /// The server as browsers know it for passkeys, where it has any.
    pub(crate) passkeys: Option<RelyingParty>,
}

impl Auth {
    /// Makes a change of identity's.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        name: &'static str,
        run: impl Fn(&mut dyn Tx) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        match self.house.store.write(Box::new(Act::new(name, run))).await? {
            Verdict::Done(out) => Ok(out),
            Verdict::Refused(fault) => Err(fault),
        }
    }
}

const PAGE: &str = "GET, HEAD";
const FORM: &str = "POST";
const PAGE_AND_FORM: &str = "GET, HEAD, POST";
const CALL: &str = "POST, OPTIONS";

/// A refusal of a method names those that the path takes (RFC 9110, section 15.5.6).
fn telling(methods: &'static str, route: MethodRouter) -> MethodRouter {
    route.layer(map_response(move |mut response: Response<Body>| {
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
        }
        ready(response)
    }))
}

/// Paths, what they take, and their handlers.
pub(crate) fn routes(house: &Arc<House>, config: SignIn) -> Vec<(String, MethodRouter)> {
    let passkeys = Url::parse(&house.public_url).ok().filter(|_| config.local);
    let passkeys = passkeys.and_then(|url| RelyingParty::of(&url, &house.server.title));
    let auth = Arc::new(Auth { house: Arc::clone(house), config, passkeys });
    let state = || Arc::clone(&auth);
    let mut routes: Vec<(String, MethodRouter)> = [
        ("/sign-in", PAGE_AND_FORM, any(sign_in::serve).with_state(state())),
        ("/sign-out", FORM, any(sign_in::leave).with_state(state())),
        ("/sign-up", PAGE_AND_FORM, any(sign_up::serve).with_state(state())),
        ("/sign-in/link", PAGE_AND_FORM, any(entry_link::serve).with_state(state())),
        ("/sign-in/{provider}", FORM, any(upstream::start).with_state(state())),
        ("/oauth/callback/{provider}", PAGE_AND_FORM, any(upstream::finish).with_state(state())),
        ("/sign-in/passkey/begin", FORM, any(passkey::enter::begin).with_state(state())),
        ("/sign-in/passkey/finish", FORM, any(passkey::enter::finish).with_state(state())),
        ("/sign-up/passkey/begin", FORM, any(passkey::join::begin).with_state(state())),
        ("/sign-up/passkey/finish", FORM, any(passkey::join::finish).with_state(state())),
        ("/account/passkey/begin", FORM, any(passkey::own::begin).with_state(state())),
        ("/account/passkey/finish", FORM, any(passkey::own::finish).with_state(state())),
        ("/account", PAGE, any(account::serve).with_state(state())),
        ("/account/{act}", FORM, any(account::act).with_state(state())),
        ("/account/keys", PAGE_AND_FORM, any(keys::serve).with_state(state())),
        ("/account/keys/called", PAGE, any(keys::called).with_state(state())),
        ("/pair", PAGE_AND_FORM, any(pair::serve).with_state(state())),
        ("/pair/start", FORM, any(pair::start).with_state(state())),
        ("/pair/poll", FORM, any(pair::poll).with_state(state())),
        ("/oauth/authorize", PAGE, any(oauth::authorize::serve).with_state(state())),
        ("/oauth/consent", PAGE_AND_FORM, any(oauth::consent::serve).with_state(state())),
        ("/oauth/token", CALL, any(oauth::token::serve).with_state(state())),
        ("/oauth/register", CALL, any(oauth::register::serve).with_state(state())),
        ("/oauth/revoke", CALL, any(oauth::revoke::serve).with_state(state())),
    ]
    .into_iter()
    .map(|(path, methods, route)| (path.to_owned(), telling(methods, route)))
    .collect();
    let documents = metadata::routes(&auth).into_iter();
    routes.extend(documents.map(|(path, route)| (path, telling("GET, HEAD, OPTIONS", route))));
    routes
}
