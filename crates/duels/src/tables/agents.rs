//! Agents: presentation, counters and the models they have played with.

use kernel::{
    Fault, Moment,
    tx::{Row, Tx},
};

use super::vectors::Stored;
use crate::{
    fault::DuelFault,
    rules::{limits::RANKED_DUELS_MIN, rating::rating, settle::SideResult},
};

/// The columns that [`agent`] reads, in its order.
macro_rules! columns {
    () => {
        "id, nickname, bio, avatar, social_provider, social_username, auto_bio, wins, draws, duels, staked, paid, opened_ms"
    };
}

kernel::statements! {
    ADD = "INSERT INTO agent (id, nickname, opened_ms, house, wins, draws, duels, staked, paid, rating_permille) VALUES ($1, $2, $3, 0, 0, 0, 0, 0, 0, 0)";
    BY_ID = concat!("SELECT ", columns!(), " FROM agent WHERE id = $1");
    BY_NICKNAME = concat!("SELECT ", columns!(), " FROM agent WHERE nickname = $1");
    SET_SOCIAL_ONCE = "UPDATE agent SET social_provider = $2, social_username = $3, social_chosen = 1 WHERE id = $1 AND social_chosen = 0";
    SET_PRESENTATION = "UPDATE agent SET bio = $2, avatar = $3, social_provider = $4, social_username = $5 WHERE id = $1";
    CHOOSE_SOCIAL = "UPDATE agent SET social_chosen = 1 WHERE id = $1";
    SET_AUTO_BIO = "UPDATE agent SET auto_bio = $2, bio_model = $3, bio_vector = $4 WHERE id = $1";
    SET_BIO_VECTOR = "UPDATE agent SET bio_model = $3, bio_vector = $4 WHERE id = $1 AND auto_bio = $2";
    BIO = "SELECT auto_bio, bio_model, bio_vector FROM agent WHERE id = $1";
    COUNT_DUEL = "UPDATE agent SET wins = $2, draws = $3, duels = $4, staked = $5, paid = $6, rating_permille = $7 WHERE id = $1";
    COUNT_MODEL = "INSERT INTO agent_model (agent, model_key, wins, draws, duels, staked, paid) VALUES ($1, $2, $3, $4, 1, $5, $6) ON CONFLICT (agent, model_key) DO UPDATE SET wins = agent_model.wins + excluded.wins, draws = agent_model.draws + excluded.draws, duels = agent_model.duels + 1, staked = agent_model.staked + excluded.staked, paid = agent_model.paid + excluded.paid";
    MODELS = "SELECT model_key, wins, draws, duels, staked, paid FROM agent_model WHERE agent = $1 ORDER BY wins DESC, draws DESC, duels DESC, model_key";
    MODEL_TOTALS = "SELECT model_key, CAST(SUM(wins) AS BIGINT), CAST(SUM(draws) AS BIGINT), CAST(SUM(duels) AS BIGINT), CAST(SUM(staked) AS BIGINT), CAST(SUM(paid) AS BIGINT) FROM agent_model GROUP BY model_key HAVING CAST(SUM(duels) AS BIGINT) >= $1 ORDER BY CAST(2 * SUM(wins) + SUM(draws) AS BIGINT) * 1000 / CAST(2 * SUM(duels) AS BIGINT) DESC, SUM(wins) DESC, model_key LIMIT $2";
    MODEL_GAPS = "SELECT m.model_key FROM agent_model m WHERE m.duels <> (SELECT COUNT(*) FROM duel d WHERE d.a = m.agent AND d.a_model = m.model_key AND d.state = 'FINISHED') + (SELECT COUNT(*) FROM duel d WHERE d.b = m.agent AND d.b_model = m.model_key AND d.state = 'FINISHED') OR m.staked <> (SELECT COALESCE(SUM(d.a_stake), 0) FROM duel d WHERE d.a = m.agent AND d.a_model = m.model_key AND d.state = 'FINISHED') + (SELECT COALESCE(SUM(d.b_stake), 0) FROM duel d WHERE d.b = m.agent AND d.b_model = m.model_key AND d.state = 'FINISHED') OR m.paid <> (SELECT COALESCE(SUM(d.a_payout), 0) FROM duel d WHERE d.a = m.agent AND d.a_model = m.model_key AND d.state = 'FINISHED') + (SELECT COALESCE(SUM(d.b_payout), 0) FROM duel d WHERE d.b = m.agent AND d.b_model = m.model_key AND d.state = 'FINISHED') ORDER BY m.model_key LIMIT 10";
    TOP = concat!("SELECT ", columns!(), " FROM agent WHERE duels >= 20 AND house = 0 ORDER BY rating_permille DESC, wins DESC, duels DESC, nickname LIMIT $1");
}

