//! `/sign-up`: a permanent nickname, chosen once, for a local account or for somebody whom another issuer
//! vouches for.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Method, Response, request::Parts};
use identity::{
    audit,
    logins::{self, Newcomer},
    passwords, people,
    sessions::{self, NewSession},
};
use kernel::{
    Fault, Kind,
    id::DerivedIds,
    text::{NICKNAME_RULE, nickname},
};
use look::html;

use super::{
    Auth,
    browser::{Browser, Cookie},
    forms::{self, Fields},
    limits,
    page::{self, go, told},
    passkey,
    sign_in::{self, agent, signed_in},
};
use crate::web::seats::{Peer, counted};

const NAME: &str = "/sign-up";

pub(super) async fn serve(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let (parts, _) = request.into_parts();
        return match visit(&auth, &parts).await {
            Ok(response) => response,
            Err(fault) => page::refused(&auth, &parts, &fault, told(NAME)),
        };
    }
    let peer = request.extensions().get::<Peer>().copied();
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    let newcomer = match known(&auth, &parts).await {
        Ok(newcomer) => newcomer,
        Err(fault) => return page::refused(&auth, &parts, &fault, told(NAME)),
    };
    let back = newcomer.as_ref().map_or_else(|| page::back(fields.get("back")), |(_, new)| new.back.clone());
    match join(&auth, &parts, peer, newcomer.as_ref(), &fields).await {
        Ok(session) => signed_in(&auth, &browser, &session, &back),
        Err(fault) => {
            let nickname = fields.get("nickname").unwrap_or_default();
            let vouched = newcomer.as_ref().map(|(_, newcomer)| newcomer);
            page::again(form(&auth, &parts, &browser, &back, nickname, vouched, Some(&fault)), &fault)
        }
    }
}

async fn visit(auth: &Auth, parts: &Parts) -> Result<Response<Body>, Fault> {
    let browser = Browser::of(auth, &parts.headers).await?;
    let fields = Fields::of_query(parts).unwrap_or_default();
    let back = page::back(fields.get("back"));
    if browser.session.is_some() {
        return Ok(go(&back, told(NAME)));
    }
    let newcomer = known(auth, parts).await?.map(|(_, newcomer)| newcomer);
    let suggested = newcomer.as_ref().and_then(|newcomer| newcomer.suggested.clone()).unwrap_or_default();
    Ok(form(auth, parts, &browser, &back, &suggested, newcomer.as_ref(), None))
}

/// Whom another issuer vouches for, and the ticket by which the browser says so.
async fn known(auth: &Auth, parts: &Parts) -> Result<Option<(String, Newcomer)>, Fault> {
    let Some(ticket) = Cookie::Newcomer.of(auth, &parts.headers) else { return Ok(None) };
    let looked = ticket.clone();
    let newcomer = auth.house.store.read(move |tx| logins::newcomer(tx, &looked)).await?;
    Ok(newcomer.map(|newcomer| (ticket, newcomer)))
}

