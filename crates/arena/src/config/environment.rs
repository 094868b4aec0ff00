//! The process environment, read once: the only place in the workspace that looks at it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The variables that were set when the process started. Those that are not UTF-8 are left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    pub(crate) fn of_process() -> Self {
        Self(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        )
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        Self(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The variables whose names start with `prefix`, in order of their names.
    pub(crate) fn starting_with<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(name, value)| {
            name.starts_with(prefix).then_some((name.as_str(), value.as_str()))
        })
    }

    /// The data directory of a person who chose none: XDG's, or its documented fallback.
    pub(crate) fn default_data_dir(&self) -> Option<PathBuf> {
        let absolute = |name: &str| self.get(name).map(Path::new).filter(|path| path.is_absolute());
        absolute("XDG_DATA_HOME")
            .map(|base| base.join("arena"))
            .or_else(|| absolute("HOME").map(|home| home.join(".local/share/arena")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_directory_follows_xdg() {
        for (pairs, wanted) in [
            (vec![("XDG_DATA_HOME", "/x"), ("HOME", "/h")], Some("/x/arena")),
            (vec![("XDG_DATA_HOME", "relative"), ("HOME", "/h")], Some("/h/.local/share/arena")),
            (vec![("HOME", "/h")], Some("/h/.local/share/arena")),
            (vec![], None),
        ] {
            assert_eq!(Environment::of(&pairs).default_data_dir(), wanted.map(PathBuf::from), "{pairs:?}");
        }
    }
}
