//! Access tokens and refresh tokens: opaque, kept as hashes, one family a grant.

use chacha20poly1305::{
    XChaCha20Poly1305, XNonce,
    aead::{Aead, KeyInit},
};
use kernel::{Fault, Kind, id::Ids, principal::Principal, tx::Tx};
use sha2::{Digest, Sha256};

use super::{
    ACCESS_PREFIX, REFRESH_PREFIX,
    grants::{self, NotGranted},
};
use crate::secret;

kernel::statements! {
    ADD = "INSERT INTO oauth_token (hash, grant_id, kind, created_ms, expires_ms) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (hash) DO NOTHING";
    CHECK = "SELECT p.id, p.nickname, p.disabled_ms, g.scope, g.resource, g.provider, g.revoked_ms, t.expires_ms, p.providers FROM oauth_token t JOIN oauth_grant g ON g.id = t.grant_id JOIN person p ON p.id = g.person WHERE t.hash = $1 AND t.kind = 'ACCESS'";
    REFRESH = "SELECT t.grant_id, t.expires_ms, t.rotated_ms, t.successor, g.client, g.resource, g.scope, g.revoked_ms, g.expires_ms, p.disabled_ms FROM oauth_token t JOIN oauth_grant g ON g.id = t.grant_id JOIN person p ON p.id = g.person WHERE t.hash = $1 AND t.kind = 'REFRESH'";
    ROTATE = "UPDATE oauth_token SET rotated_ms = $2, successor = $3 WHERE hash = $1";
    FORGET = "UPDATE oauth_token SET successor = NULL WHERE successor IS NOT NULL AND rotated_ms < $1";
    GRANT = "SELECT t.grant_id, g.client FROM oauth_token t JOIN oauth_grant g ON g.id = t.grant_id WHERE t.hash = $1";
    GRANT_SCOPE = "SELECT scope, expires_ms FROM oauth_grant WHERE id = $1";
    END = "DELETE FROM oauth_token WHERE hash = $1 AND kind = 'ACCESS'";
    EXPIRED = "DELETE FROM oauth_token WHERE expires_ms <= $1";
}

pub const ACCESS_MS: i64 = 3_600_000;
/// How long a refresh token lasts without being used.
pub const REFRESH_MS: i64 = 30 * 24 * 3_600_000;
/// For so long a refresh token that was used is answered as if it were not: its answer may have been lost,
/// or several processes of one client may have used it at once.
pub const GRACE_MS: i64 = 60_000;

/// Secrets for an answer, drawn before the command that stores them.
#[derive(Clone)]
pub struct NewTokens {
    pub access: String,
    pub refresh: String,
    nonce: [u8; 24],
}

impl NewTokens {
    pub fn draw(ids: &dyn Ids) -> Self {
        let mut nonce = [0; 24];
        ids.fill(&mut nonce);
        Self { access: secret::draw(ids, ACCESS_PREFIX), refresh: secret::draw(ids, REFRESH_PREFIX), nonce }
    }
}

/// What the token endpoint answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    pub access: String,
    pub refresh: String,
    pub scope: String,
    pub expires_in_seconds: i64,
}

/// The first tokens of a grant.
pub fn issue(tx: &mut dyn Tx, grant: &str, new: &NewTokens) -> Result<Issued, Fault> {
    let row =
        tx.row(&GRANT_SCOPE, &[grant.into()])?.ok_or_else(|| Fault::internal("a code without a grant"))?;
    let (scope, ends) = (row.text(0)?, row.i64(1)?);
    let real = tx.real_ms();
    add(tx, &new.access, grant, "ACCESS", (real + ACCESS_MS).min(ends))?;
    add(tx, &new.refresh, grant, "REFRESH", (real + REFRESH_MS).min(ends))?;
    Ok(Issued {
        access: new.access.clone(),
        refresh: new.refresh.clone(),
        scope,
        expires_in_seconds: (ACCESS_MS.min(ends - real) / 1000).max(0),
    })
}

