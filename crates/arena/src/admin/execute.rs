//! Runs an admin request against an open store: the one function behind the socket and the command.

use identity::{
    audit, entry_links,
    keys::{self, KeyInfo, NewKey},
    people,
};
use kernel::{
    Fault, Moment,
    id::Ids,
    tx::{Command, Verdict},
};
use store::Store;

use super::{
    person::{CreateKey, CreatePerson, LinkPerson, RevokeKey, SignOutPerson, SwitchPerson},
    request::{
        AdminRequest, AdminResponse, AuditEntry, CreatedKey, CreatedUser, EntryLink, Examined, Key, Refusal,
        User,
    },
};
use crate::doctor::store_checks;

/// What the person's lists call keys that an administrator made.
const KEY_LABEL: &str = "arena admin";

/// What administration needs beside the request.
#[derive(Clone)]
pub(crate) struct Office {
    pub(crate) store: Store,
    pub(crate) ids: std::sync::Arc<dyn Ids>,
    pub(crate) opening_points: i64,
    /// The address by which people open the arena.
    pub(crate) public_url: url::Url,
    /// Where the server listens, when this is one.
    pub(crate) server: Option<String>,
}

impl Office {
    /// Answers one request; a fault becomes a refusal.
    pub(crate) async fn answer(&self, request: AdminRequest) -> AdminResponse {
        match self.execute(request).await {
            Ok(response) => response,
            Err(fault) => AdminResponse::Refused(Refusal::from(fault)),
        }
    }

    async fn execute(&self, request: AdminRequest) -> Result<AdminResponse, Fault> {
        Ok(match request {
            AdminRequest::UserCreate { nickname, scopes, expires_in_days } => {
                let key = self.draw(&scopes, expires_in_days)?;
                let api_key = key.token.clone();
                let command = CreatePerson::new(&*self.ids, &nickname, key, self.opening_points);
                let (person, key) = self.run(command).await?;
                AdminResponse::UserCreated(CreatedUser {
                    user_id: person.id,
                    nickname: person.nickname,
                    api_key,
                    scopes: key.scopes,
                    expires_at: key.expires_at,
                })
            }
            AdminRequest::UserList => {
                let people = self.store.read(|tx| people::list(tx)).await?;
                AdminResponse::Users(people.into_iter().map(user).collect())
            }
            AdminRequest::KeyCreate { nickname, scopes, expires_in_days } => {
                let key = self.draw(&scopes, expires_in_days)?;
                let api_key = key.token.clone();
                let (person, key) = self.run(CreateKey { nickname, key, seed: self.ids.seed() }).await?;
                AdminResponse::KeyCreated(CreatedKey {
                    key_id: key.id,
                    nickname: person.nickname,
                    api_key,
                    scopes: key.scopes,
                    expires_at: key.expires_at,
                })
            }
            AdminRequest::KeyList { nickname } => {
                let found = self.store.read(move |tx| {
                    let person = people::get(tx, &nickname)?;
                    Ok((keys::list(tx, &person)?, Moment::from_millis(tx.real_ms())))
                });
                let (keys, real) = found.await?;
                AdminResponse::Keys(keys.into_iter().map(|key| shown(key, real)).collect())
            }
            AdminRequest::KeyRevoke { nickname, key } => {
                let revoked = self.run(RevokeKey { nickname, key, seed: self.ids.seed() }).await?;
                let at = revoked.revoked_at.unwrap_or(revoked.created_at);
                AdminResponse::KeyRevoked(shown(revoked, at))
            }
            AdminRequest::UserSwitch { nickname, disabled } => {
                let switch = SwitchPerson { nickname, disabled, seed: self.ids.seed() };
                AdminResponse::UserSwitched(user(self.run(switch).await?))
            }
            AdminRequest::UserSignOut { nickname } => {
                let sign_out = SignOutPerson { nickname, seed: self.ids.seed() };
                AdminResponse::UserSignedOut(self.run(sign_out).await?)
            }
            AdminRequest::UserLink { nickname } => {
                let link = entry_links::draw(&*self.ids);
                let mut url = self.public_url.clone();
                url.set_path("/sign-in/link");
                url.query_pairs_mut().append_pair("link", &link);
                let (person, expires_at) =
                    self.run(LinkPerson { nickname, link, seed: self.ids.seed() }).await?;
                AdminResponse::UserLinked(EntryLink {
                    nickname: person.nickname,
                    url: url.into(),
                    expires_at,
                })
            }
            AdminRequest::Audit { before, limit } => {
                let read = self.store.read(move |tx| audit::newest(tx, before.as_deref(), limit));
                AdminResponse::Audited(read.await?.into_iter().map(act).collect())
            }
            AdminRequest::Check => {
                let server = self.server.clone();
                let checks = store_checks::run(&self.store, server.is_some()).await;
                AdminResponse::Checks(Examined { checks, server })
            }
        })
    }

    fn draw(&self, scopes: &[String], expires_in_days: Option<i64>) -> Result<NewKey, Fault> {
        NewKey::draw(&*self.ids, KEY_LABEL, scopes, expires_in_days)
    }

    async fn run<T: Send + 'static>(&self, command: impl Command<Out = T> + 'static) -> Result<T, Fault> {
        match self.store.write(Box::new(command)).await? {
            Verdict::Done(out) => Ok(out),
            Verdict::Refused(fault) => Err(fault),
        }
    }
}

fn user(person: people::Person) -> User {
    User {
        id: person.id,
        nickname: person.nickname,
        created_at: person.created_at,
        disabled: person.disabled_at.is_some(),
    }
}

fn act(entry: audit::Entry) -> AuditEntry {
    let audit::Entry { id, at, actor, act, subject, detail } = entry;
    AuditEntry { id, at, actor, act, subject, detail }
}

fn shown(key: KeyInfo, real: Moment) -> Key {
    Key {
        status: key.status(real).to_owned(),
        id: key.id,
        prefix: key.prefix,
        scopes: key.scopes,
        created_at: key.created_at,
        expires_at: key.expires_at,
        revoked_at: key.revoked_at,
    }
}
