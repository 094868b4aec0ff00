//! Present agents by likeness: a copy of their vectors in memory, brought up to date inside the
//! snapshot of each search.
//!
//! The copy only orders; whether an agent may be met is read from the tables, in the same snapshot.
//! So a copy that is a moment older or newer than the snapshot never shows what is not so.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{PoisonError, RwLock},
};

use kernel::{Fault, Moment, tx::Tx};
use semantic::{Index, Vector};
use store::ledger::{self, Balance};

use crate::{
    LEDGER,
    rules::{
        challenge::{Candidate, is_open_to},
        limits::SEARCH_RESULTS_MAX,
    },
    tables::{
        opponents::{self, LOOK_MAX, Opponent},
        presences::{self, Change},
    },
};

/// Changes that are read at a time.
const PAGE: i64 = 1_000;

/// What a search found, best match first.
pub(crate) struct Match {
    pub(crate) opponent: Opponent,
    pub(crate) balance: Balance,
}

/// The order of equal scores is the nickname's, so that field comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    nickname: String,
    expires_at: Moment,
}

struct Known {
    index: Index<String, Listed>,
    /// When each known presence ends, so that what is over leaves the copy.
    ends: BTreeSet<(Moment, String)>,
    /// The number of the last change that is in the copy. A presence from before there were numbers
    /// has 0 and gets its first with its vector.
    seen: i64,
}

impl Known {
    fn forget(&mut self, agent: &str) {
        if let Some(listed) = self.index.get(&agent.to_owned()) {
            self.ends.remove(&(listed.expires_at, agent.to_owned()));
            self.index.remove(&agent.to_owned());
        }
    }

    fn apply(&mut self, change: Change, model: &str, dims: usize, now: Moment) -> Result<(), Fault> {
        // Another search may have been faster and have read further.
        if change.seq <= self.seen {
            return Ok(());
        }
        self.seen = change.seq;
        self.forget(&change.agent);
        if !change.lease.is_live(now) {
            return Ok(());
        }
        let vector = |stored: Option<crate::tables::vectors::Stored>| {
            stored.and_then(|stored| stored.of_model(model, dims))
        };
        let (pitch, bio) = (vector(change.pitch), vector(change.bio));
        let expires_at = change.lease.expires_at;
        self.ends.insert((expires_at, change.agent.clone()));
        let listed = Listed { nickname: change.nickname, expires_at };
        self.index.put(change.agent, pitch.as_ref(), bio.as_ref(), listed).map_err(Fault::internal)
    }

    fn drop_ended(&mut self, now: Moment) {
        while let Some((at, agent)) = self.ends.first().cloned()
            && at <= now
        {
            self.ends.pop_first();
            self.index.remove(&agent);
        }
    }
}

/// The copy of one node.
pub(crate) struct Finder {
    model: String,
    dims: usize,
    known: RwLock<Known>,
}

impl Finder {
    /// For vectors of one model.
    pub(crate) fn new(model: &str, dims: usize) -> Self {
        let known = Known { index: Index::new(dims), ends: BTreeSet::new(), seen: 0 };
        Self { model: model.to_owned(), dims, known: RwLock::new(known) }
    }

    /// Takes in what has changed up to the snapshot of `tx`.
    pub(crate) fn refresh(&self, tx: &mut dyn Tx) -> Result<(), Fault> {
        let now = tx.now();
        loop {
            let seen = self.known.read().unwrap_or_else(PoisonError::into_inner).seen;
            let changes = presences::changed(tx, seen, PAGE)?;
            let is_last = i64::try_from(changes.len()).map_err(Fault::internal)? < PAGE;
            if !changes.is_empty() {
                let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                for change in changes {
                    known.apply(change, &self.model, self.dims, now)?;
                }
            }
            if is_last {
                break;
            }
        }
        let is_over = |known: &Known| known.ends.first().is_some_and(|(at, _)| *at <= now);
        if is_over(&self.known.read().unwrap_or_else(PoisonError::into_inner)) {
            self.known.write().unwrap_or_else(PoisonError::into_inner).drop_ended(now);
        }
        Ok(())
    }

    /// The agents that `searcher` could start a duel with now, the likest first.
    pub(crate) fn find(&self, tx: &mut dyn Tx, searcher: &str, query: &Vector) -> Result<Vec<Match>, Fault> {
        self.refresh(tx)?;
        let now = tx.now();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut ranked = known
            .index
            .ranked(query, |listed| now < listed.expires_at)
            .map_err(Fault::internal)?
            .map(|entry| entry.key.as_str())
            .filter(|agent| *agent != searcher);
        let mut found = Vec::new();
        loop {
            let agents: Vec<&str> = ranked.by_ref().take(LOOK_MAX).collect();
            if agents.is_empty() {
                return Ok(found);
            }
            let balances = ledger::balances(tx, LEDGER, &agents)?;
            let mut seen: BTreeMap<String, Opponent> = opponents::look(tx, searcher, &agents)?
                .into_iter()
                .map(|opponent| (opponent.id.clone(), opponent))
                .collect();
            for agent in agents {
                let (Some(opponent), Some(balance)) = (seen.remove(agent), balances.get(agent)) else {
                    continue;
                };
                let candidate = Candidate {
                    nickname: opponent.nickname.clone(),
                    presence: Some(opponent.lease),
                    available: balance.available,
                    active_duels: opponent.active_duels,
                };
                if opponent.is_paired || !is_open_to(&candidate, opponent.last_finished_at, now) {
                    continue;
                }
                found.push(Match { opponent, balance: *balance });
                if found.len() == SEARCH_RESULTS_MAX {
                    return Ok(found);
                }
            }
        }
    }
}
