//! `/sign-in/link`: whom an operator gave a link comes in with it. Opening the address changes nothing, because
//! mail and chat programs open addresses on their own; the button does.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Method, Response, request::Parts};
use identity::{
    audit, entry_links,
    people::Person,
    sessions::{self, NewSession},
};
use kernel::{Fault, Kind, id::DerivedIds};
use look::html;

use super::{
    Auth,
    browser::Browser,
    forms::{self, Fields},
    page::{self, told},
    sign_in::{agent, signed_in},
};

const NAME: &str = "/sign-in/link";

pub(super) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let (parts, _) = request.into_parts();
        return match visit(&auth, &parts).await {
            Ok(response) => response,
            Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
        };
    }
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    match enter(&auth, &parts, &browser, fields.owned("link").unwrap_or_default()).await {
        Ok(session) => signed_in(&auth, &browser, &session, "/account"),
        Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
    }
}

async fn visit(auth: &Auth, parts: &Parts) -> Result<Response<Body>, Fault> {
    let browser = Browser::of(auth, &parts.headers).await?;
    let link = Fields::of_query(parts)?.owned("link").unwrap_or_default();
    let looked = link.clone();
    let person = auth.house.store.read(move |tx| entry_links::find(tx, &looked)).await?.ok_or_else(over)?;
    Ok(form(auth, parts, &browser, &person, &link))
}

fn form(auth: &Auth, parts: &Parts, browser: &Browser, person: &Person, link: &str) -> Response<Body> {
    let main = html! {
        h1 { "Come in" }
        p class="lead" {
            "The operator of this server made this link for " b { bdi { (person.nickname) } }
            ". It works once. On the next page, set a way to sign in, so that you can come back."
        }
        form class="card" method="post" action=(NAME) {
            (page::token(browser))
            input type="hidden" name="link" value=(link);
            button class="main" { "Sign in as " (person.nickname) }
        }
    };
    page::show(auth, parts, browser, "Come in", &main, told(NAME))
}

/// Uses the link up and opens a session, whoever was signed in before.
async fn enter(auth: &Auth, parts: &Parts, browser: &Browser, link: String) -> Result<NewSession, Fault> {
    let ids = auth.house.ids.as_ref();
    let session = NewSession::draw(ids, entry_links::PROVIDER, agent(parts));
    let before = browser.session.as_ref().map(|(secret, _)| secret.clone());
    let (stored, seed) = (session.clone(), ids.seed());
    let open = auth.change("identity.enter_by_link", move |tx| {
        let person = entry_links::take(tx, &link)?.ok_or_else(over)?;
        if let Some(before) = &before {
            sessions::end(tx, before)?;
        }
        sessions::insert(tx, &person.id, &stored)?;
        let nickname = &person.nickname;
        audit::write(tx, &DerivedIds::new(seed), nickname, "user.enter_by_link", nickname, "")
    });
    open.await?;
    Ok(session)
}

fn over() -> Fault {
    Fault::of(
        Kind::NotFound,
        "this link was used, replaced or is older than a day; ask the operator for a new one",
    )
}
