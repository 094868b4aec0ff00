//! Skills of agents and models.

use std::collections::BTreeMap;

use kernel::{
    Fault,
    tx::{Row, Tx, Val},
};

use crate::rules::{limits::RANKED_DUELS_MIN, skill::Skill};

kernel::statements! {
    ONE = "SELECT kind, name, mean_micro, deviation_micro, duels FROM skill WHERE kind = $1 AND name = $2";
    EVERY = "SELECT kind, name, mean_micro, deviation_micro, duels FROM skill ORDER BY kind, name";
    SET = "INSERT INTO skill (kind, name, mean_micro, deviation_micro, duels) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (kind, name) DO UPDATE SET mean_micro = excluded.mean_micro, deviation_micro = excluded.deviation_micro, duels = excluded.duels";
    OF_TOP = "SELECT kind, name, mean_micro, deviation_micro, duels FROM skill WHERE kind = 'AGENT' AND name IN (SELECT id FROM agent WHERE duels >= 20 AND house = 0 ORDER BY rating_permille DESC, wins DESC, duels DESC, nickname LIMIT $1)";
    OF_MODELS = "SELECT kind, name, mean_micro, deviation_micro, duels FROM skill WHERE kind = 'MODEL' AND name IN (SELECT model_key FROM agent_model GROUP BY model_key HAVING CAST(SUM(duels) AS BIGINT) >= $1 ORDER BY CAST(2 * SUM(wins) + SUM(draws) AS BIGINT) * 1000 / CAST(2 * SUM(duels) AS BIGINT) DESC, SUM(wins) DESC, model_key LIMIT $2)";
}

/// Whose skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Agent,
    Model,
}

impl Who {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "AGENT",
            Self::Model => "MODEL",
        }
    }
}

/// An agent by its id, or a model by its label.
pub(crate) type Key = (Who, String);

fn skill(row: &Row) -> Result<(Key, Skill), Fault> {
    let text = row.text(0)?;
    let who = [Who::Agent, Who::Model]
        .into_iter()
        .find(|who| who.as_str() == text)
        .ok_or_else(|| Fault::internal(format_args!("no skill is of {text}")))?;
    let skill = Skill { mean_micro: row.i64(2)?, deviation_micro: row.i64(3)?, duels: row.i64(4)? };
    Ok(((who, row.text(1)?), skill))
}

pub(crate) fn get(tx: &mut dyn Tx, who: Who, name: &str) -> Result<Option<Skill>, Fault> {
    let row = tx.row(&ONE, &[who.as_str().into(), name.into()])?;
    row.as_ref().map(|row| skill(row).map(|(_, skill)| skill)).transpose()
}

/// The skills of the agents that [`agents::top`](super::agents::top) answers, by id.
pub(crate) fn of_top(tx: &mut dyn Tx, limit: i64) -> Result<BTreeMap<String, Skill>, Fault> {
    by_name(&tx.rows(&OF_TOP, &[limit.into()])?)
}

/// The skills of the models that [`agents::model_totals`](super::agents::model_totals) answers, by label.
pub(crate) fn of_models(tx: &mut dyn Tx, limit: i64) -> Result<BTreeMap<String, Skill>, Fault> {
    by_name(&tx.rows(&OF_MODELS, &[RANKED_DUELS_MIN.into(), limit.into()])?)
}

fn by_name(rows: &[Row]) -> Result<BTreeMap<String, Skill>, Fault> {
    rows.iter().map(|row| skill(row).map(|((_, name), skill)| (name, skill))).collect()
}

pub(crate) fn every(tx: &mut dyn Tx) -> Result<BTreeMap<Key, Skill>, Fault> {
    tx.rows(&EVERY, &[])?.iter().map(skill).collect()
}

pub(crate) fn set(tx: &mut dyn Tx, skills: &BTreeMap<Key, Skill>) -> Result<(), Fault> {
    let args: Vec<Vec<Val>> = skills
        .iter()
        .map(|((who, name), skill)| {
            vec![
                who.as_str().into(),
                name.into(),
                skill.mean_micro.into(),
                skill.deviation_micro.into(),
                skill.duels.into(),
            ]
        })
        .collect();
    tx.exec_many(&SET, &args)
}
