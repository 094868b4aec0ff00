//! `/account/keys`: keys are made and revoked here only, in a browser session. A key is shown once.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Method, Response, StatusCode, request::Parts};
use identity::{
    audit,
    keys::{self, KeyInfo, LABEL_CHARS_MAX, NewKey},
    sessions::Session,
};
use kernel::{Fault, Kind, Moment, id::DerivedIds};
use look::{ago, html};

use super::{
    Auth,
    browser::Browser,
    forms::{self, Fields},
    page::{self, go, told, with_back},
};
use crate::{answer, web::connect};

const NAME: &str = "/account/keys";

pub(super) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let (parts, _) = request.into_parts();
        return match show(&auth, &parts, None, None, &Fields::default()).await {
            Ok(response) => response,
            Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
        };
    }
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    let Some(session) = browser.person().cloned() else {
        return go(&with_back("/sign-in", NAME), told(NAME));
    };
    let done = match fields.get("revoke") {
        Some(id) => revoke(&auth, &session, id.to_owned()).await.map(|()| None),
        None => make(&auth, &session, &fields).await.map(Some),
    };
    let (made, fault) = match done {
        Ok(None) => return go(NAME, told(NAME)),
        Ok(made) => (made, None),
        Err(fault) => (None, Some(fault)),
    };
    let typed = if made.is_some() { Fields::default() } else { fields };
    match show(&auth, &parts, made.as_ref(), fault.as_ref(), &typed).await {
        Ok(response) => match &fault {
            Some(fault) => page::again(response, fault),
            None => response,
        },
        Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
    }
}

/// A key that has just been made.
struct Made {
    id: String,
    token: String,
}

async fn make(auth: &Auth, session: &Session, fields: &Fields) -> Result<Made, Fault> {
    let label = kernel::text::shown_only(fields.get("label").unwrap_or("a program"));
    let label = label.trim();
    if label.is_empty() || label.chars().count() > LABEL_CHARS_MAX {
        return Err(Fault::invalid(format!(
            "a key's name has 1 to {LABEL_CHARS_MAX} characters; choose another"
        )));
    }
    let days = match fields.get("days") {
        None => None,
        Some(text) => {
            let days = text
                .parse()
                .map_err(|_| Fault::invalid("the days of a key are a whole number; type 1 to 365"));
            Some(days?)
        }
    };
    let scopes: Vec<String> = keys::SCOPES.iter().map(|(scope, _)| (*scope).to_owned()).collect();
    let mut key = NewKey::draw(auth.house.ids.as_ref(), label, &scopes, days)?;
    // Every form makes one key, however often a browser sends it: the second meets the first's id.
    if let Some(id) = fields.owned("id").filter(|id| kernel::id::is_slug(id)) {
        key.id = id;
    }
    let made = Made { id: key.id.clone(), token: key.token.clone() };
    let (person, seed) = (session.person.clone(), auth.house.ids.seed());
    let insert = auth.change("identity.make_key", move |tx| {
        let info = keys::insert(tx, &person, &key)?;
        audit::write(
            tx,
            &DerivedIds::new(seed),
            &person.nickname,
            "key.create",
            &person.nickname,
            &info.prefix,
        )
    });
    insert.await?;
    Ok(made)
}

async fn revoke(auth: &Auth, session: &Session, id: String) -> Result<(), Fault> {
    let (person, seed) = (session.person.clone(), auth.house.ids.seed());
    let revoke = auth.change("identity.revoke_key", move |tx| {
        let key = keys::revoke(tx, &person, &id)?;
        audit::write(
            tx,
            &DerivedIds::new(seed),
            &person.nickname,
            "key.revoke",
            &person.nickname,
            &key.prefix,
        )
    });
    revoke.await?;
    Ok(())
}

