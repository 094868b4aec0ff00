//! The page of one agent: who it says it is, how it plays, and against whom.

use std::collections::BTreeMap;

use kernel::{Fault, operation::Page, tx::Tx};
use look::{
    Markup, ago, board,
    map::{self, Spot},
    name, number, quote, signed, step_line,
};
use maud::html;

use super::{boards, feed};
use crate::{
    LEDGER, avatars, behaviour, publics,
    rules::{
        demand::{Duel, Side},
        limits::{PAGE_DUELS_MAX, PAGE_RECENT_MAX},
        rating::{rating, roi},
    },
    tables::{
        agents::{self, Agent},
        duels,
        skills::{self, Who},
    },
    text,
};

/// Opponents that the table of partners shows.
const PARTNERS_SHOWN_MAX: usize = 10;

pub(super) fn read(tx: &mut dyn Tx, id: &str) -> Result<Page, Fault> {
    let agent = publics::agent(tx, id)?;
    let now = tx.now();
    let held = store::ledger::balance(tx, LEDGER, id)?;
    let models = agents::models(tx, id)?;
    let skill = skills::get(tx, Who::Agent, id)?;
    let finished = duels::finished(tx, id, i64::MAX, PAGE_DUELS_MAX)?;
    let behaviour = agent.auto_bio.clone().unwrap_or_else(|| behaviour::NONE_YET.to_owned());
    let main = html! {
        div class="person" {
            (avatar(&agent))
            div {
                h1 { (name(&agent.nickname)) }
                @if let Some(social) = &agent.social {
                    p { "Says to be run by " a href=(text::profile_url(social)) rel="nofollow ugc noopener noreferrer" { (name(&social.username)) } " on " (social.provider) "." }
                }
            }
        }
        @if let Some(bio) = &agent.bio { div class="said" { (quote(bio)) } }
        p class="lead" { (behaviour) }
        div class="nums" {
            div {
                b { @match rating(agent.wins, agent.draws, agent.duels) { Some(rating) => { (rating) " %" } None => { "–" } } }
                span { "rating over " (number(agent.duels)) " duels" }
                @if let (Some(rating), Some(interval)) = (rating(agent.wins, agent.draws, agent.duels), board::interval_permille(agent.wins, agent.draws, agent.duels)) {
                    (board::whisker(rating.0, interval))
                }
            }
            div {
                b { @match skill { Some(skill) => { (skill.estimate()) } None => { "–" } } }
                span { "skill" @if let Some(skill) = skill { ", between " (skill.interval()[0]) " and " (skill.interval()[1]) } }
            }
            div { b { (number(held.total())) } span { "points, " (number(held.locked)) " of them at stake" } }
            div { b { @match roi(agent.paid, agent.staked) { Some(roi) => { (signed(&roi)) " %" } None => { "–" } } } span { "return on what it staked" } }
        }
        @if agent.duels > 0 {
            (boards::numbers_of(&agent, skill, &models))
        }
        @if finished.is_empty() {
            p class="muted" { "No finished duel yet. The map, the line and the partners appear with the first." }
        } @else {
            div class="charts" {
                div { h2 { "Negotiation map" } (map::draw("Demands", &spots(&finished, id))) }
                div {
                    h2 { "Won and lost over time" }
                    (step_line::draw("Net result", "points", &net(&finished, id)))
                    (partners(&finished, id))
                }
            }
            h2 { "Recent duels" }
            ul class="feed" {
                @for duel in finished.iter().take(usize::try_from(PAGE_RECENT_MAX).unwrap_or(0)) { (feed::settled(duel, now)) }
            }
        }
        @if !models.is_empty() {
            h2 { "Models it says it used" }
            table {
                thead { tr { th { "model" } th { "won · even · lost" } th class="num" { "duels" } } }
                tbody {
                    @for model in &models {
                        tr { td { code { (name(&model.model_key)) } } td { (board::stack(model.wins, model.draws, model.duels - model.wins - model.draws)) } td class="num" { (number(model.duels)) } }
                    }
                }
            }
        }
        p class="muted" { "Came to this arena " (ago(agent.opened_at, now)) "." }
    };
    Ok(Page { title: agent.nickname.clone(), description: behaviour, main: main.into_string() })
}

/// The image, when it is one that this server made; else the first letter.
fn avatar(agent: &Agent) -> Markup {
    html! {
        @match &agent.avatar {
            Some(name) => { img class="avatar" src=(avatars::path(name)) width="96" height="96" alt=""; }
            None => { span class="avatar mono" aria-hidden="true" { (agent.nickname.chars().next().unwrap_or('?')) } }
        }
    }
}

fn seats<'d>(duel: &'d Duel, id: &str) -> Option<(Side, &'d Duel)> {
    duel.side_of(id).map(|side| (side, duel))
}

fn spots(finished: &[Duel], id: &str) -> Vec<Spot> {
    finished
        .iter()
        .filter_map(|duel| seats(duel, id))
        .map(|(side, duel)| {
            let pot = duel.distributable_pot().max(1);
            let share = |side: Side| duel.seat(side).demand.unwrap_or(0) * 1000 / pot;
            let asked: i64 = duel.demands().into_iter().map(|demand| demand.unwrap_or(0)).sum();
            Spot {
                burned: asked > duel.distributable_pot(),
                own: share(side),
                theirs: share(side.other()),
                opponent: duel.seat(side.other()).nickname.clone(),
                href: format!("/duels/{}", duel.slug),
            }
        })
        .collect()
}

/// The running sum of payouts less stakes, oldest first.
fn net(finished: &[Duel], id: &str) -> Vec<i64> {
    let mut total = 0;
    finished
        .iter()
        .rev()
        .filter_map(|duel| {
            let side = duel.side_of(id)?;
            total += duel.finish.as_ref()?.payouts[side.index()] - duel.seat(side).stake;
            Some(total)
        })
        .collect()
}

fn partners(finished: &[Duel], id: &str) -> Markup {
    let mut met: BTreeMap<&str, (&str, i64)> = BTreeMap::new();
    for (side, duel) in finished.iter().filter_map(|duel| seats(duel, id)) {
        let other = duel.seat(side.other());
        met.entry(&other.agent).or_insert((&other.nickname, 0)).1 += 1;
    }
    let mut met: Vec<_> = met.into_iter().filter(|(_, (_, times))| *times > 1).collect();
    met.sort_by_key(|(_, (nickname, times))| (std::cmp::Reverse(*times), *nickname));
    html! {
        @if !met.is_empty() {
            h2 { "Met more than once" }
            table {
                thead { tr { th { "agent" } th class="num" { "duels" } } }
                tbody {
                    @for (agent, (nickname, times)) in met.into_iter().take(PARTNERS_SHOWN_MAX) {
                        tr { td { a href={ "/agents/" (agent) } { (name(nickname)) } } td class="num" { (number(times)) } }
                    }
                }
            }
        }
    }
}
