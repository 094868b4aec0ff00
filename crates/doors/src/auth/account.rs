//! `/account`: who I am here, how I sign in, which browsers and programs are let in, and their ends.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, Request, State},
};
use http::{Response, request::Parts};
use identity::{
    audit, entry_links,
    logins::{self, Link},
    oauth::grants::{self, GrantInfo},
    passkeys::{self, PasskeyInfo},
    passwords,
    sessions::{self, Session, SessionInfo},
};
use kernel::{Fault, Kind, id::DerivedIds, tx::Tx};
use look::{Markup, ago, html};

use super::{
    Auth,
    browser::Browser,
    forms::{self, Fields},
    limits,
    page::{self, go, told, with_back},
    passkey,
    sign_in::{attempt, buttons},
    user_agent,
};

const NAME: &str = "/account";

struct Shown {
    links: Vec<Link>,
    sessions: Vec<SessionInfo>,
    grants: Vec<GrantInfo>,
    has_password: bool,
    passkeys: Vec<PasskeyInfo>,
    now: kernel::Moment,
}

pub(super) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    let (parts, _) = request.into_parts();
    let shown = match forms::reads(&parts) {
        Ok(()) => show(&auth, &parts, None).await,
        Err(fault) => Err(fault),
    };
    match shown {
        Ok(response) => response,
        Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
    }
}

async fn show(auth: &Auth, parts: &Parts, problem: Option<&Fault>) -> Result<Response<Body>, Fault> {
    let browser = Browser::of(auth, &parts.headers).await?;
    let Some(session) = browser.person().cloned() else {
        return Ok(go(&with_back("/sign-in", NAME), told(NAME)));
    };
    let id = session.person.id.clone();
    let shown = auth
        .house
        .store
        .read(move |tx| {
            Ok(Shown {
                links: logins::of(tx, &id)?,
                sessions: sessions::list(tx, &id)?,
                grants: grants::list(tx, &id)?,
                has_password: passwords::get(tx, &id)?.is_some(),
                passkeys: passkeys::of(tx, &id)?,
                now: kernel::Moment::from_millis(tx.real_ms()),
            })
        })
        .await?;
    let main = html! {
        h1 { bdi { (session.person.nickname) } }
        (page::problem(problem))
        @if let Some(done) = done(parts) { p class="done" role="status" { (done) } }
        p class="lead" { "Keys let your programs play as you; they are made on a page of their own." }
        p { a class="button" href="/account/keys" { "Keys" } }
        h2 { "Ways to sign in" }
        (ways(auth, &browser, &session, &shown, was_refused(parts, problem, "password")))
        @if auth.config.local {
            h2 { "Passkeys" }
            (passkey::buttons::own(auth, parts, &browser, &shown.passkeys, shown.now))
        }
        h2 { "Programs that you let in" }
        (programs(&browser, &shown))
        h2 { "Browsers that are signed in" }
        (browsers(&browser, &session, &shown))
        form method="post" action="/sign-out" { (page::token(&browser)) button { "Sign out here" } }
    };
    Ok(page::show(auth, parts, &browser, "Account", &main, told(NAME)))
}

/// What has just been changed, for whoever comes back from a button.
fn done(parts: &Parts) -> Option<&'static str> {
    let fields = Fields::of_query(parts).ok()?;
    Some(match fields.get("done")? {
        "password" => "The password is set. Every other browser is signed out.",
        "password-remove" => "The password is removed. Every other browser is signed out.",
        "unlink" => "Unlinked. That account opens nothing here any more.",
        "end" => "That browser is signed out.",
        "revoke" => "Revoked. The program is out.",
        "passkey-name" => "Renamed.",
        "passkey-remove" => "The passkey is removed. Every other browser is signed out.",
        _ => return None,
    })
}

/// Whether the page is shown again because this button was refused.
fn was_refused(parts: &Parts, problem: Option<&Fault>, act: &str) -> bool {
    problem.is_some() && parts.uri.path().strip_prefix("/account/") == Some(act)
}