/// Whether a key of this person has called, for a page that waits for it.
pub(super) async fn called(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    const NAME: &str = "/account/keys/called";
    let (parts, _) = request.into_parts();
    match has_called(&auth, &parts).await {
        Ok(called) => {
            answer::json(StatusCode::OK, serde_json::json!({"called": called}).to_string(), told(NAME))
        }
        Err(fault) => answer::plain_refusal(&fault, told(NAME)),
    }
}

async fn has_called(auth: &Auth, parts: &Parts) -> Result<bool, Fault> {
    forms::reads(parts)?;
    let browser = Browser::of(auth, &parts.headers).await?;
    let Some(session) = browser.person() else {
        return Err(Fault::of(Kind::Unauthenticated, "nobody is signed in here; open /sign-in"));
    };
    let (person, fields) = (session.person.clone(), Fields::of_query(parts)?);
    let id = fields.owned("id").unwrap_or_default();
    let keys = auth.house.store.read(move |tx| keys::list(tx, &person)).await?;
    let key = keys.iter().find(|key| key.id == id);
    key.map(|key| key.first_call_at.is_some())
        .ok_or_else(|| Fault::of(Kind::NotFound, "no key of yours has this id; open /account/keys"))
}

async fn show(
    auth: &Auth,
    parts: &Parts,
    made: Option<&Made>,
    fault: Option<&Fault>,
    typed: &Fields,
) -> Result<Response<Body>, Fault> {
    let browser = Browser::of(auth, &parts.headers).await?;
    let Some(session) = browser.person() else {
        return Ok(go(&with_back("/sign-in", NAME), told(NAME)));
    };
    let person = session.person.clone();
    let read =
        auth.house.store.read(move |tx| Ok((keys::list(tx, &person)?, Moment::from_millis(tx.real_ms()))));
    let (keys, now) = read.await?;
    let main = html! {
        h1 { "Keys" }
        (page::problem(fault))
        @if let Some(Made { id, token }) = made {
            div class="secret" {
                p { b { "Your key. " } "It is shown this once; keep it where only your program reads it." }
                pre { code { (token) } }
            }
            p class="waiting" role="status" data-wait={ "/account/keys/called?id=" (id) } {
                "Waiting for the first call with this key. The list below tells when it came, the next time you open this page."
            }
            (connect::tabs(&auth.house, Some(token)))
        }
        form class="card" method="post" action="/account/keys" {
            (page::token(&browser))
            input type="hidden" name="id" value=(auth.house.ids.slug());
            label { "What is it for" input name="label" value=(typed.get("label").unwrap_or_default()) maxlength=(LABEL_CHARS_MAX) placeholder="my agent" required; }
            label { "Ends after days, or never" input name="days" value=(typed.get("days").unwrap_or_default()) inputmode="numeric" placeholder="never"; }
            button class="main" { "Make a key" }
        }
        (table(&browser, &keys, now))
        p class="after" { a href="/account" { "To the account" } }
    };
    Ok(page::show(auth, parts, &browser, "Keys", &main, told(NAME)))
}

fn table(browser: &Browser, keys: &[KeyInfo], now: Moment) -> look::Markup {
    html! {
        @if keys.is_empty() {
            p class="muted" { "No key yet. The first one appears here, without its secret." }
        } @else {
            table class="rows" {
                thead { tr { th { "key" } th { "for" } th { "state" } th { "made" } th { "first call" } th { span class="unseen" { "revoke" } } } }
                tbody {
                    @for key in keys {
                        tr {
                            td { code { (key.prefix) "…" } }
                            td data-th="for" { bdi { (key.label) } }
                            td data-th="state" { (key.status(now)) @if let Some(end) = key.expires_at { ", ends " (ago(end, now)) } }
                            td data-th="made" { (ago(key.created_at, now)) }
                            td data-th="first call" { @match key.first_call_at { Some(at) => (ago(at, now)), None => span class="muted" { "none yet" } } }
                            td class="num" {
                                @if key.status(now) == "active" {
                                    form method="post" action="/account/keys" {
                                        (page::token(browser))
                                        button name="revoke" value=(key.id) { "Revoke" }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
