//! What all ceremonies share: where they may happen, how one begins, and that it ends once.

use axum::body::Body;
use http::{Response, StatusCode, request::Parts};
use identity::{
    ceremonies::{self, Ceremony, Purpose},
    secret,
};
use kernel::{Fault, Kind};
use passkeys::{Asked, RelyingParty};
use serde_json::{Value, json};

use crate::{
    answer,
    auth::{
        Auth,
        browser::Browser,
        forms::Fields,
        limits,
        page::{self, told},
        sign_in::attempt,
    },
    origin,
    web::seats::{Peer, counted},
};

/// Where passkeys are, as seen from the page that somebody has open.
pub(in crate::auth) enum Place<'a> {
    Here(&'a RelyingParty),
    /// The same server, at a name instead of a number.
    Elsewhere(&'a RelyingParty),
    /// Browsers have none at this server's address.
    Nowhere,
}

pub(in crate::auth) fn place<'a>(auth: &'a Auth, parts: &Parts) -> Place<'a> {
    match &auth.passkeys {
        None => Place::Nowhere,
        Some(party) if party.is_reached_by(origin::host(&parts.uri, &parts.headers)) => Place::Here(party),
        Some(party) => Place::Elsewhere(party),
    }
}

/// The server as browsers know it, where they do.
pub(super) fn party<'a>(auth: &'a Auth, parts: &Parts) -> Result<&'a RelyingParty, Fault> {
    match place(auth, parts) {
        Place::Here(party) => Ok(party),
        Place::Elsewhere(party) => Err(Fault::of(
            Kind::Forbidden,
            format!("passkeys need a name instead of an IP address; open {} instead", party.address()),
        )),
        Place::Nowhere => {
            Err(Fault::of(Kind::Forbidden, "this server has no passkeys; choose another way on its page"))
        }
    }
}

/// Counts what begins, from wherever it comes.
pub(super) async fn count(auth: &Auth, peer: Option<Peer>) -> Result<(), Fault> {
    match peer.and_then(|peer| counted(peer.0)) {
        Some(address) => attempt(auth, &format!("passkey|{address}"), limits::PASSKEYS_OF_ADDRESS).await,
        None => Ok(()),
    }
}

/// Keeps the first half and tells the script what to ask the authenticator.
pub(super) async fn begin(
    auth: &Auth,
    browser: &Browser,
    asked: Asked,
    purpose: Purpose,
    name: &'static str,
) -> Result<Response<Body>, Fault> {
    let options: Value = serde_json::from_str(&asked.options).map_err(Fault::internal)?;
    let ticket = secret::draw(auth.house.ids.as_ref(), "");
    let body = json!({"ticket": ticket, "options": options}).to_string();
    let ceremony = Ceremony { browser: browser.mark(), purpose, state: asked.state };
    let begin = auth.change("identity.begin_ceremony", move |tx| ceremonies::begin(tx, &ticket, &ceremony));
    begin.await?;
    Ok(answer::json(StatusCode::OK, body, told(name)))
}

/// The ceremony that a form ends. It counts once.
pub(super) async fn take(auth: &Auth, browser: &Browser, fields: &Fields) -> Result<Ceremony, Fault> {
    let ticket = fields.get("ticket").filter(|ticket| secret::is_shaped(ticket, ""));
    let ticket = ticket.ok_or_else(over)?.to_owned();
    let mark = browser.mark();
    let take = auth.change("identity.take_ceremony", move |tx| ceremonies::take(tx, &ticket, &mark));
    take.await?.ok_or_else(over)
}

/// Why the second half finds no first one.
pub(super) fn over() -> Fault {
    Fault::of(
        Kind::Unauthenticated,
        "this use of a passkey is over, or began in another browser; press the button again",
    )
}

/// What the authenticator answered.
pub(super) fn answer_of(fields: &Fields) -> &str {
    fields.get("answer").unwrap_or_default()
}

/// A refusal for the script.
pub(super) fn refused(auth: &Auth, parts: &Parts, fault: &Fault, name: &'static str) -> Response<Body> {
    page::again(page::refused(auth, parts, fault, told(name)), fault)
}