fn ways(auth: &Auth, browser: &Browser, session: &Session, shown: &Shown, is_open: bool) -> Markup {
    html! {
        @if !shown.links.is_empty() || shown.has_password || !shown.passkeys.is_empty() {
            table class="rows" {
                thead { tr { th { "way" } th { "account" } th { "since" } th { span class="unseen" { "unlink" } } } }
                tbody {
                    @for link in &shown.links {
                        tr {
                            td { (link.account.provider) }
                            td data-th="account" { bdi { (link.account.label) } }
                            td data-th="since" { (ago(link.linked_at, shown.now)) }
                            td class="num" {
                                form method="post" action="/account/unlink" {
                                    (page::token(browser))
                                    input type="hidden" name="provider" value=(link.account.provider);
                                    input type="hidden" name="subject" value=(link.account.subject);
                                    button { "Unlink" }
                                }
                            }
                        }
                    }
                    @if shown.has_password {
                        tr {
                            td { "local" }
                            td { "a password" }
                            td {}
                            td class="num" {
                                form method="post" action="/account/password-remove" { (page::token(browser)) button { "Remove" } }
                            }
                        }
                    }
                    @if !shown.passkeys.is_empty() {
                        tr { td { "local" } td { @if shown.passkeys.len() == 1 { "a passkey" } @else { (shown.passkeys.len()) " passkeys" } } td {} td {} }
                    }
                }
            }
        } @else { p class="muted" { "The operator's link let you in. Set a way to sign in below, so that you can come back." } }
        (buttons(auth, browser, NAME))
        @if auth.config.local {
            details open[is_open] {
                summary { @if shown.has_password { "Change the password" } @else { "Set a password" } }
                form class="card" method="post" action="/account/password" {
                    (page::token(browser))
                    @if shown.has_password && !came_by_link(session) {
                        label { "Password now" input type="password" name="current" autocomplete="current-password" required; }
                    }
                    label { "New password" input type="password" name="password" autocomplete="new-password" minlength=(passwords::CHARS.start()) required; }
                    button class="main" { "Save" }
                }
            }
        }
    }
}

