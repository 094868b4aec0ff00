//! `/sign-in`: the buttons of other issuers and the form of local accounts; `/sign-out`.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Method, Response, header, request::Parts};
use identity::{
    passwords, people,
    sessions::{self, NewSession},
};
use kernel::{Fault, Kind, tx::Verdict};
use look::{Markup, html};
use store::limits::Windows;

use super::{
    Auth,
    browser::{Browser, Cookie},
    forms::{self, Fields},
    limits,
    page::{self, go, told},
    passkey,
};
use crate::web::seats::Peer;

const NAME: &str = "/sign-in";

pub(super) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let (parts, _) = request.into_parts();
        return match Browser::of(&auth, &parts.headers).await {
            Ok(browser) => {
                let fields = Fields::of_query(&parts).unwrap_or_default();
                let back = page::back(fields.get("back"));
                if browser.session.is_some() {
                    return go(&back, told(NAME));
                }
                form(&auth, &parts, &browser, &back, "", None)
            }
            Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
        };
    }
    let peer = request.extensions().get::<Peer>().copied();
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    let back = page::back(fields.get("back"));
    let nickname = fields.get("nickname").unwrap_or_default().trim().to_lowercase();
    match enter(&auth, &parts, peer, &nickname, fields.get("password").unwrap_or_default()).await {
        Ok(session) => signed_in(&auth, &browser, &session, &back),
        Err(fault) => page::again(form(&auth, &parts, &browser, &back, &nickname, Some(&fault)), &fault),
    }
}

/// Checks a nickname and a password and opens a session.
async fn enter(
    auth: &Auth,
    parts: &Parts,
    peer: Option<Peer>,
    nickname: &str,
    password: &str,
) -> Result<NewSession, Fault> {
    if !auth.config.local {
        return Err(Fault::of(Kind::Forbidden, "this server has no passwords; use one of the buttons"));
    }
    attempt(auth, &format!("sign-in|{nickname}"), limits::PASSWORDS_OF_NICKNAME).await?;
    if let Some(address) = peer.and_then(|peer| crate::web::seats::counted(peer.0)) {
        attempt(auth, &format!("sign-in|{address}"), limits::PASSWORDS_OF_ADDRESS).await?;
    }
    let looked = nickname.to_owned();
    let found = auth
        .house
        .store
        .read(move |tx| {
            let Ok(person) = people::get(tx, &looked) else { return Ok(None) };
            Ok(Some((passwords::get(tx, &person.id)?, person)))
        })
        .await?;
    let (stored, person) = match found {
        Some((stored, person)) => (stored, Some(person)),
        None => (None, None),
    };
    let tried = password.to_owned();
    let matches = tokio::task::spawn_blocking(move || passwords::matches(stored.as_deref(), &tried))
        .await
        .map_err(Fault::internal)?;
    let Some(person) = person.filter(|_| matches) else {
        let advice = if auth.config.open { "try again, or sign up" } else { "try again" };
        return Err(Fault::of(
            Kind::Unauthenticated,
            format!(
                "the nickname or the password is wrong; {advice} (the operator can let you in by a link)"
            ),
        ));
    };
    if person.disabled_at.is_some() {
        return Err(Fault::of(Kind::Forbidden, "this account is disabled; ask the operator"));
    }
    open_session(auth, parts, person.id, sessions::LOCAL).await
}

/// Counts an attempt, wherever it is counted on this engine.
pub(super) async fn attempt(auth: &Auth, subject: &str, windows: Windows) -> Result<(), Fault> {
    let admit = auth.house.limiter.admit_command(subject, &windows);
    match auth.house.store.write(admit).await {
        Ok(Verdict::Done(())) => Ok(()),
        Ok(Verdict::Refused(fault)) | Err(fault) if fault.kind == Kind::RateLimited => {
            let seconds = fault.retry_after_seconds.unwrap_or(60);
            let wait = if seconds < 120 {
                format!("{seconds} seconds")
            } else {
                format!("{} minutes", (seconds + 59) / 60)
            };
            Err(Fault::of(Kind::RateLimited, format!("too many attempts; try again in {wait}"))
                .with_retry_after(seconds))
        }
        Ok(Verdict::Refused(fault)) | Err(fault) => Err(fault),
    }
}

/// A new session for a person, whatever the browser had before.
pub(super) async fn open_session(
    auth: &Auth,
    parts: &Parts,
    person: String,
    provider: &str,
) -> Result<NewSession, Fault> {
    let session = NewSession::draw(auth.house.ids.as_ref(), provider, agent(parts));
    let stored = session.clone();
    let open = auth.change("identity.open_session", move |tx| sessions::insert(tx, &person, &stored));
    open.await?;
    Ok(session)
}

/// What the browser says that it is.
pub(super) fn agent(parts: &Parts) -> &str {
    parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("a browser")
}

/// Leads on with the session kept in the browser.
pub(super) fn signed_in(auth: &Auth, browser: &Browser, session: &NewSession, back: &str) -> Response<Body> {
    let mut response = go(back, told(NAME));
    browser.keep(auth, &mut response);
    Cookie::Session.set(auth, &mut response, &session.secret);
    Cookie::Newcomer.clear(auth, &mut response);
    response
}

pub(super) fn form(
    auth: &Auth,
    parts: &Parts,
    browser: &Browser,
    back: &str,
    nickname: &str,
    fault: Option<&Fault>,
) -> Response<Body> {
    let main = html! {
        h1 { "Sign in" }
        (page::problem(fault))
        (buttons(auth, browser, back))
        (passkey::buttons::to_enter(auth, parts, browser, back))
        @if auth.config.local {
            form class="card" method="post" action="/sign-in" {
                (page::token(browser))
                input type="hidden" name="back" value=(back);
                label { "Nickname" input name="nickname" value=(nickname) autocomplete="username" autocapitalize="none" spellcheck="false" required; }
                label { "Password" input type="password" name="password" autocomplete="current-password" required; }
                button class="main" { "Sign in" }
            }
            @if auth.config.open {
                p { "New here? " a href=(page::with_back("/sign-up", back)) { "Choose a nickname" } "." }
            }
        }
        @if !auth.config.local && auth.config.upstreams.is_empty() {
            p class="lead" { "This server has no way to sign in; its operator sets one in the configuration (sign_in.local = on)." }
        }
    };
    page::show(auth, parts, browser, "Sign in", &main, told(NAME))
}

/// One button for each other issuer.
pub(super) fn buttons(auth: &Auth, browser: &Browser, back: &str) -> Markup {
    html! {
        @for upstream in &auth.config.upstreams {
            form method="post" action={ "/sign-in/" (upstream.provider()) } {
                (page::token(browser))
                input type="hidden" name="back" value=(back);
                button class="main wide" { "Continue with " (upstream.title()) }
            }
        }
    }
}

/// Ends the session of this browser.
pub(super) async fn leave(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    const NAME: &str = "/sign-out";
    let (parts, browser, _) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    if let Some((secret, _)) = browser.session {
        let end = auth.change("identity.end_session", move |tx| sessions::end(tx, &secret));
        if let Err(fault) = end.await {
            return page::refused(&auth, &parts, &fault, told(NAME));
        }
    }
    let mut response = go("/", told(NAME));
    Cookie::Session.clear(&auth, &mut response);
    response
}