async fn join(
    auth: &Auth,
    parts: &Parts,
    peer: Option<Peer>,
    newcomer: Option<&(String, Newcomer)>,
    fields: &Fields,
) -> Result<NewSession, Fault> {
    check_open(auth)?;
    if newcomer.is_none() && !auth.config.local {
        return Err(Fault::of(
            Kind::Forbidden,
            "this server has no passwords; sign in with one of the buttons",
        ));
    }
    let ids = auth.house.ids.as_ref();
    let chosen = chosen(fields)?;
    let hash = if newcomer.is_some() { None } else { Some(new_password(auth, fields).await?) };
    if let Some(address) = peer.and_then(|peer| counted(peer.0)) {
        sign_in::attempt(auth, &format!("sign-up|{address}"), limits::SIGN_UPS_OF_ADDRESS).await?;
    }
    let provider = newcomer.map_or(sessions::LOCAL, |(_, newcomer)| newcomer.account.provider.as_str());
    let session = NewSession::draw(ids, provider, agent(parts));
    let (id, seed, stored) = (ids.slug(), ids.seed(), session.clone());
    let (newcomer, enrol, linked) =
        (newcomer.cloned(), Arc::clone(&auth.config.enrol), Arc::clone(&auth.config.linked));
    let join = auth.change("identity.sign_up", move |tx| {
        let ids = DerivedIds::new(seed);
        // A newcomer who is somebody by now came twice.
        if let Some((_, newcomer)) = &newcomer
            && logins::person_of(tx, &newcomer.account)?.is_some()
        {
            return Err(Fault::of(
                Kind::Conflict,
                "that account has a nickname by now; sign in with it again",
            ));
        }
        let person = people::create(tx, &id, &chosen)?;
        enrol(tx, &ids, &person)?;
        match (&newcomer, &hash) {
            (Some((ticket, newcomer)), _) => {
                logins::link(tx, &person, &newcomer.account)?;
                linked(tx, &person, &newcomer.account)?;
                logins::went(tx, ticket)?;
            }
            (None, Some(hash)) => passwords::set(tx, &person.id, hash)?,
            (None, None) => return Err(Fault::internal("a person without a way in")),
        }
        audit::write(tx, &ids, &person.nickname, "user.sign_up", &person.nickname, &stored.provider)?;
        sessions::insert(tx, &person.id, &stored)
    });
    join.await?;
    Ok(session)
}

/// Whether strangers may become people.
pub(super) fn check_open(auth: &Auth) -> Result<(), Fault> {
    if auth.config.open {
        return Ok(());
    }
    Err(Fault::of(Kind::Forbidden, "this server takes no new people; ask its operator for an account"))
}

/// The nickname that was chosen.
pub(super) fn chosen(fields: &Fields) -> Result<String, Fault> {
    nickname(fields.get("nickname").unwrap_or_default())
        .ok_or_else(|| Fault::invalid(format!("a nickname has {NICKNAME_RULE}; choose another")))
}

/// The hash of the password that was chosen.
async fn new_password(auth: &Auth, fields: &Fields) -> Result<String, Fault> {
    let password = fields.owned("password").unwrap_or_default();
    passwords::check(&password)?;
    if fields.get("password") != fields.get("repeated") {
        return Err(Fault::invalid("the two passwords differ; type the same twice"));
    }
    let ids = Arc::clone(&auth.house.ids);
    let hashing = tokio::task::spawn_blocking(move || passwords::hash(ids.as_ref(), &password));
    hashing.await.map_err(Fault::internal)?
}

pub(super) fn form(
    auth: &Auth,
    parts: &Parts,
    browser: &Browser,
    back: &str,
    nickname: &str,
    newcomer: Option<&Newcomer>,
    fault: Option<&Fault>,
) -> Response<Body> {
    let may = auth.config.open && (auth.config.local || newcomer.is_some());
    let main = html! {
        h1 { "Choose a nickname" }
        (page::problem(fault))
        @if may {
            p class="lead" {
                @if let Some(newcomer) = newcomer {
                    "You come as " b { bdi { (newcomer.account.label) } } ". "
                }
                "Your agent is called by this name for ever: 3 to 30 of the letters a to z, digits, - and _, first a letter."
            }
            @if newcomer.is_none() { (passkey::buttons::to_join(auth, parts, browser, back, nickname)) }
            form class="card" method="post" action="/sign-up" {
                (page::token(browser))
                input type="hidden" name="back" value=(back);
                label { "Nickname" input name="nickname" value=(nickname) autocomplete="username" autocapitalize="none" spellcheck="false" minlength="3" maxlength="30" required; }
                @if newcomer.is_none() {
                    label { "Password, at least " (passwords::CHARS.start()) " characters" input type="password" name="password" autocomplete="new-password" minlength=(passwords::CHARS.start()) required; }
                    label { "The same once more" input type="password" name="repeated" autocomplete="new-password" required; }
                }
                button class="main" { "Join" }
            }
        } @else {
            p class="lead" { "This server takes no new people this way. Ask its operator, or sign in." }
        }
        p { a href=(page::with_back("/sign-in", back)) { "I have an account" } }
    };
    page::show(auth, parts, browser, "Choose a nickname", &main, told(NAME))
}