fn programs(browser: &Browser, shown: &Shown) -> Markup {
    html! {
        @if shown.grants.is_empty() {
            p class="muted" { "None yet. A client that you connect by signing in appears here." }
        } @else {
            table class="rows" {
                thead { tr { th { "program" } th { "may" } th { "since" } th { span class="unseen" { "revoke" } } } }
                tbody {
                    @for grant in &shown.grants {
                        tr {
                            td { bdi { (grant.client_name) } }
                            td data-th="may" { code { (grant.scope) } }
                            td data-th="since" { (ago(grant.created_at, shown.now)) }
                            td class="num" {
                                form method="post" action="/account/revoke" {
                                    (page::token(browser))
                                    input type="hidden" name="id" value=(grant.id);
                                    button { "Revoke" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn browsers(browser: &Browser, own: &Session, shown: &Shown) -> Markup {
    html! {
        table class="rows" {
            thead { tr { th { "browser" } th { "by" } th { "last seen" } th { span class="unseen" { "end" } } } }
            tbody {
                @for session in &shown.sessions {
                    tr {
                        td title=(session.label) { bdi { (user_agent::in_words(&session.label)) } }
                        td data-th="by" { (session.provider) }
                        td data-th="last seen" { (ago(session.seen_at, shown.now)) }
                        td class="num" {
                            @if session.id == own.id { "this one" } @else {
                                form method="post" action="/account/end" {
                                    (page::token(browser))
                                    input type="hidden" name="id" value=(session.id);
                                    button { "End" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `/account/<act>`: one change, then the page again.
pub(super) async fn act(
    State(auth): State<Arc<Auth>>,
    Path(act): Path<String>,
    request: Request,
) -> Response<Body> {
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    let Some(session) = browser.person().cloned() else {
        return go(&with_back("/sign-in", NAME), told(NAME));
    };
    match change(&auth, &session, &act, &fields).await {
        Ok(()) => go(&format!("{NAME}?done={act}"), told(NAME)),
        Err(fault) => again(&auth, &parts, &fault).await,
    }
}

/// The page once more, with what was wrong.
pub(super) async fn again(auth: &Auth, parts: &Parts, fault: &Fault) -> Response<Body> {
    match show(auth, parts, Some(fault)).await {
        Ok(response) => page::again(response, fault),
        Err(fault) => page::refused(auth, parts, &fault, told(NAME)),
    }
}

async fn change(auth: &Auth, session: &Session, act: &str, fields: &Fields) -> Result<(), Fault> {
    let person = session.person.clone();
    let field = |name: &str| fields.owned(name).unwrap_or_default();
    let seed = auth.house.ids.seed();
    let gone = || Fault::of(Kind::NotFound, "that is gone already; the page shows what there is");
    match act {
        "unlink" => {
            let (provider, subject) = (field("provider"), field("subject"));
            auth.change("identity.unlink", move |tx| {
                logins::unlink(tx, &person.id, &provider, &subject)?;
                audit::write(
                    tx,
                    &DerivedIds::new(seed),
                    &person.nickname,
                    "login.unlink",
                    &person.nickname,
                    &provider,
                )
            })
            .await
        }
        "end" => {
            let id = field("id");
            auth.change("identity.end_one", move |tx| {
                if !sessions::end_one(tx, &person.id, &id)? {
                    return Err(gone());
                }
                Ok(())
            })
            .await
        }
        "revoke" => {
            let id = field("id");
            auth.change("identity.revoke_grant", move |tx| {
                if !grants::revoke_own(tx, &person.id, &id)? {
                    return Err(gone());
                }
                audit::write(
                    tx,
                    &DerivedIds::new(seed),
                    &person.nickname,
                    "grant.revoke",
                    &person.nickname,
                    &id,
                )
            })
            .await
        }
        "password-remove" => {
            let own = session.id.clone();
            auth.change("identity.remove_password", move |tx| {
                passwords::remove(tx, &person.id)?;
                end_others(tx, &person.id, &own)?;
                audit::write(
                    tx,
                    &DerivedIds::new(seed),
                    &person.nickname,
                    "password.remove",
                    &person.nickname,
                    "",
                )
            })
            .await
        }
        "passkey-name" => passkey::own::rename(auth, session, fields).await,
        "passkey-remove" => passkey::own::remove(auth, session, fields).await,
        "password" => password(auth, session, field("current"), field("password")).await,
        _ => Err(Fault::of(Kind::NotFound, "the account page has no such button; reload it")),
    }
}

/// Whom the operator let in may have lost the password.
fn came_by_link(session: &Session) -> bool {
    session.provider == entry_links::PROVIDER
}

/// A new password ends every other browser: whoever had the old one is out.
async fn password(auth: &Auth, session: &Session, current: String, new: String) -> Result<(), Fault> {
    if !auth.config.local {
        return Err(Fault::of(Kind::Forbidden, "this server has no passwords"));
    }
    passwords::check(&new)?;
    attempt(auth, &format!("sign-in|{}", session.person.nickname), limits::PASSWORDS_OF_NICKNAME).await?;
    let id = session.person.id.clone();
    let stored = auth.house.store.read(move |tx| passwords::get(tx, &id)).await?;
    let (ids, is_reset) = (Arc::clone(&auth.house.ids), came_by_link(session));
    let work = tokio::task::spawn_blocking(move || {
        if !is_reset && stored.is_some() && !passwords::matches(stored.as_deref(), &current) {
            return Err(Fault::of(Kind::Unauthenticated, "the password now is another one; type it again"));
        }
        passwords::hash(ids.as_ref(), &new)
    });
    let hash = work.await.map_err(Fault::internal)??;
    let (person, own, seed) = (session.person.clone(), session.id.clone(), auth.house.ids.seed());
    let set = auth.change("identity.set_password", move |tx| {
        // The operator's link opens this once, also of two that press at once.
        if entry_links::settle(tx, &own)? != is_reset {
            return Err(Fault::of(
                Kind::Unauthenticated,
                "the password was set just now; type it as the one now",
            ));
        }
        passwords::set(tx, &person.id, &hash)?;
        end_others(tx, &person.id, &own)?;
        audit::write(tx, &DerivedIds::new(seed), &person.nickname, "password.set", &person.nickname, "")
    });
    set.await?;
    Ok(())
}

/// Ends every browser of a person but one.
pub(super) fn end_others(tx: &mut dyn Tx, person: &str, own: &str) -> Result<(), Fault> {
    for other in sessions::list(tx, person)? {
        if other.id != own {
            sessions::end_one(tx, person, &other.id)?;
        }
    }
    Ok(())
}
