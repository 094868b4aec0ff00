//! Sign-in at another issuer: `/sign-in/<provider>` sends the browser away, `/oauth/callback/<provider>`
//! takes it back. What came back counts once, and only in the browser that left.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, Request, State},
};
use http::{Method, Response, request::Parts};
use identity::{
    audit,
    logins::{self, Departure, Newcomer},
    people, secret,
};
use kernel::{Fault, Kind, id::DerivedIds};

use super::{
    Auth, CameBack, FlowSecrets, Upstream, Vouched,
    browser::{Browser, Cookie},
    forms::{self, Fields},
    page::{self, go, told},
    sign_in::{open_session, signed_in},
};

const START: &str = "/sign-in/{provider}";
const CALLBACK: &str = "/oauth/callback/{provider}";

fn find<'a>(auth: &'a Auth, provider: &str) -> Result<&'a Arc<dyn Upstream>, Fault> {
    let found = auth.config.upstreams.iter().find(|upstream| upstream.provider() == provider);
    found.ok_or_else(|| {
        Fault::of(Kind::NotFound, "nobody signs in that way here; choose a button of /sign-in")
    })
}

pub(super) async fn start(
    State(auth): State<Arc<Auth>>,
    Path(provider): Path<String>,
    request: Request,
) -> Response<Body> {
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(START)),
    };
    match leave(&auth, &browser, &provider, &fields).await {
        Ok(url) => {
            let mut response = go(url.as_str(), told(START));
            browser.keep(&auth, &mut response);
            response
        }
        Err(fault) => page::refused(&auth, &parts, &fault, told(START)),
    }
}

async fn leave(auth: &Auth, browser: &Browser, provider: &str, fields: &Fields) -> Result<url::Url, Fault> {
    let upstream = find(auth, provider)?;
    let ids = auth.house.ids.as_ref();
    let draw = || secret::draw(ids, "");
    let secrets = FlowSecrets { state: draw(), nonce: draw(), verifier: draw() };
    let url = upstream.start(&secrets).await?;
    // A person who is signed in links the account; anybody else signs in with it.
    let departure = Departure {
        browser: browser.mark(),
        provider: provider.to_owned(),
        nonce: secrets.nonce,
        verifier: secrets.verifier,
        back: page::back(fields.get("back")),
        person: browser.person().map(|session| session.person.id.clone()),
    };
    let state = secrets.state;
    let depart = auth.change("identity.depart", move |tx| logins::depart(tx, &state, &departure));
    depart.await?;
    Ok(url)
}

pub(super) async fn finish(
    State(auth): State<Arc<Auth>>,
    Path(provider): Path<String>,
    request: Request,
) -> Response<Body> {
    let (parts, content) = request.into_parts();
    // Apple posts its answer, from its own page and therefore without our cookies of SameSite=Lax: the
    // form is turned into the same request by GET, which the browser makes with them.
    if parts.method == Method::POST {
        return match forms::read(content, &parts.headers).await {
            Ok(fields) => go(&relayed(&provider, &fields), told(CALLBACK)),
            Err(fault) => page::refused(&auth, &parts, &fault, told(CALLBACK)),
        };
    }
    match arrive(&auth, &parts, &provider).await {
        Ok(response) => response,
        Err(fault) => page::refused(&auth, &parts, &fault, told(CALLBACK)),
    }
}

fn relayed(provider: &str, fields: &Fields) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for name in ["code", "state", "iss", "error"] {
        if let Some(value) = fields.get(name) {
            query.append_pair(name, value);
        }
    }
    let provider: String = url::form_urlencoded::byte_serialize(provider.as_bytes()).collect();
    format!("/oauth/callback/{provider}?{}", query.finish())
}

async fn arrive(auth: &Auth, parts: &Parts, provider: &str) -> Result<Response<Body>, Fault> {
    forms::reads(parts)?;
    let upstream = find(auth, provider)?;
    let fields = Fields::of_query(parts)?;
    let browser = Browser::of(auth, &parts.headers).await?;
    let state = fields.owned("state").ok_or_else(unknown)?;
    let (looked, mark) = (state.clone(), browser.mark());
    let take = auth.change("identity.arrive", move |tx| logins::arrive(tx, &looked, &mark));
    let departure = take.await?.filter(|departure| departure.provider == provider).ok_or_else(unknown)?;
    if let Some(error) = fields.get("error") {
        return Err(upstream.refusal(error));
    }
    let code = fields.owned("code").ok_or_else(unknown)?;
    let secrets = FlowSecrets { state, nonce: departure.nonce.clone(), verifier: departure.verifier.clone() };
    let came = CameBack { code, iss: fields.owned("iss") };
    let vouched = upstream.finish(&came, &secrets).await?;
    match &departure.person {
        Some(person) => link(auth, &browser, person, &vouched, &departure.back).await,
        None => enter(auth, parts, &browser, &vouched, &departure.back).await,
    }
}

fn unknown() -> Fault {
    Fault::of(
        Kind::Invalid,
        "this sign-in is unknown here, was ended before, or took too long; begin again at /sign-in in this browser",
    )
}

/// Somebody signs in: a person whom the account belongs to, or a newcomer who chooses a nickname next.
async fn enter(
    auth: &Auth,
    parts: &Parts,
    browser: &Browser,
    vouched: &Vouched,
    back: &str,
) -> Result<Response<Body>, Fault> {
    let account = vouched.account.clone();
    let holder = auth.house.store.read(move |tx| logins::person_of(tx, &account)).await?;
    if let Some(person) = holder {
        if person.disabled_at.is_some() {
            return Err(Fault::of(Kind::Forbidden, "this account is disabled; ask the operator"));
        }
        let session = open_session(auth, parts, person.id, &vouched.account.provider).await?;
        return Ok(signed_in(auth, browser, &session, back));
    }
    let ticket = secret::draw(auth.house.ids.as_ref(), "");
    let newcomer = Newcomer {
        account: vouched.account.clone(),
        suggested: vouched.login.as_deref().and_then(kernel::text::nickname),
        back: back.to_owned(),
    };
    let kept = ticket.clone();
    let come = auth.change("identity.come", move |tx| logins::come(tx, &kept, &newcomer));
    come.await?;
    let mut response = go("/sign-up", told(CALLBACK));
    browser.keep(auth, &mut response);
    Cookie::Newcomer.set(auth, &mut response, &ticket);
    Ok(response)
}

/// A person links another account.
async fn link(
    auth: &Auth,
    browser: &Browser,
    person: &str,
    vouched: &Vouched,
    back: &str,
) -> Result<Response<Body>, Fault> {
    // Somebody else may have signed in within this browser meanwhile.
    if browser.person().is_none_or(|session| session.person.id != person) {
        return Err(unknown());
    }
    let (person, account, seed) = (person.to_owned(), vouched.account.clone(), auth.house.ids.seed());
    let linked = Arc::clone(&auth.config.linked);
    let link = auth.change("identity.link", move |tx| {
        let person = people::by_id(tx, &person)?.ok_or_else(unknown)?;
        let is_new = logins::person_of(tx, &account)?.is_none();
        logins::link(tx, &person, &account)?;
        if is_new {
            linked(tx, &person, &account)?;
        }
        let ids = DerivedIds::new(seed);
        audit::write(tx, &ids, &person.nickname, "login.link", &person.nickname, &account.provider)
    });
    link.await?;
    Ok(go(back, told(CALLBACK)))
}
