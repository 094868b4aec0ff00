//! The passkeys of whoever is signed in: a further one, another name for one, and its end.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Response, request::Parts};
use identity::{
    audit,
    ceremonies::Purpose,
    entry_links,
    passkeys::{self as kept, NewPasskey, PASSKEYS_MAX},
    sessions::Session,
};
use kernel::{Fault, Kind, id::DerivedIds};

use super::ceremony::{self, answer_of};
use crate::{
    auth::{
        Auth, account,
        browser::Browser,
        forms::{self, Fields},
        page::{self, go, told, with_back},
    },
    web::seats::Peer,
};

const BEGIN: &str = "/account/passkey/begin";
const FINISH: &str = "/account/passkey/finish";
const ACCOUNT: &str = "/account";
/// What a passkey is called until its owner says something better.
pub(super) const FIRST_LABEL: &str = "my passkey";

pub(in crate::auth) async fn begin(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    let peer = request.extensions().get::<Peer>().copied();
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return ceremony::refused(&auth, &parts, &fault, BEGIN),
    };
    match ask(&auth, &parts, peer, &browser, &fields).await {
        Ok(response) => response,
        Err(fault) => ceremony::refused(&auth, &parts, &fault, BEGIN),
    }
}

async fn ask(
    auth: &Auth,
    parts: &Parts,
    peer: Option<Peer>,
    browser: &Browser,
    fields: &Fields,
) -> Result<Response<Body>, Fault> {
    let party = ceremony::party(auth, parts)?;
    let session = browser
        .person()
        .ok_or_else(|| Fault::of(Kind::Unauthenticated, "you are not signed in any more; sign in again"))?;
    ceremony::count(auth, peer).await?;
    label(fields)?;
    let id = session.person.id.clone();
    let known = auth.house.store.read(move |tx| kept::of(tx, &id)).await?;
    if i64::try_from(known.len()).map_err(Fault::internal)? >= PASSKEYS_MAX {
        return Err(Fault::of(
            Kind::Conflict,
            format!("you have {PASSKEYS_MAX} passkeys, the most allowed; remove one first"),
        ));
    }
    let known = known.into_iter().map(|passkey| passkey.credential).collect();
    let asked = party.ask_to_make(&session.person.id, &session.person.nickname, known)?;
    ceremony::begin(auth, browser, asked, Purpose::Add { person: session.person.id.clone() }, BEGIN).await
}

pub(in crate::auth) async fn finish(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(FINISH)),
    };
    let Some(session) = browser.person().cloned() else {
        return go(&with_back("/sign-in", ACCOUNT), told(FINISH));
    };
    match add(&auth, &parts, &browser, &session, &fields).await {
        Ok(()) => go(ACCOUNT, told(FINISH)),
        Err(fault) => account::again(&auth, &parts, &fault).await,
    }
}

async fn add(
    auth: &Auth,
    parts: &Parts,
    browser: &Browser,
    session: &Session,
    fields: &Fields,
) -> Result<(), Fault> {
    let party = ceremony::party(auth, parts)?;
    let begun = ceremony::take(auth, browser, fields).await?;
    let (person, own) = (session.person.clone(), session.id.clone());
    // Somebody else may have signed in since.
    if begun.purpose != (Purpose::Add { person: person.id.clone() }) {
        return Err(ceremony::over());
    }
    let label = label(fields)?;
    let made = party.made(&begun.state, answer_of(fields))?;
    let (id, seed) = (auth.house.ids.slug(), auth.house.ids.seed());
    let passkey = NewPasskey { id, credential: made.credential, key: made.key, label };
    let add = auth.change("identity.add_passkey", move |tx| {
        kept::add(tx, &person.id, &passkey)?;
        entry_links::settle(tx, &own)?;
        let nickname = &person.nickname;
        audit::write(tx, &DerivedIds::new(seed), nickname, "passkey.add", nickname, &passkey.label)
    });
    add.await
}

/// Calls one something else.
pub(in crate::auth) async fn rename(auth: &Auth, session: &Session, fields: &Fields) -> Result<(), Fault> {
    let (person, seed) = (session.person.clone(), auth.house.ids.seed());
    let (id, label) = (fields.owned("id").unwrap_or_default(), label(fields)?);
    let rename = auth.change("identity.rename_passkey", move |tx| {
        kept::rename(tx, &person.id, &id, &label)?;
        let nickname = &person.nickname;
        audit::write(tx, &DerivedIds::new(seed), nickname, "passkey.rename", nickname, &label)
    });
    rename.await
}

/// Removes one, and ends every other browser: whoever had it is out.
pub(in crate::auth) async fn remove(auth: &Auth, session: &Session, fields: &Fields) -> Result<(), Fault> {
    let (person, own, seed) = (session.person.clone(), session.id.clone(), auth.house.ids.seed());
    let id = fields.owned("id").unwrap_or_default();
    let remove = auth.change("identity.remove_passkey", move |tx| {
        let label = kept::remove(tx, &person.id, &id)?;
        account::end_others(tx, &person.id, &own)?;
        let nickname = &person.nickname;
        audit::write(tx, &DerivedIds::new(seed), nickname, "passkey.remove", nickname, &label)
    });
    remove.await
}

fn label(fields: &Fields) -> Result<String, Fault> {
    kept::label(fields.get("label").unwrap_or_default())
}
