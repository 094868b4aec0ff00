//! Signing up with a nickname and a passkey. Nobody is made before the passkey is.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{Response, request::Parts};
use identity::{
    audit,
    ceremonies::Purpose,
    passkeys::{self as kept, NewPasskey},
    people,
    sessions::{self, NewSession},
};
use kernel::{Fault, Kind, id::DerivedIds};

use super::{
    ceremony::{self, answer_of},
    own,
};
use crate::{
    auth::{
        Auth,
        browser::Browser,
        forms::{self, Fields},
        limits,
        page::{self, told},
        sign_in::{agent, attempt, signed_in},
        sign_up,
    },
    web::seats::{Peer, counted},
};

const BEGIN: &str = "/sign-up/passkey/begin";
const FINISH: &str = "/sign-up/passkey/finish";

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
    sign_up::check_open(auth)?;
    ceremony::count(auth, peer).await?;
    let nickname = sign_up::chosen(fields)?;
    // A passkey under a nickname that is taken would only be in the way on the device.
    let looked = nickname.clone();
    if auth.house.store.read(move |tx| people::find(tx, &looked)).await?.is_some() {
        return Err(Fault::of(Kind::Conflict, format!("the nickname {nickname} is taken; choose another")));
    }
    let person = auth.house.ids.slug();
    let asked = party.ask_to_make(&person, &nickname, Vec::new())?;
    ceremony::begin(auth, browser, asked, Purpose::SignUp { person, nickname }, BEGIN).await
}

pub(in crate::auth) async fn finish(State(auth): State<Arc<Auth>>, request: Request) -> Response<Body> {
    let peer = request.extensions().get::<Peer>().copied();
    let (parts, browser, fields) = match forms::own(&auth, request).await {
        Ok(own) => own,
        Err((parts, fault)) => return page::refused(&auth, &parts, &fault, told(FINISH)),
    };
    let back = page::back(fields.get("back"));
    match join(&auth, &parts, peer, &browser, &fields).await {
        Ok(session) => signed_in(&auth, &browser, &session, &back),
        Err(fault) => {
            let nickname = fields.get("nickname").unwrap_or_default();
            page::again(sign_up::form(&auth, &parts, &browser, &back, nickname, None, Some(&fault)), &fault)
        }
    }
}

async fn join(
    auth: &Auth,
    parts: &Parts,
    peer: Option<Peer>,
    browser: &Browser,
    fields: &Fields,
) -> Result<NewSession, Fault> {
    let party = ceremony::party(auth, parts)?;
    sign_up::check_open(auth)?;
    let begun = ceremony::take(auth, browser, fields).await?;
    let Purpose::SignUp { person: id, nickname } = begun.purpose else { return Err(ceremony::over()) };
    let made = party.made(&begun.state, answer_of(fields))?;
    if let Some(address) = peer.and_then(|peer| counted(peer.0)) {
        attempt(auth, &format!("sign-up|{address}"), limits::SIGN_UPS_OF_ADDRESS).await?;
    }
    let ids = auth.house.ids.as_ref();
    let session = NewSession::draw(ids, sessions::LOCAL, agent(parts));
    let passkey = NewPasskey {
        id: ids.slug(),
        credential: made.credential,
        key: made.key,
        label: own::FIRST_LABEL.to_owned(),
    };
    let (seed, stored, enrol) = (ids.seed(), session.clone(), Arc::clone(&auth.config.enrol));
    let join = auth.change("identity.sign_up", move |tx| {
        let ids = DerivedIds::new(seed);
        let person = people::create(tx, &id, &nickname)?;
        enrol(tx, &ids, &person)?;
        kept::add(tx, &person.id, &passkey)?;
        audit::write(tx, &ids, &person.nickname, "user.sign_up", &person.nickname, "local, by a passkey")?;
        sessions::insert(tx, &person.id, &stored)
    });
    join.await?;
    Ok(session)
}
