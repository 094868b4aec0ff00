//! `/oauth/consent`: our own page for every client. A person reads who asks for what, and where the answer
//! goes, and decides.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{HeaderValue, Method, Response, header, request::Parts};
use identity::{
    audit,
    keys::SCOPES,
    oauth::{
        CODE_PREFIX, grants,
        requests::{self, AuthRequest},
    },
    secret,
    sessions::Session,
};
use kernel::{Fault, Kind, id::DerivedIds};
use look::html;
use url::Url;

use super::authorize;
use crate::{
    auth::{
        Auth,
        browser::Browser,
        forms::{self, Fields},
        page::{self, go, told, with_back},
    },
    web::policy,
};

const NAME: &str = "/oauth/consent";

pub(in crate::auth) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let (parts, _) = request.into_parts();
        return match show(&auth, &parts).await {
            Ok(response) => response,
            Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
        };
    }
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    match decide(&auth, &browser, &fields).await {
        Ok(to) => go(&to, told(NAME)),
        Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
    }
}

fn gone() -> Fault {
    Fault::of(
        Kind::NotFound,
        "this request was answered already or is too old; go back to the program and begin anew",
    )
}

async fn find(auth: &Auth, ticket: &str) -> Result<AuthRequest, Fault> {
    let ticket = ticket.to_owned();
    auth.house.store.read(move |tx| requests::get(tx, &ticket)).await?.ok_or_else(gone)
}

async fn show(auth: &Auth, parts: &Parts) -> Result<Response<Body>, Fault> {
    let fields = Fields::of_query(parts)?;
    let ticket = fields.get("request").unwrap_or_default();
    let asked = find(auth, ticket).await?;
    let browser = Browser::of(auth, &parts.headers).await?;
    let Some(session) = browser.person() else {
        let here = format!("{NAME}?request={ticket}");
        return Ok(go(&with_back("/sign-in", &here), told(NAME)));
    };
    let target = Target::of(&asked.redirect_uri);
    let main = html! {
        h1 { "Let " span class="quoted" { bdi { (asked.client_name) } } " play as " bdi { (session.person.nickname) } "?" }
        p class="lead" { "The name is what the program calls itself; nobody checks it. What you can check is where your answer goes." }
        dl class="facts" {
            dt { "Goes to" } dd { (target.words) }
            @if asked.client.starts_with("https://") { dt { "Described at" } dd { code { (asked.client) } } }
            dt { "May" }
            dd { ul { @for scope in asked.scope.split(' ') { li { (words(scope)) " (" code { (scope) } ")" } } } }
            dt { "At" } dd { code { (asked.resource) } }
        }
        @if target.is_local {
            p class="problem" { "Any program on this computer can wait at that address. Allow this only if you have just begun it yourself." }
        }
        form class="card" method="post" action=(NAME) {
            (page::token(&browser))
            input type="hidden" name="request" value=(ticket);
            p {
                button class="main" name="act" value="allow" { "Allow" } " "
                button name="act" value="refuse" { "Cancel" }
            }
        }
        p { "You can take it back at any time on " a href="/account" { "your account" } "." }
    };
    let mut response = page::show(auth, parts, &browser, "Allow a program", &main, told(NAME));
    // Browsers hold a redirect after a form against this list, too.
    if let Ok(value) = HeaderValue::from_str(&policy(&target.source)) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, value);
    }
    Ok(response)
}

fn words(scope: &str) -> &'static str {
    SCOPES
        .iter()
        .find(|(known, _)| *known == scope)
        .map_or("something that this server does not know", |(_, words)| words)
}

/// Where an answer goes, for people and for the browser.
struct Target {
    words: String,
    is_local: bool,
    /// As a source of a content security policy.
    source: String,
}

impl Target {
    fn of(redirect_uri: &str) -> Self {
        let Ok(url) = Url::parse(redirect_uri) else {
            return Self {
                words: "an address that cannot be read".to_owned(),
                is_local: true,
                source: String::new(),
            };
        };
        match (url.scheme(), url.host_str()) {
            ("https", Some(host)) => {
                Self { words: host.to_owned(), is_local: false, source: url.origin().ascii_serialization() }
            }
            ("http", Some(host)) => Self {
                words: format!("a program on this computer ({host})"),
                is_local: true,
                source: url.origin().ascii_serialization(),
            },
            (scheme, _) => Self {
                words: format!("the app that opens {scheme}: addresses on this computer"),
                is_local: true,
                source: format!("{scheme}:"),
            },
        }
    }
}

async fn decide(auth: &Auth, browser: &Browser, fields: &Fields) -> Result<String, Fault> {
    let ticket = fields.owned("request").unwrap_or_default();
    let Some(session) = browser.person().cloned() else {
        return Ok(with_back("/sign-in", &format!("{NAME}?request={ticket}")));
    };
    let asked = find(auth, &ticket).await?;
    let allows = fields.get("act") == Some("allow");
    let code = allow(auth, &session, ticket, asked.clone(), allows).await?;
    let issuer = &auth.house.public_url;
    match code {
        Some(code) => authorize::back(
            &asked.redirect_uri,
            &[("code", Some(&code)), ("state", asked.state.as_deref())],
            issuer,
        ),
        None => authorize::back(
            &asked.redirect_uri,
            &[
                ("error", Some("access_denied")),
                ("error_description", Some("the person said no")),
                ("state", asked.state.as_deref()),
            ],
            issuer,
        ),
    }
}

/// Answers a request once: with a code, or with a no.
async fn allow(
    auth: &Auth,
    session: &Session,
    ticket: String,
    asked: AuthRequest,
    allows: bool,
) -> Result<Option<String>, Fault> {
    let ids = auth.house.ids.as_ref();
    let (id, code, seed) = (ids.slug(), secret::draw(ids, CODE_PREFIX), ids.seed());
    let (person, provider, drawn) = (session.person.clone(), session.provider.clone(), code.clone());
    let act = auth.change("identity.answer_request", move |tx| {
        tx.lock(&[format!("request:{}", kernel::id::hex(&secret::hash(&ticket)))])?;
        if !requests::take(tx, &ticket)? {
            return Err(gone());
        }
        if allows {
            grants::allow(tx, &id, &drawn, &person, &provider, &asked)?;
            let ids = DerivedIds::new(seed);
            audit::write(tx, &ids, &person.nickname, "grant.create", &person.nickname, &asked.client)?;
        }
        Ok(())
    });
    act.await?;
    Ok(allows.then_some(code))
}
