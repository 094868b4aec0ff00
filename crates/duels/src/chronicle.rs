//! The chronicler: numbers settled duels one after the other and moves the skills along.
//!
//! Apart from the settlement on purpose: nodes settle side by side, and neither a number without gaps nor
//! the row of a popular model may make one wait for another.

use std::{collections::BTreeMap, time::Duration};

use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};
use store::Store;

use crate::{
    rules::skill::{self, Skill, UNKNOWN},
    tables::{
        chronicle::{self, Entry},
        skills::{self, Key, Who},
    },
};

/// How often a node looks for settled duels without a number, in real time.
pub const POLL_MS: u64 = 250;
/// Duels that one transaction takes in; the next follows at once when it was full.
pub const BATCH: i64 = 200;
/// Duels that a replay reads at once.
const REPLAY_DUELS: i64 = 1_000;
/// Names of what differs, which a replay tells.
const GAPS_MAX: usize = 10;

/// What an entry says: two that were compared. A model is not compared with itself, nor with none.
fn compared(entry: &Entry) -> impl Iterator<Item = [Key; 2]> {
    let agents = entry.agents.clone().map(|agent| (Who::Agent, agent));
    let models = match &entry.models {
        [Some(one), Some(two)] if one != two => Some([(Who::Model, one.clone()), (Who::Model, two.clone())]),
        _ => None,
    };
    std::iter::once(agents).chain(models)
}

/// Moves `skills` along `entry`; `known` answers what was not seen yet.
fn take_in(
    skills: &mut BTreeMap<Key, Skill>,
    entry: &Entry,
    known: &mut dyn FnMut(&Key) -> Result<Skill, Fault>,
) -> Result<(), Fault> {
    let comparison = skill::compare(entry.stakes, entry.payouts);
    for pair in compared(entry) {
        let mut before = [UNKNOWN; 2];
        for (skill, key) in before.iter_mut().zip(&pair) {
            *skill = match skills.get(key) {
                Some(skill) => *skill,
                None => known(key)?,
            };
        }
        skills.extend(pair.into_iter().zip(skill::after(before, comparison)));
    }
    Ok(())
}

/// Takes in some duels.
struct Write {
    batch: i64,
}

impl Command for Write {
    /// How many duels got a number.
    type Out = usize;

    fn name(&self) -> &'static str {
        "duels.chronicle"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<usize>, Fault> {
        tx.lock(&["chronicle".to_owned()])?;
        let entries = chronicle::waiting(tx, self.batch)?;
        let last = chronicle::last(tx)?;
        let mut moved = BTreeMap::new();
        for entry in &entries {
            take_in(&mut moved, entry, &mut |(who, name)| {
                Ok(skills::get(tx, *who, name)?.unwrap_or(UNKNOWN))
            })?;
        }
        chronicle::number(tx, &entries, last)?;
        skills::set(tx, &moved)?;
        Ok(Verdict::Done(entries.len()))
    }
}

/// Takes in at most `batch` settled duels and answers how many those were.
pub async fn run_once(store: &Store, batch: i64) -> Result<usize, Fault> {
    if !store.read(|tx| chronicle::any_waiting(tx)).await? {
        return Ok(0);
    }
    match store.write(Box::new(Write { batch })).await? {
        Verdict::Done(count) => Ok(count),
        Verdict::Refused(fault) => Err(fault),
    }
}

/// Takes in settled duels until `shutdown` turns true; a store that is away is waited for.
pub async fn run(store: Store, mut shutdown: tokio::sync::watch::Receiver<bool>) {
    while !*shutdown.borrow() {
        match run_once(&store, BATCH).await {
            Ok(count) if i64::try_from(count).is_ok_and(|count| count >= BATCH) => continue,
            Ok(_) => {}
            Err(fault) => tracing::warn!(error = fault.context(), "the chronicle waits for the store"),
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(POLL_MS)) => {}
            _ = shutdown.changed() => {}
        }
    }
}

/// What differs between the kept skills and those that follow from the chronicle, for the audit.
pub(crate) fn gaps(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    let last = chronicle::last(tx)?;
    let count = chronicle::count(tx)?;
    let mut gaps = Vec::new();
    if count != last {
        gaps.push(format!("the chronicle has {count} duels and its last number is {last}"));
    }
    let mut replayed = BTreeMap::new();
    let mut after = 0;
    while after < last {
        let through = last.min(after + REPLAY_DUELS);
        for entry in chronicle::between(tx, after, through)? {
            take_in(&mut replayed, &entry, &mut |_| Ok(UNKNOWN))?;
        }
        after = through;
    }
    let kept = skills::every(tx)?;
    let names = kept.keys().chain(replayed.keys().filter(|key| !kept.contains_key(*key)));
    gaps.extend(
        names
            .filter(|key| kept.get(*key) != replayed.get(*key))
            .take(GAPS_MAX)
            .map(|(_, name)| format!("the skill of {name} does not follow from its duels")),
    );
    Ok(gaps)
}