/// A self-reported profile elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Social {
    pub(crate) provider: String,
    pub(crate) username: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    /// 24 hex characters, the same as the person's.
    pub(crate) id: String,
    pub(crate) nickname: String,
    pub(crate) bio: Option<String>,
    /// The name of its image.
    pub(crate) avatar: Option<String>,
    pub(crate) social: Option<Social>,
    pub(crate) auto_bio: Option<String>,
    pub(crate) wins: i64,
    pub(crate) draws: i64,
    pub(crate) duels: i64,
    pub(crate) staked: i64,
    pub(crate) paid: i64,
    pub(crate) opened_at: Moment,
}

fn agent(row: &Row) -> Result<Agent, Fault> {
    let social = match (row.opt_text(4)?, row.opt_text(5)?) {
        (Some(provider), Some(username)) => Some(Social { provider, username }),
        _ => None,
    };
    Ok(Agent {
        id: row.text(0)?,
        nickname: row.text(1)?,
        bio: row.opt_text(2)?,
        avatar: row.opt_text(3)?,
        social,
        auto_bio: row.opt_text(6)?,
        wins: row.i64(7)?,
        draws: row.i64(8)?,
        duels: row.i64(9)?,
        staked: row.i64(10)?,
        paid: row.i64(11)?,
        opened_at: row.moment(12)?,
    })
}

pub(crate) fn add(tx: &mut dyn Tx, id: &str, nickname: &str) -> Result<(), Fault> {
    let now = tx.now();
    tx.exec(&ADD, &[id.into(), nickname.into(), now.into()]).map(|_| ())
}

/// The caller's own row, which exists for everybody who could authenticate.
pub(crate) fn me(tx: &mut dyn Tx, id: &str) -> Result<Agent, Fault> {
    by_id(tx, id)?.ok_or_else(|| Fault::internal(format_args!("person {id} has no duels account")))
}

pub(crate) fn by_id(tx: &mut dyn Tx, id: &str) -> Result<Option<Agent>, Fault> {
    tx.row(&BY_ID, &[id.into()])?.as_ref().map(agent).transpose()
}

/// The agent that a caller names.
pub(crate) fn named(tx: &mut dyn Tx, nickname: &str) -> Result<Agent, Fault> {
    tx.row(&BY_NICKNAME, &[nickname.into()])?
        .as_ref()
        .map(agent)
        .transpose()?
        .ok_or_else(|| DuelFault::AgentNotFound { nickname: nickname.to_owned() }.into())
}

pub(crate) fn set_presentation(tx: &mut dyn Tx, agent: &Agent) -> Result<(), Fault> {
    let social = agent.social.as_ref();
    let args = [
        (&agent.id).into(),
        agent.bio.as_deref().into(),
        agent.avatar.as_deref().into(),
        social.map(|social| social.provider.as_str()).into(),
        social.map(|social| social.username.as_str()).into(),
    ];
    tx.exec(&SET_PRESENTATION, &args).map(|_| ())
}

/// The behaviour summary of an agent and its vector, both missing until there is one.
pub(crate) fn bio(tx: &mut dyn Tx, id: &str) -> Result<(Option<String>, Option<Stored>), Fault> {
    match tx.row(&BIO, &[id.into()])? {
        Some(row) => Ok((row.opt_text(0)?, Stored::of(&row, 1)?)),
        None => Ok((None, None)),
    }
}

/// Replaces the behaviour summary; without a vector it does not count in search.
pub(crate) fn set_auto_bio(
    tx: &mut dyn Tx,
    id: &str,
    text: &str,
    vector: Option<&Stored>,
) -> Result<(), Fault> {
    let (model, vector) = Stored::columns(vector);
    tx.exec(&SET_AUTO_BIO, &[id.into(), text.into(), model, vector]).map(|_| ())
}

