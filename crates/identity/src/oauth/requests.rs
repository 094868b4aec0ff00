//! What a client asked for, kept here while the person reads it, so that nothing of it travels through pages.

use kernel::{
    Fault,
    tx::{Row, Tx},
};

use crate::secret;

kernel::statements! {
    ADD = "INSERT INTO oauth_request (hash, client, client_name, redirect_uri, state, challenge, resource, scope, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    GET = "SELECT client, client_name, redirect_uri, state, challenge, resource, scope, expires_ms FROM oauth_request WHERE hash = $1";
    TAKE = "DELETE FROM oauth_request WHERE hash = $1";
    EXPIRED = "DELETE FROM oauth_request WHERE expires_ms <= $1";
}

/// How long a person may think, a sign-up included.
pub const REQUEST_MS: i64 = 60 * 60_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthRequest {
    pub client: String,
    pub client_name: String,
    pub redirect_uri: String,
    pub state: Option<String>,
    /// The S256 challenge.
    pub challenge: String,
    pub resource: String,
    /// Scopes separated by spaces, ascending.
    pub scope: String,
}

/// Keeps a request under the ticket that the person's browser carries.
pub fn insert(tx: &mut dyn Tx, ticket: &str, request: &AuthRequest) -> Result<(), Fault> {
    let expires = tx.real_ms() + REQUEST_MS;
    let args = [
        secret::hash(ticket).as_slice().into(),
        (&request.client).into(),
        (&request.client_name).into(),
        (&request.redirect_uri).into(),
        request.state.as_deref().into(),
        (&request.challenge).into(),
        (&request.resource).into(),
        (&request.scope).into(),
        expires.into(),
    ];
    tx.exec(&ADD, &args).map(|_| ())
}

pub fn get(tx: &mut dyn Tx, ticket: &str) -> Result<Option<AuthRequest>, Fault> {
    let real = tx.real_ms();
    let Some(row) = tx.row(&GET, &[secret::hash(ticket).as_slice().into()])? else { return Ok(None) };
    if row.i64(7)? <= real { Ok(None) } else { request(&row).map(Some) }
}

fn request(row: &Row) -> Result<AuthRequest, Fault> {
    Ok(AuthRequest {
        client: row.text(0)?,
        client_name: row.text(1)?,
        redirect_uri: row.text(2)?,
        state: row.opt_text(3)?,
        challenge: row.text(4)?,
        resource: row.text(5)?,
        scope: row.text(6)?,
    })
}

/// Takes a request away; whether it was still there. It is answered once.
pub fn take(tx: &mut dyn Tx, ticket: &str) -> Result<bool, Fault> {
    Ok(tx.exec(&TAKE, &[secret::hash(ticket).as_slice().into()])? == 1)
}

/// Deletes what nobody answered; answers how many.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&EXPIRED, &[real.into()])
}
