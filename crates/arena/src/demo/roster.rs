//! Who plays at the moment: how the demo's agents know whom to challenge, since they do not search.

use std::sync::{Arc, Mutex, PoisonError};

/// A shared list of nicknames.
#[derive(Debug, Clone, Default)]
pub(crate) struct Roster(Arc<Mutex<Vec<String>>>);

impl Roster {
    pub(crate) fn join(&self, nickname: &str) {
        self.list().push(nickname.to_owned());
    }

    pub(crate) fn leave(&self, nickname: &str) {
        self.list().retain(|name| name != nickname);
    }

    /// Everybody but `nickname`.
    pub(crate) fn others(&self, nickname: &str) -> Vec<String> {
        self.list().iter().filter(|name| *name != nickname).cloned().collect()
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
