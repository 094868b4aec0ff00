//! `arena login`: the command line shows a short code, the person types it on `/pair`, and the command line
//! gets a key of its own.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Method, Response, StatusCode, request::Parts};
use identity::{
    audit,
    keys::{self, NewKey},
    pairings::{self, NewPairing, Standing},
    people,
};
use kernel::{Fault, Kind, id::DerivedIds};
use look::html;
use serde_json::{Value, json};

use super::{
    Auth,
    browser::Browser,
    forms::{self, Fields},
    limits,
    page::{self, go, told, with_back},
    sign_in::attempt,
};
use crate::{
    answer, body,
    web::seats::{Peer, counted},
};

const NAME: &str = "/pair";
pub(super) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let (parts, _) = request.into_parts();
        let fields = Fields::of_query(&parts).unwrap_or_default();
        return match Browser::of(&auth, &parts.headers).await {
            Ok(browser) if browser.session.is_some() => {
                let code = fields.get("code").unwrap_or_default();
                match asking(&auth, code).await {
                    Ok(label) => form(&auth, &parts, &browser, code, label.as_deref(), None),
                    Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
                }
            }
            Ok(_) => {
                let here = parts.uri.path_and_query().map_or(NAME, |path| path.as_str());
                go(&with_back("/sign-in", here), told(NAME))
            }
            Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
        };
    }
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    let typed = fields.get("code").unwrap_or_default();
    match decide(&auth, &browser, typed, fields.get("act") == Some("allow")).await {
        Ok(words) => {
            let main = html! { h1 { (words) } p class="lead" { "You can close this page and go back to the terminal." } };
            page::show(&auth, &parts, &browser, "Command line", &main, told(NAME))
        }
        Err(fault) => page::again(form(&auth, &parts, &browser, typed, None, Some(&fault)), &fault),
    }
}

async fn decide(auth: &Auth, browser: &Browser, typed: &str, allows: bool) -> Result<&'static str, Fault> {
    let Some(session) = browser.person().cloned() else {
        return Err(Fault::of(
            Kind::Unauthenticated,
            "you are not signed in any more; sign in and type the code again",
        ));
    };
    let unknown = || {
        Fault::of(
            Kind::NotFound,
            "no command line waits under this code; compare it, or run `arena login` again",
        )
    };
    attempt(auth, &format!("pair|{}", session.person.id), limits::CODES_OF_PERSON).await?;
    let code = pairings::written(typed).ok_or_else(unknown)?;
    let seed = auth.house.ids.seed();
    let decide = auth.change("identity.pair", move |tx| {
        tx.lock(&[format!("pair:{code}")])?;
        if allows {
            keys::room(tx, &session.person)?;
        }
        let person = allows.then_some(session.person.id.as_str());
        if !pairings::decide(tx, &code, person, &session.provider)? {
            return Err(unknown());
        }
        let act = if allows { "pair.allow" } else { "pair.refuse" };
        let name = &session.person.nickname;
        audit::write(tx, &DerivedIds::new(seed), name, act, name, "")
    });
    decide.await?;
    Ok(if allows { "The command line is signed in" } else { "Refused; nothing was let in" })
}

/// What the command line that waits under a code calls itself.
async fn asking(auth: &Auth, code: &str) -> Result<Option<String>, Fault> {
    let Some(code) = pairings::written(code) else { return Ok(None) };
    auth.house.store.read(move |tx| pairings::waiting(tx, &code)).await
}

fn form(
    auth: &Auth,
    parts: &Parts,
    browser: &Browser,
    code: &str,
    label: Option<&str>,
    fault: Option<&Fault>,
) -> Response<Body> {
    let nickname = browser.person().map(|session| session.person.nickname.clone()).unwrap_or_default();
    let main = html! {
        h1 { "Let a command line in" }
        (page::problem(fault))
        p class="lead" {
            "Somebody ran " code { "arena login" }
            @if let Some(label) = label { " and calls it " b { bdi { (label) } } }
            ". If it was you, compare the code with the one in your terminal. The program gets a key and plays as " b { bdi { (nickname) } } "."
        }
        form class="card" method="post" action="/pair" {
            (page::token(browser))
            label { "Code" input name="code" value=(code) autocomplete="off" autocapitalize="characters" spellcheck="false" required; }
            p {
                button class="main" name="act" value="allow" { "Let it in" } " "
                button name="act" value="refuse" { "Refuse" }
            }
        }
    };
    page::show(auth, parts, browser, "Command line", &main, told(NAME))
}

