//! What people allowed clients to do, and the one-time codes that prove it.

use kernel::{
    Fault, Moment,
    tx::{Row, Tx},
};

use super::requests::AuthRequest;
use crate::{people::Person, secret};

kernel::statements! {
    ADD = "INSERT INTO oauth_grant (id, person, client, client_name, resource, scope, provider, created_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    ADD_CODE = "INSERT INTO oauth_code (hash, grant_id, redirect_uri, challenge, expires_ms) VALUES ($1, $2, $3, $4, $5)";
    CODE = "SELECT c.grant_id, g.client, g.resource, c.redirect_uri, c.challenge, c.expires_ms, c.used_ms, g.revoked_ms FROM oauth_code c JOIN oauth_grant g ON g.id = c.grant_id WHERE c.hash = $1";
    USE_CODE = "UPDATE oauth_code SET used_ms = $2 WHERE hash = $1 AND used_ms IS NULL";
    REVOKE = "UPDATE oauth_grant SET revoked_ms = $2 WHERE id = $1 AND revoked_ms IS NULL";
    REVOKE_OWN = "UPDATE oauth_grant SET revoked_ms = $3 WHERE person = $1 AND id = $2 AND revoked_ms IS NULL";
    REVOKE_ALL = "UPDATE oauth_grant SET revoked_ms = $2 WHERE person = $1 AND revoked_ms IS NULL";
    LIST = "SELECT id, client, client_name, scope, created_ms FROM oauth_grant g WHERE person = $1 AND revoked_ms IS NULL AND expires_ms > $2 AND EXISTS (SELECT 1 FROM oauth_token t WHERE t.grant_id = g.id) ORDER BY created_ms, id LIMIT $3";
    OLD_CODES = "DELETE FROM oauth_code WHERE grant_id IN (SELECT id FROM oauth_grant WHERE expires_ms <= $1)";
    OLD = "DELETE FROM oauth_grant WHERE expires_ms <= $1 AND NOT EXISTS (SELECT 1 FROM oauth_token t WHERE t.grant_id = oauth_grant.id) AND NOT EXISTS (SELECT 1 FROM oauth_code c WHERE c.grant_id = oauth_grant.id)";
}

/// A code is fetched by a program at once.
pub const CODE_MS: i64 = 60_000;
/// After this a person is asked again, however often the tokens were renewed.
pub const GRANT_MS: i64 = 365 * 24 * 3_600_000;
/// The grants that a list shows.
pub const LIST_MAX: i64 = 200;

/// Why a code or a refresh token is not taken. Codes of RFC 6749, 5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotGranted {
    /// Unknown, expired, used, or of another client or address.
    Invalid(&'static str),
    /// The resource is not the one that was granted (RFC 8707).
    Target,
}

/// A grant as its person sees it in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantInfo {
    pub id: String,
    pub client: String,
    pub client_name: String,
    pub scope: String,
    pub created_at: Moment,
}

/// Writes down what a person allowed, and the code that proves it.
pub fn allow(
    tx: &mut dyn Tx,
    id: &str,
    code: &str,
    person: &Person,
    provider: &str,
    request: &AuthRequest,
) -> Result<(), Fault> {
    let real = tx.real_ms();
    let grant = [
        id.into(),
        (&person.id).into(),
        (&request.client).into(),
        (&request.client_name).into(),
        (&request.resource).into(),
        (&request.scope).into(),
        provider.into(),
        real.into(),
        (real + GRANT_MS).into(),
    ];
    tx.exec(&ADD, &grant)?;
    let code = [
        secret::hash(code).as_slice().into(),
        id.into(),
        (&request.redirect_uri).into(),
        (&request.challenge).into(),
        (real + CODE_MS).into(),
    ];
    tx.exec(&ADD_CODE, &code).map(|_| ())
}

/// What a client presents with a code.
#[derive(Debug, Clone)]
pub struct Redeeming {
    pub code: String,
    pub client: String,
    pub redirect_uri: Option<String>,
    pub verifier: String,
    pub resource: Option<String>,
}