fn add(tx: &mut dyn Tx, token: &str, grant: &str, kind: &'static str, expires: i64) -> Result<(), Fault> {
    let real = tx.real_ms();
    let args =
        [secret::hash(token).as_slice().into(), grant.into(), kind.into(), real.into(), expires.into()];
    tx.exec(&ADD, &args).map(|_| ())
}

/// What a client presents with a refresh token.
#[derive(Debug, Clone)]
pub struct Refreshing {
    pub token: String,
    pub client: String,
    pub resource: Option<String>,
    /// Scopes that are asked for; never more than were granted.
    pub scope: Option<String>,
}

/// New tokens for a refresh token, which is used up by it. Within the grace the same successor is answered
/// again; after it, somebody else has the token, and the whole family is revoked.
pub fn refresh(
    tx: &mut dyn Tx,
    refreshing: &Refreshing,
    new: &NewTokens,
) -> Result<Result<Issued, NotGranted>, Fault> {
    const UNKNOWN: NotGranted =
        NotGranted::Invalid("the refresh token is unknown or has expired; sign in again");
    let hash = secret::hash(&refreshing.token);
    let Some(row) = tx.row(&REFRESH, &[hash.as_slice().into()])? else { return Ok(Err(UNKNOWN)) };
    let grant = row.text(0)?;
    tx.lock(&[format!("grant:{grant}")])?;
    // The lock may have waited for another request with the same token.
    let Some(row) = tx.row(&REFRESH, &[hash.as_slice().into()])? else { return Ok(Err(UNKNOWN)) };
    let real = tx.real_ms();
    if row.text(4)? != refreshing.client {
        return Ok(Err(NotGranted::Invalid("the refresh token was given to another client")));
    }
    if row.opt_i64(7)?.is_some() || row.opt_i64(9)?.is_some() {
        return Ok(Err(NotGranted::Invalid("the grant was revoked; sign in again")));
    }
    if row.i64(1)? <= real || row.i64(8)? <= real {
        return Ok(Err(UNKNOWN));
    }
    if refreshing.resource.as_ref().is_some_and(|resource| Ok(resource) != row.text(5).as_ref()) {
        return Ok(Err(NotGranted::Target));
    }
    let granted = row.text(6)?;
    if refreshing.scope.as_ref().is_some_and(|asked| !is_within(asked, &granted)) {
        return Ok(Err(NotGranted::Invalid("scope asks for more than was granted; leave it out")));
    }
    let refresh = match row.opt_i64(2)? {
        None => {
            let sealed = seal(&refreshing.token, &new.refresh, &new.nonce)?;
            tx.exec(&ROTATE, &[hash.as_slice().into(), real.into(), sealed.into()])?;
            new.refresh.clone()
        }
        Some(rotated) if rotated + GRACE_MS > real => {
            let sealed =
                row.opt_blob(3)?.ok_or_else(|| Fault::internal("a rotated token without a successor"))?;
            open(&refreshing.token, &sealed)?
        }
        Some(_) => {
            grants::revoke(tx, &grant)?;
            return Ok(Err(NotGranted::Invalid(
                "the refresh token was used before, so that everything that came of it is revoked; sign in again",
            )));
        }
    };
    let ends = row.i64(8)?;
    add(tx, &new.access, &grant, "ACCESS", (real + ACCESS_MS).min(ends))?;
    add(tx, &refresh, &grant, "REFRESH", (real + REFRESH_MS).min(ends))?;
    Ok(Ok(Issued {
        access: new.access.clone(),
        refresh,
        scope: granted,
        expires_in_seconds: (ACCESS_MS.min(ends - real) / 1000).max(0),
    }))
}

/// Whether every scope of `asked` is in `granted`.
fn is_within(asked: &str, granted: &str) -> bool {
    asked.split_ascii_whitespace().all(|scope| {
        scope == "offline_access" || granted.split_ascii_whitespace().any(|known| known == scope)
    })
}

/// Only who presents the old token can read the new one; the database alone cannot.
fn seal(under: &str, token: &str, nonce: &[u8; 24]) -> Result<Vec<u8>, Fault> {
    let sealed = cipher(under)
        .encrypt(&XNonce::from(*nonce), token.as_bytes())
        .map_err(|_| Fault::internal("a token was not sealed"))?;
    Ok([nonce.as_slice(), &sealed].concat())
}

