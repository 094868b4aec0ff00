//! What a store really holds, read in one snapshot with SQL of the test's own, and what must hold in it
//! whatever happened before.

use std::collections::BTreeMap;

use kernel::{Fault, tx::Tx};
use serde::{Deserialize, Serialize};

kernel::statements! {
    DUELS = "SELECT d.slug, a.nickname, b.nickname, d.state, d.a_demand, d.b_demand, d.a_payout, d.b_payout, d.burn, d.settle_seq, d.a_stake, d.b_stake FROM duel d JOIN agent a ON a.id = d.a JOIN agent b ON b.id = d.b";
    MOVED = "SELECT reference, CAST(SUM(amount) AS BIGINT) FROM transfer WHERE kind IN ('stake_return', 'payout', 'burn') GROUP BY reference";
    GIFTS = "SELECT note, COUNT(*) FROM gift GROUP BY note";
    MESSAGES = "SELECT text, COUNT(*) FROM message GROUP BY text";
    JOBS = "SELECT COUNT(*) FROM job";
    BIOS = "SELECT nickname, duels, auto_bio FROM agent WHERE duels > 0";
}

/// A duel's row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) nicknames: [String; 2],
    pub(crate) finished: bool,
    pub(crate) demands: [Option<i64>; 2],
    pub(crate) payouts: [Option<i64>; 2],
    pub(crate) burn: Option<i64>,
    pub(crate) seq: Option<i64>,
    pub(crate) stakes: [i64; 2],
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Truth {
    pub(crate) violations: Vec<String>,
    /// Duels past their deadline, and those past it by more than a real second.
    pub(crate) overdue: i64,
    pub(crate) late: i64,
    pub(crate) settled: i64,
    pub(crate) jobs: i64,
    /// When the process opened the store.
    pub(crate) jobs_at_start: i64,
    /// By slug.
    pub(crate) duels: BTreeMap<String, Row>,
    /// What settlements moved, by slug.
    pub(crate) moved: BTreeMap<String, i64>,
    /// How often each text is there.
    pub(crate) gifts: BTreeMap<String, i64>,
    pub(crate) messages: BTreeMap<String, i64>,
    /// Finished duels and the sentence about them, by nickname.
    pub(crate) bios: BTreeMap<String, (i64, Option<String>)>,
}

/// `late_ms` is a real second in Arena time.
pub(crate) fn read(tx: &mut dyn Tx, late_ms: i64) -> Result<Truth, Fault> {
    let audit = duels::audit::audit(tx)?;
    let mut truth = Truth {
        violations: audit.violations,
        overdue: duels::audit::overdue(tx, 0)?,
        late: duels::audit::overdue(tx, late_ms)?,
        settled: duels::audit::settled(tx)?,
        jobs: pending_jobs(tx)?,
        jobs_at_start: 0,
        duels: BTreeMap::new(),
        moved: counts(tx, &MOVED)?,
        gifts: counts(tx, &GIFTS)?,
        messages: counts(tx, &MESSAGES)?,
        bios: BTreeMap::new(),
    };
    for row in tx.rows(&DUELS, &[])? {
        let duel = Row {
            nicknames: [row.text(1)?, row.text(2)?],
            finished: row.text(3)? == "FINISHED",
            demands: [row.opt_i64(4)?, row.opt_i64(5)?],
            payouts: [row.opt_i64(6)?, row.opt_i64(7)?],
            burn: row.opt_i64(8)?,
            seq: row.opt_i64(9)?,
            stakes: [row.i64(10)?, row.i64(11)?],
        };
        truth.duels.insert(row.text(0)?, duel);
    }
    for row in tx.rows(&BIOS, &[])? {
        truth.bios.insert(row.text(0)?, (row.i64(1)?, row.opt_text(2)?));
    }
    Ok(truth)
}

pub(crate) fn pending_jobs(tx: &mut dyn Tx) -> Result<i64, Fault> {
    tx.row(&JOBS, &[])?.map_or(Ok(0), |row| row.i64(0))
}

fn counts(tx: &mut dyn Tx, sql: &'static kernel::tx::Sql) -> Result<BTreeMap<String, i64>, Fault> {
    tx.rows(sql, &[])?.iter().map(|row| Ok((row.opt_text(0)?.unwrap_or_default(), row.i64(1)?))).collect()
}

/// Settlements that were seen, which may never change.
#[derive(Default)]
pub(crate) struct History {
    finished: BTreeMap<String, Row>,
}

impl History {
    /// How many settlements were seen.
    pub(crate) fn settled(&self) -> usize {
        self.finished.len()
    }

    /// What must hold without knowing who was told what.
    pub(crate) fn check(&mut self, truth: &Truth) {
        assert_eq!(truth.violations, Vec::<String>::new());
        for (slug, duel) in &truth.duels {
            let moved = truth.moved.get(slug).copied();
            let whole = duel.finished.then_some(duel.stakes[0] + duel.stakes[1]);
            assert_eq!(moved, whole, "{slug} moved its pot once if it is settled, and not before: {duel:?}");
        }
        for (slug, before) in &self.finished {
            assert_eq!(truth.duels.get(slug), Some(before), "{slug} was settled before and stays so");
        }
        let finished = truth.duels.iter().filter(|(_, duel)| duel.finished);
        self.finished.extend(finished.map(|(slug, duel)| (slug.clone(), duel.clone())));
        assert_eq!(truth.settled, i64::try_from(self.finished.len()).unwrap());
    }
}
