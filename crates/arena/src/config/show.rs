//! `arena config show`: every value with its origin, secrets masked.

use std::fmt;

use serde::Serialize;

use super::layers::{Effective, Loaded, Origin};
use crate::{
    failure::Failure,
    output::{print, table},
};

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "flag {flag}"),
            Self::Env(name) => write!(f, "env {name}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Default => f.write_str("default"),
            Self::Unset => f.write_str("not set"),
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    key: &'static str,
    value: Option<String>,
    origin: String,
    about: &'a str,
}

/// Prints the configuration that a command with these flags would run with.
pub(crate) fn show(loaded: &Loaded, as_json: bool) -> Result<(), Failure> {
    let lines: Vec<Line<'_>> = loaded
        .values
        .iter()
        .map(|value| Line {
            key: value.key,
            value: shown(value),
            origin: value.origin.to_string(),
            about: value.about,
        })
        .collect();
    if as_json {
        return print::json(&lines);
    }
    let rows: Vec<Vec<String>> = lines
        .into_iter()
        .map(|line| vec![line.key.to_owned(), line.value.unwrap_or_else(|| "-".to_owned()), line.origin])
        .collect();
    print::data(&table::columns(&["key", "value", "origin"], &rows));
    Ok(())
}

fn shown(value: &Effective) -> Option<String> {
    let text = value.value.clone()?;
    Some(if value.secret { masked(&text) } else { text })
}

/// A secret without its secret part: of a URL the rest stays, of a key its kind.
fn masked(text: &str) -> String {
    const MASK: &str = "****";
    if let Ok(mut url) = url::Url::parse(text)
        && url.has_host()
    {
        // A query may carry a password too.
        url.set_query(None);
        if url.password().is_some() && url.set_password(Some(MASK)).is_err() {
            return MASK.to_owned();
        }
        return url.to_string();
    }
    if text.starts_with("arena_sk_") { format!("arena_sk_{MASK}") } else { MASK.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_lose_their_secret_part() {
        for (text, wanted) in [
            ("postgres://me:pw@db:5432/arena?password=pw", "postgres://me:****@db:5432/arena"),
            ("postgres://db/arena", "postgres://db/arena"),
            ("arena_sk_abcdef", "arena_sk_****"),
            ("whatever", "****"),
        ] {
            assert_eq!(masked(text), wanted);
        }
    }
}
