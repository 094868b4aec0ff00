//! Data in PostgreSQL is backed up by PostgreSQL's own tools: the refusal spells out their commands.

use url::Url;

use crate::{config::layers::Loaded, exit::ExitCode, failure::Failure};

/// Which of the two commands is refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    Backup,
    Restore,
}

/// Refuses an installation on PostgreSQL.
pub(super) fn refuse(loaded: &Loaded, wanted: Wanted) -> Result<(), Failure> {
    let Some(url) = &loaded.config.database.url else { return Ok(()) };
    let database = shown(url);
    let hint = match wanted {
        Wanted::Backup => format!(
            "run: pg_dump --format=custom --file=arena.dump --dbname='{database}', and copy the avatars (avatars.dir)"
        ),
        Wanted::Restore => format!(
            "stop every server, then run: pg_restore --clean --if-exists --dbname='{database}' arena.dump"
        ),
    };
    let words = "the data is in PostgreSQL, which has tools of its own for this";
    Err(Failure::new(ExitCode::Refused, words).hint(hint))
}

/// The URL without a password, safe between single quotes.
fn shown(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return "postgres://HOST/DATABASE".to_owned() };
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| name != "password")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    // A URL without a host has no password either.
    let _ = url.set_password(None);
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
    url.as_str().replace('\'', "%27")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown_and_the_rest_is() {
        for (url, expected) in [
            ("postgres://ann:secret@db.example:5433/arena", "postgres://ann@db.example:5433/arena"),
            ("postgres://h/d?password=secret&sslmode=require", "postgres://h/d?sslmode=require"),
            ("postgres://a:secret@h/d'e", "postgres://a@h/d%27e"),
            ("host=h password=secret", "postgres://HOST/DATABASE"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }
}