/// Gives a summary its vector, unless the summary is another one by now.
pub(crate) fn set_bio_vector(tx: &mut dyn Tx, id: &str, text: &str, vector: &Stored) -> Result<(), Fault> {
    let (model, vector) = Stored::columns(Some(vector));
    tx.exec(&SET_BIO_VECTOR, &[id.into(), text.into(), model, vector]).map(|_| ())
}

/// One finished duel of an agent, as the counters need it.
pub(crate) struct Finished<'a> {
    pub(crate) agent: &'a str,
    pub(crate) model_key: Option<&'a str>,
    pub(crate) stake: i64,
    pub(crate) payout: i64,
}

/// Adds a finished duel to the agent's counters and to those of the model it was played with.
pub(crate) fn count(tx: &mut dyn Tx, finished: &Finished<'_>) -> Result<(), Fault> {
    let agent = me(tx, finished.agent)?;
    let result = SideResult::of(finished.payout, finished.stake);
    let win = i64::from(result == SideResult::Win);
    let draw = i64::from(result == SideResult::Draw);
    let (wins, draws, duels) = (agent.wins + win, agent.draws + draw, agent.duels + 1);
    let permille = rating(wins, draws, duels).map_or(0, |tenths| tenths.0);
    let args = [
        finished.agent.into(),
        wins.into(),
        draws.into(),
        duels.into(),
        (agent.staked + finished.stake).into(),
        (agent.paid + finished.payout).into(),
        permille.into(),
    ];
    tx.exec(&COUNT_DUEL, &args)?;
    if let Some(model) = finished.model_key {
        let args = [
            finished.agent.into(),
            model.into(),
            win.into(),
            draw.into(),
            finished.stake.into(),
            finished.payout.into(),
        ];
        tx.exec(&COUNT_MODEL, &args)?;
    }
    Ok(())
}

/// Counters of one model of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelCount {
    pub(crate) model_key: String,
    pub(crate) wins: i64,
    pub(crate) draws: i64,
    pub(crate) duels: i64,
    pub(crate) staked: i64,
    pub(crate) paid: i64,
}

fn model_count(row: &Row) -> Result<ModelCount, Fault> {
    Ok(ModelCount {
        model_key: row.text(0)?,
        wins: row.i64(1)?,
        draws: row.i64(2)?,
        duels: row.i64(3)?,
        staked: row.i64(4)?,
        paid: row.i64(5)?,
    })
}

/// The models an agent ever finished a duel with, most wins first.
pub(crate) fn models(tx: &mut dyn Tx, agent: &str) -> Result<Vec<ModelCount>, Fault> {
    tx.rows(&MODELS, &[agent.into()])?.iter().map(model_count).collect()
}

/// Models over all agents that have enough duels to be ranked, the best rate first.
pub(crate) fn model_totals(tx: &mut dyn Tx, limit: i64) -> Result<Vec<ModelCount>, Fault> {
    tx.rows(&MODEL_TOTALS, &[RANKED_DUELS_MIN.into(), limit.into()])?.iter().map(model_count).collect()
}

/// Labels of models with a counter that differs from their finished duels, for the audit.
pub(crate) fn miscounted_models(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    tx.rows(&MODEL_GAPS, &[])?.iter().map(|row| row.text(0)).collect()
}

/// The ranked agents in order: rating, wins, duels, nickname.
pub(crate) fn top(tx: &mut dyn Tx, limit: i64) -> Result<Vec<Agent>, Fault> {
    tx.rows(&TOP, &[limit.into()])?.iter().map(agent).collect()
}

/// The agent chose its profile elsewhere, or to name none: from now on no sign-in does.
pub(crate) fn choose_social(tx: &mut dyn Tx, id: &str) -> Result<(), Fault> {
    tx.exec(&CHOOSE_SOCIAL, &[id.into()]).map(|_| ())
}

/// Sets the profile elsewhere of an agent that never had one.
pub(crate) fn set_social_once(tx: &mut dyn Tx, id: &str, social: &Social) -> Result<(), Fault> {
    tx.exec(&SET_SOCIAL_ONCE, &[id.into(), (&social.provider).into(), (&social.username).into()]).map(|_| ())
}
