//! Signing in with a passkey. Nobody types a nickname: the authenticator says whose it is.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Response, request::Parts};
use identity::{
    audit,
    ceremonies::Purpose,
    passkeys::{self as kept, Held},
    sessions::{self, NewSession},
};
use kernel::{Fault, Kind, id::DerivedIds};
use passkeys::{Refused, RelyingParty};

use super::ceremony::{self, answer_of};
use crate::{
    auth::{
        Auth,
        browser::Browser,
        forms::{self, Fields},
        limits,
        page::{self, told},
        sign_in::{self, agent, attempt, signed_in},
    },
    web::seats::Peer,
};

const BEGIN: &str = "/sign-in/passkey/begin";
const FINISH: &str = "/sign-in/passkey/finish";

pub(in crate::auth) async fn begin(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    let peer = request.extensions().get::<Peer>().copied();
    let (parts, browser, _) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return ceremony::refused(&auth, &parts, &fault, BEGIN),
    };
    match ask(&auth, &parts, peer, &browser).await {
        Ok(response) => response,
        Err(fault) => ceremony::refused(&auth, &parts, &fault, BEGIN),
    }
}

async fn ask(
    auth: &Auth,
    parts: &Parts,
    peer: Option<Peer>,
    browser: &Browser,
) -> Result<Response<Body>, Fault> {
    let party = ceremony::party(auth, parts)?;
    ceremony::count(auth, peer).await?;
    ceremony::begin(auth, browser, party.ask_to_sign()?, Purpose::SignIn, BEGIN).await
}

pub(in crate::auth) async fn finish(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(FINISH)),
    };
    let back = page::back(fields.get("back"));
    match enter(&auth, &parts, &browser, &fields).await {
        Ok(session) => signed_in(&auth, &browser, &session, &back),
        Err(fault) => page::again(sign_in::form(&auth, &parts, &browser, &back, "", Some(&fault)), &fault),
    }
}

/// Checks the signature and opens a session.
async fn enter(auth: &Auth, parts: &Parts, browser: &Browser, fields: &Fields) -> Result<NewSession, Fault> {
    let party = ceremony::party(auth, parts)?;
    let begun = ceremony::take(auth, browser, fields).await?;
    if begun.purpose != Purpose::SignIn {
        return Err(ceremony::over());
    }
    let claim = RelyingParty::claim(answer_of(fields))?;
    let credential = claim.credential.clone();
    let found = auth.house.store.read(move |tx| kept::find(tx, &credential)).await?;
    let held = found.ok_or_else(|| {
        Fault::of(
            Kind::Unauthenticated,
            "nobody here has this passkey; sign in another way, or sign up with a new one",
        )
    })?;
    attempt(auth, &format!("passkey|{}", held.person.nickname), limits::PASSKEYS_OF_PERSON).await?;
    let key = match party.used(&begun.state, &claim, &held.person.id, &held.key) {
        Ok(key) => key,
        Err(refused) => {
            if matches!(refused, Refused::Copied) {
                warn(auth, &held).await?;
            }
            return Err(refused.into());
        }
    };
    if held.person.disabled_at.is_some() {
        return Err(Fault::of(Kind::Forbidden, "this account is disabled; ask the operator"));
    }
    let session = NewSession::draw(auth.house.ids.as_ref(), sessions::LOCAL, agent(parts));
    let stored = session.clone();
    let open = auth.change("identity.sign_in_by_passkey", move |tx| {
        if !kept::note_use(tx, &claim.credential, &held.key, &key)? {
            return Err(Fault::of(
                Kind::Conflict,
                "the passkey was used elsewhere at this moment; try again",
            ));
        }
        sessions::insert(tx, &held.person.id, &stored)
    });
    open.await?;
    Ok(session)
}

/// Writes down that there may be a copy of a passkey.
async fn warn(auth: &Auth, held: &Held) -> Result<(), Fault> {
    let (held, seed) = (held.clone(), auth.house.ids.seed());
    let write = auth.change("identity.passkey_copied", move |tx| {
        let nickname = &held.person.nickname;
        audit::write(tx, &DerivedIds::new(seed), nickname, "passkey.copied", nickname, &held.label)
    });
    write.await
}
