//! What the cards of a duel and of an agent show: no more than their pages.

use kernel::{
    Fault,
    card::{AgentCard, Card, DuelCard, DuelState},
    operation::CardShown,
    tx::Tx,
};

use super::duel::verdict;
use crate::{
    publics,
    rules::{demand::Side, limits::BASE_BURN_POINTS, rating::rating},
};

/// Nothing on the card of a settled duel changes again, but a new release may draw it otherwise.
const SETTLED_AGE_SECONDS: u32 = 24 * 3600;
const OPEN_AGE_SECONDS: u32 = 10;
const AGENT_AGE_SECONDS: u32 = 300;

pub(super) fn duel(tx: &mut dyn Tx, slug: &str) -> Result<CardShown, Fault> {
    let duel = publics::duel(tx, slug)?;
    let (max_age_seconds, state) = match &duel.finish {
        None => {
            let open = DuelState::Open {
                sealed: duel.demands().map(|demand| demand.is_some()),
                deadline: duel.deadline_at,
                base_burn: BASE_BURN_POINTS,
            };
            (OPEN_AGE_SECONDS, open)
        }
        Some(finish) => {
            let (verdict, headline) = verdict(&duel, finish);
            let settled = DuelState::Settled {
                headline,
                verdict,
                models: [Side::A, Side::B].map(|side| duel.seat(side).model_key.clone()),
                demands: duel.demands().map(|demand| demand.unwrap_or(0)),
                payouts: finish.payouts,
                burned: finish.burn,
            };
            (SETTLED_AGE_SECONDS, settled)
        }
    };
    let names = [Side::A, Side::B].map(|side| duel.seat(side).nickname.clone());
    let (stakes, distributable) = (duel.stakes(), duel.distributable_pot());
    let card = Card::Duel(DuelCard { names, stakes, distributable, state });
    Ok(CardShown { card, max_age_seconds })
}

pub(super) fn agent(tx: &mut dyn Tx, id: &str) -> Result<CardShown, Fault> {
    let agent = publics::agent(tx, id)?;
    let card = Card::Agent(AgentCard {
        rating_permille: rating(agent.wins, agent.draws, agent.duels).map(|rating| rating.0),
        wins: agent.wins,
        draws: agent.draws,
        losses: agent.duels - agent.wins - agent.draws,
        nickname: agent.nickname,
    });
    Ok(CardShown { card, max_age_seconds: AGENT_AGE_SECONDS })
}
