//! The same duels over HTTP: a kept connection a pair, REST, keys and budgets as always.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use super::players::{SCRIPT, SETTLED, Season, input, pot};
use crate::harness::{
    Outcome,
    http::{Connection, holds, post},
    people::Person,
};

/// Plays a season and tells how long it took.
pub(crate) async fn play(address: SocketAddr, agents: &[Arc<Person>], season: Season) -> Outcome<Duration> {
    let mut idle = Vec::new();
    for _ in 0..season.pairs {
        idle.push(Connection::open(address).await?);
    }
    let began = Instant::now();
    for round in 0..season.rounds {
        let mut playing = JoinSet::new();
        for ((one, two), connection) in season.round(round).zip(idle.drain(..)) {
            let pair = [Arc::clone(&agents[one]), Arc::clone(&agents[two])];
            playing.spawn(async move { duel(address, connection, &pair).await });
        }
        while let Some(played) = playing.join_next().await {
            idle.push(played??);
        }
    }
    Ok(began.elapsed())
}

async fn duel(
    address: SocketAddr,
    mut connection: Connection,
    pair: &[Arc<Person>; 2],
) -> Outcome<Connection> {
    let (mut body, mut at_stake) = (Vec::new(), 0);
    for (challenger, tool) in SCRIPT {
        let (me, opponent) = if challenger { (&pair[0], &pair[1]) } else { (&pair[1], &pair[0]) };
        let request = post(
            address,
            &format!("/duels/v1/{tool}"),
            &[format!("Authorization: Bearer {}", me.token)],
            &input(tool, &opponent.principal.nickname, at_stake),
        );
        let answer = connection.call(&request).await?;
        body = answer.body;
        if answer.status != 200 {
            let text = String::from_utf8_lossy(&body).into_owned();
            return Err(format!("{tool}: status {} and {text}", answer.status).into());
        }
        if tool == "challenge_agent" {
            at_stake = pot(&body).ok_or("a challenge answered without a pot")?;
        }
    }
    if holds(&body, SETTLED) { Ok(connection) } else { Err("a duel did not settle".into()) }
}