fn open(under: &str, sealed: &[u8]) -> Result<String, Fault> {
    let broken = || Fault::internal("a successor cannot be opened");
    let (nonce, sealed) = sealed.split_first_chunk::<24>().ok_or_else(broken)?;
    let opened = cipher(under).decrypt(&XNonce::from(*nonce), sealed).map_err(|_| broken())?;
    String::from_utf8(opened).map_err(|_| broken())
}

fn cipher(under: &str) -> XChaCha20Poly1305 {
    let key: [u8; 32] = Sha256::new().chain_update("arena successor\n").chain_update(under).finalize().into();
    XChaCha20Poly1305::new(&key.into())
}

/// Revokes what a token belongs to (RFC 7009): an access token alone, a refresh token with its family.
/// Unknown tokens and those of other clients are none of the caller's business.
pub fn revoke(tx: &mut dyn Tx, token: &str, client: Option<&str>) -> Result<(), Fault> {
    let hash = secret::hash(token);
    let Some(row) = tx.row(&GRANT, &[hash.as_slice().into()])? else { return Ok(()) };
    if client.is_some_and(|client| Ok(client) != row.text(1).as_deref()) {
        return Ok(());
    }
    if token.starts_with(ACCESS_PREFIX) {
        return tx.exec(&END, &[hash.as_slice().into()]).map(|_| ());
    }
    grants::revoke(tx, &row.text(0)?)
}

fn refuse(message: &str) -> Fault {
    Fault::of(Kind::Unauthenticated, message)
}

/// Who presents an access token, and for which resource it is.
pub fn authenticate(tx: &mut dyn Tx, token: &str) -> Result<Principal, Fault> {
    if !secret::is_shaped(token, ACCESS_PREFIX) {
        return Err(refuse(
            "the access token is cut off or altered; ask for a new one with the refresh token",
        ));
    }
    let row = tx
        .row(&CHECK, &[secret::hash(token).as_slice().into()])?
        .ok_or_else(|| refuse("the access token is unknown here; sign in again"))?;
    if row.opt_i64(2)?.is_some() {
        return Err(refuse("the account of this token is disabled; ask the operator"));
    }
    if row.opt_i64(6)?.is_some() {
        return Err(refuse("the access was revoked; sign in again"));
    }
    if row.i64(7)? <= tx.real_ms() {
        return Err(refuse("the access token has expired; ask for a new one with the refresh token"));
    }
    let words = |text: String| text.split_ascii_whitespace().map(str::to_owned).collect();
    Ok(Principal {
        person_id: row.text(0)?,
        nickname: row.text(1)?,
        scopes: words(row.text(3)?),
        provider: row.text(5)?,
        linked_providers: words(row.text(8)?),
        resource: Some(row.text(4)?),
        new_key: None,
    })
}

/// Deletes tokens that have expired, and successors past their grace; answers how many tokens.
pub fn prune(tx: &mut dyn Tx) -> Result<u64, Fault> {
    let real = tx.real_ms();
    tx.exec(&FORGET, &[(real - GRACE_MS).into()])?;
    tx.exec(&EXPIRED, &[real.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successor_opens_only_under_its_predecessor() {
        let sealed = seal("arena_rt_old", "arena_rt_new", &[9; 24]).unwrap();
        assert_eq!(open("arena_rt_old", &sealed).unwrap(), "arena_rt_new");
        assert!(open("arena_rt_other", &sealed).is_err());
        assert!(open("arena_rt_old", &sealed[..30]).is_err());
        assert!(open("arena_rt_old", &[]).is_err());
        assert!(!String::from_utf8_lossy(&sealed).contains("arena_rt"));
    }

    #[test]
    fn no_more_scopes_than_were_granted() {
        for (asked, ok) in
            [("", true), ("duels:play", true), ("duels:play offline_access", true), ("duels:play x", false)]
        {
            assert_eq!(is_within(asked, "duels:play"), ok, "{asked}");
        }
    }
}
