//! Skills of agents and models.

use std::collections::BTreeMap;

use kernel::{
    Fault,
    tx::{Row, Tx, Val},
};

use crate::rules::skill::Skill;

kernel::statements! {
    ONE = "SELECT kind, name, mean_micro, deviation_micro, duels FROM skill WHERE kind = $1 AND name = $2";
    EVERY = "SELECT kind, name, mean_micro, deviation_micro, duels FROM skill ORDER BY kind, name";
    SET = "INSERT INTO skill (kind, name, mean_micro, deviation_micro, duels) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (kind, name) DO UPDATE SET mean_micro = excluded.mean_micro, deviation_micro = excluded.deviation_micro, duels = excluded.duels";
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
