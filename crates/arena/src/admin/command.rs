//! `arena admin …`: asks, and prints the answer as words or as exactly one JSON document.

use super::{
    backup,
    request::{
        AdminRequest, AdminResponse, AuditEntry, CreatedKey, CreatedUser, EntryLink, Examined, Key,
        SignedOut, User,
    },
    route,
};
use crate::{
    cli::admin::{AdminCommand, KeyCommand, PersonArgs, UserCommand},
    config::layers::Loaded,
    exit::ExitCode,
    failure::Failure,
    output::{print, table},
};

pub(crate) async fn run(loaded: &Loaded, command: AdminCommand, as_json: bool) -> Result<ExitCode, Failure> {
    let request = match command {
        AdminCommand::Backup(args) => return backup::make::backup(loaded, &args.file, args.force, as_json),
        AdminCommand::Restore(args) => {
            return backup::restore::restore(loaded, &args.file, args.force, as_json);
        }
        AdminCommand::User(command) => wanted_of_user(command),
        AdminCommand::Key(command) => wanted_of_key(command),
        AdminCommand::Audit { limit, before, .. } => AdminRequest::Audit { before, limit },
    };
    match route::request(loaded, request).await? {
        AdminResponse::UserCreated(user) if as_json => print::json(&user)?,
        AdminResponse::UserCreated(user) => print::data(&created_user(&user)),
        AdminResponse::Users(users) if as_json => print::json(&users)?,
        AdminResponse::Users(users) => print::data(&user_table(&users)),
        AdminResponse::KeyCreated(key) if as_json => print::json(&key)?,
        AdminResponse::KeyCreated(key) => print::data(&created_key(&key)),
        AdminResponse::Keys(keys) if as_json => print::json(&keys)?,
        AdminResponse::Keys(keys) => print::data(&key_table(&keys)),
        AdminResponse::KeyRevoked(key) if as_json => print::json(&key)?,
        AdminResponse::KeyRevoked(key) => {
            print::data(&format!("revoked {} ({}…)\n", key.id, key.prefix));
        }
        AdminResponse::UserSwitched(user) if as_json => print::json(&user)?,
        AdminResponse::UserSwitched(user) => print::data(&user_table(&[user])),
        AdminResponse::UserSignedOut(out) if as_json => print::json(&out)?,
        AdminResponse::UserSignedOut(out) => print::data(&signed_out(&out)),
        AdminResponse::UserLinked(link) if as_json => print::json(&link)?,
        AdminResponse::UserLinked(link) => print::data(&entry_link(&link)),
        AdminResponse::Audited(acts) if as_json => print::json(&acts)?,
        AdminResponse::Audited(acts) => print::data(&act_table(&acts)),
        AdminResponse::Refused(refusal) => return Err(refusal.into()),
        AdminResponse::Checks(_) => return Err(unexpected()),
    }
    Ok(ExitCode::Ok)
}

/// The checks that need the store, for the doctor.
pub(crate) async fn store_checks(loaded: &Loaded) -> Result<Examined, Failure> {
    match route::request(loaded, AdminRequest::Check).await? {
        AdminResponse::Checks(examined) => Ok(examined),
        AdminResponse::Refused(refusal) => Err(refusal.into()),
        _ => Err(unexpected()),
    }
}

fn unexpected() -> Failure {
    Failure::failed("the server answered something else").hint("use an arena of the server's version")
}

fn wanted_of_user(command: UserCommand) -> AdminRequest {
    match command {
        UserCommand::Create { nickname, key, .. } => {
            AdminRequest::UserCreate { nickname, scopes: key.scopes, expires_in_days: key.expires_in_days }
        }
        UserCommand::List { .. } => AdminRequest::UserList,
        UserCommand::Disable(PersonArgs { nickname, .. }) => {
            AdminRequest::UserSwitch { nickname, disabled: true }
        }
        UserCommand::Enable(PersonArgs { nickname, .. }) => {
            AdminRequest::UserSwitch { nickname, disabled: false }
        }
        UserCommand::SignOut(PersonArgs { nickname, .. }) => AdminRequest::UserSignOut { nickname },
        UserCommand::Link(PersonArgs { nickname, .. }) => AdminRequest::UserLink { nickname },
    }
}

fn wanted_of_key(command: KeyCommand) -> AdminRequest {
    match command {
        KeyCommand::Create { nickname, key, .. } => {
            AdminRequest::KeyCreate { nickname, scopes: key.scopes, expires_in_days: key.expires_in_days }
        }
        KeyCommand::List { nickname, .. } => AdminRequest::KeyList { nickname },
        KeyCommand::Revoke { nickname, key, .. } => AdminRequest::KeyRevoke { nickname, key },
    }
}

fn moment(at: Option<kernel::Moment>, never: &str) -> String {
    at.map_or_else(|| never.to_owned(), |at| at.to_string())
}

fn created_user(user: &CreatedUser) -> String {
    format!(
        "nickname  {}\nuser id   {}\nscopes    {}\nexpires   {}\napi key   {}\n\nThe key is shown only now. To sign in in a browser: arena admin user link {}\n",
        user.nickname,
        user.user_id,
        user.scopes.join(" "),
        moment(user.expires_at, "never"),
        user.api_key,
        user.nickname,
    )
}

fn created_key(key: &CreatedKey) -> String {
    format!(
        "nickname  {}\nkey id    {}\nscopes    {}\nexpires   {}\napi key   {}\n\nThe key is shown only now.\n",
        key.nickname,
        key.key_id,
        key.scopes.join(" "),
        moment(key.expires_at, "never"),
        key.api_key,
    )
}

fn signed_out(out: &SignedOut) -> String {
    let SignedOut { nickname, keys, sessions, grants } = out;
    format!("signed {nickname} out: {keys} keys, {sessions} browsers and {grants} programs ended\n")
}

fn entry_link(link: &EntryLink) -> String {
    let EntryLink { nickname, url, expires_at } = link;
    format!(
        "{url}\n\nIt lets {nickname} in once, until {expires_at}; whoever opens it is {nickname}, so send it to nobody else.\n"
    )
}

fn act_table(acts: &[AuditEntry]) -> String {
    let rows: Vec<Vec<String>> = acts
        .iter()
        .map(|act| {
            let AuditEntry { at, actor, act, subject, detail, .. } = act;
            vec![at.to_string(), actor.clone(), act.clone(), subject.clone(), detail.clone()]
        })
        .collect();
    table::columns(&["at", "who", "did", "to", "with"], &rows)
}

fn user_table(users: &[User]) -> String {
    let rows: Vec<Vec<String>> = users
        .iter()
        .map(|user| {
            let state = if user.disabled { "disabled" } else { "active" };
            vec![user.nickname.clone(), user.id.clone(), user.created_at.to_string(), state.to_owned()]
        })
        .collect();
    table::columns(&["nickname", "user id", "created", "state"], &rows)
}

fn key_table(keys: &[Key]) -> String {
    let rows: Vec<Vec<String>> = keys
        .iter()
        .map(|key| {
            vec![
                key.id.clone(),
                key.prefix.clone(),
                key.scopes.join(" "),
                key.created_at.to_string(),
                moment(key.expires_at, "never"),
                key.status.clone(),
            ]
        })
        .collect();
    table::columns(&["key id", "begins with", "scopes", "created", "expires", "state"], &rows)
}