/// The grant that a code proves. A code that comes back is stolen from somebody: everything that came of it
/// is revoked, and that stays so although the request is refused.
pub fn redeem(tx: &mut dyn Tx, redeeming: &Redeeming) -> Result<Result<String, NotGranted>, Fault> {
    let hash = secret::hash(&redeeming.code);
    let Some(row) = tx.row(&CODE, &[hash.as_slice().into()])? else {
        return Ok(Err(NotGranted::Invalid("the code is unknown; begin anew at the authorization endpoint")));
    };
    let found = Code::of(&row)?;
    tx.lock(&[format!("grant:{}", found.grant)])?;
    // The lock may have waited for another request with the same code.
    let Some(row) = tx.row(&CODE, &[hash.as_slice().into()])? else {
        return Ok(Err(NotGranted::Invalid("the code is unknown; begin anew at the authorization endpoint")));
    };
    let found = Code::of(&row)?;
    let real = tx.real_ms();
    if found.client != redeeming.client {
        return Ok(Err(NotGranted::Invalid("the code was given to another client")));
    }
    if found.used {
        revoke(tx, &found.grant)?;
        return Ok(Err(NotGranted::Invalid(
            "the code was used before, so that everything that came of it is revoked; begin anew",
        )));
    }
    if found.expires_ms <= real {
        return Ok(Err(NotGranted::Invalid(
            "the code has expired; begin anew at the authorization endpoint",
        )));
    }
    if found.revoked {
        return Ok(Err(NotGranted::Invalid(
            "the grant was revoked; begin anew at the authorization endpoint",
        )));
    }
    // OAuth 2.1 dropped the parameter; a client that sends it must send the same.
    if redeeming.redirect_uri.as_ref().is_some_and(|uri| *uri != found.redirect_uri) {
        return Ok(Err(NotGranted::Invalid("redirect_uri is not the one of the authorization request")));
    }
    if secret::challenge(&redeeming.verifier) != found.challenge {
        return Ok(Err(NotGranted::Invalid("code_verifier does not match the code_challenge")));
    }
    if redeeming.resource.as_ref().is_some_and(|resource| *resource != found.resource) {
        return Ok(Err(NotGranted::Target));
    }
    tx.exec(&USE_CODE, &[hash.as_slice().into(), real.into()])?;
    Ok(Ok(found.grant))
}

struct Code {
    grant: String,
    client: String,
    resource: String,
    redirect_uri: String,
    challenge: String,
    expires_ms: i64,
    used: bool,
    revoked: bool,
}

impl Code {
    fn of(row: &Row) -> Result<Self, Fault> {
        Ok(Self {
            grant: row.text(0)?,
            client: row.text(1)?,
            resource: row.text(2)?,
            redirect_uri: row.text(3)?,
            challenge: row.text(4)?,
            expires_ms: row.i64(5)?,
            used: row.opt_i64(6)?.is_some(),
            revoked: row.opt_i64(7)?.is_some(),
        })
    }
}

/// Revokes a grant and with it all its tokens.
pub fn revoke(tx: &mut dyn Tx, grant: &str) -> Result<(), Fault> {
    let real = tx.real_ms();
    tx.exec(&REVOKE, &[grant.into(), real.into()]).map(|_| ())
}

/// Revokes a grant of a person; whether there was one.
pub fn revoke_own(tx: &mut dyn Tx, person: &str, grant: &str) -> Result<bool, Fault> {
    let real = tx.real_ms();
    Ok(tx.exec(&REVOKE_OWN, &[person.into(), grant.into(), real.into()])? == 1)
}

pub fn revoke_all(tx: &mut dyn Tx, person: &str) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&REVOKE_ALL, &[person.into(), real.into()])
}

/// What is allowed now, oldest first.
pub fn list(tx: &mut dyn Tx, person: &str) -> Result<Vec<GrantInfo>, Fault> {
    let real = tx.real_ms();
    let info = |row: &Row| {
        Ok(GrantInfo {
            id: row.text(0)?,
            client: row.text(1)?,
            client_name: row.text(2)?,
            scope: row.text(3)?,
            created_at: row.moment(4)?,
        })
    };
    tx.rows(&LIST, &[person.into(), real.into(), LIST_MAX.into()])?.iter().map(info).collect()
}

/// Deletes what has ended for good; answers how many.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&OLD_CODES, &[real.into()])?;
    tx.exec(&OLD, &[real.into()])
}