/// `POST /pair/start`: a command line begins to wait.
pub(super) async fn start(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    const NAME: &str = "/pair/start";
    let peer = request.extensions().get::<Peer>().copied();
    let input = match input(request).await {
        Ok(input) => input,
        Err(fault) => return answer::plain_refusal(&fault, told(NAME)),
    };
    match begin(&auth, peer, &input).await {
        Ok(pairing) => {
            let base = &auth.house.public_url;
            let told_back = json!({
                "secret": pairing.secret,
                "code": pairing.code,
                "url": format!("{base}/pair?code={}", pairing.code),
                "intervalSeconds": pairings::INTERVAL_SECONDS,
                "expiresInSeconds": pairings::PAIRING_MS / 1000,
            });
            answer::json(StatusCode::OK, told_back.to_string(), told(NAME))
        }
        Err(fault) => answer::plain_refusal(&fault, told(NAME)),
    }
}

async fn begin(auth: &Auth, peer: Option<Peer>, input: &Value) -> Result<NewPairing, Fault> {
    if let Some(address) = peer.and_then(|peer| counted(peer.0)) {
        attempt(auth, &format!("pair|{address}"), limits::PAIRINGS_OF_ADDRESS).await?;
    }
    let label = kernel::text::shown_only(input["label"].as_str().unwrap_or_default());
    let label = if label.trim().is_empty() { "a command line" } else { label.trim() };
    // Two codes of the same letters are drawn once in 25 thousand million times.
    let pairing = NewPairing::draw(auth.house.ids.as_ref(), label);
    let stored = pairing.clone();
    let insert = auth.change("identity.begin_pairing", move |tx| pairings::insert(tx, &stored));
    if insert.await? { Ok(pairing) } else { Err(Fault::unavailable("a pairing code was drawn twice")) }
}

/// `POST /pair/poll`: a command line asks whether it was let in. The key is answered once.
pub(super) async fn poll(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    const NAME: &str = "/pair/poll";
    let asked = match input(request).await {
        Ok(input) => input["secret"].as_str().unwrap_or_default().to_owned(),
        Err(fault) => return answer::plain_refusal(&fault, told(NAME)),
    };
    match standing(&auth, asked).await {
        Ok(standing) => answer::json(StatusCode::OK, standing.to_string(), told(NAME)),
        Err(fault) => answer::plain_refusal(&fault, told(NAME)),
    }
}

async fn standing(auth: &Auth, secret: String) -> Result<Value, Fault> {
    let looked = secret.clone();
    let now = auth.house.store.read(move |tx| pairings::standing(tx, &looked)).await?;
    let (person, label) = match now {
        Standing::Waiting => return Ok(json!({"status": "waiting"})),
        Standing::Refused => return Ok(json!({"status": "refused"})),
        Standing::Gone => return Ok(json!({"status": "expired"})),
        Standing::LetIn { person, label, .. } => (person, label),
    };
    let scopes: Vec<String> = keys::SCOPES.iter().map(|(scope, _)| (*scope).to_owned()).collect();
    let key = NewKey::draw(auth.house.ids.as_ref(), &label, &scopes, None)?;
    let (token, seed) = (key.token.clone(), auth.house.ids.seed());
    let take = auth.change("identity.end_pairing", move |tx| {
        let person = people::by_id(tx, &person)?.ok_or_else(|| Fault::internal("a pairing of nobody"))?;
        if !pairings::take(tx, &secret)? {
            return Ok(None);
        }
        let info = keys::insert(tx, &person, &key)?;
        audit::write(
            tx,
            &DerivedIds::new(seed),
            &person.nickname,
            "key.create",
            &person.nickname,
            &info.prefix,
        )?;
        Ok(Some(person.nickname))
    });
    Ok(match take.await? {
        Some(nickname) => json!({"status": "allowed", "apiKey": token, "nickname": nickname}),
        None => json!({"status": "expired"}),
    })
}

async fn input(request: Request) -> Result<Value, Fault> {
    let (parts, content) = request.into_parts();
    if parts.method != Method::POST {
        return Err(Fault::of(Kind::MethodNotAllowed, "this path takes POST; `arena login` does it for you"));
    }
    if !body::is_json(&parts.headers) {
        return Err(Fault::of(
            Kind::UnsupportedMedia,
            "the body is not JSON; send Content-Type: application/json",
        ));
    }
    let read = body::read(content, forms::FORM_BYTES_MAX).await?;
    if body::is_deeper_than(&read, 4) {
        return Err(Fault::invalid("the body nests too deep; send a flat object"));
    }
    serde_json::from_slice(&read).map_err(|_| Fault::invalid("the body is not JSON; send an object"))
}
