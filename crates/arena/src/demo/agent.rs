//! One agent: an ordinary MCP client that looks at its status, answers, demands and challenges.

use std::{collections::HashMap, sync::Arc, time::Duration};

use kernel::id::Ids;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::{
    client::{CallFault, Client},
    duel::{Memory, Move, Seen},
    event::Event,
    roster::Roster,
    script::{Script, draw, pick},
};

/// Presence is renewed when less of it is left, in Arena seconds.
const RENEW_BELOW_SECONDS: i64 = 240;
const PRESENCE_MINUTES: i64 = 15;
/// Points below which no duel can start.
const STAKE_MIN: i64 = 5;
/// An agent begins no duel while it has this many.
const DUELS_MAX: usize = 2;
/// Between two challenges an agent rests this long, in Arena seconds.
const REST_SECONDS: std::ops::Range<i64> = 90..240;
/// After a lost connection.
const RECONNECT_AFTER: Duration = Duration::from_millis(500);
/// The shortest and longest time between two looks at the status.
const LOOK_MS: std::ops::RangeInclusive<i64> = 25..=1500;
/// One look in so much Arena time, where the bounds allow it: far below the rate limits.
const LOOK_ARENA_MS: i64 = 24_000;

/// What an agent needs to play.
pub(crate) struct Setup {
    pub(crate) nickname: String,
    pub(crate) script: &'static Script,
    pub(crate) key: String,
    pub(crate) url: String,
    pub(crate) http: reqwest::Client,
    pub(crate) speed_milli: i64,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) roster: Roster,
    pub(crate) events: UnboundedSender<Event>,
    pub(crate) shutdown: CancellationToken,
}

/// Why an agent stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It has too few points for another duel.
    Spent,
    Shutdown,
}

#[derive(Deserialize)]
struct Status {
    arena: Presence,
    balance: Balance,
    duels: Vec<Seen>,
    recent_results: Vec<PastDuel>,
    message_ack_cursor: String,
}

#[derive(Deserialize)]
struct Presence {
    active: bool,
    expires_in_seconds: Option<i64>,
}

#[derive(Deserialize)]
struct Balance {
    available: i64,
    locked: i64,
}

#[derive(Deserialize)]
struct PastDuel {
    opponent_nickname: String,
    finished_at: String,
    your_stake: i64,
    opponent_stake: i64,
    opponent_demand: i64,
}

struct Agent {
    setup: Setup,
    cursor: Option<String>,
    duels: HashMap<String, Memory>,
    /// By opponent: when the latest duel ended, and their part of its pot in percent.
    past: HashMap<String, (String, i64)>,
    /// By opponent: no challenge before this.
    resting: HashMap<String, tokio::time::Instant>,
    next_challenge: tokio::time::Instant,
}

/// Plays until the points are spent or the demo ends.
pub(crate) async fn play(setup: Setup) -> Ending {
    let shutdown = setup.shutdown.clone();
    let mut agent = Agent {
        setup,
        cursor: None,
        duels: HashMap::new(),
        past: HashMap::new(),
        resting: HashMap::new(),
        next_challenge: tokio::time::Instant::now(),
    };
    let ending = tokio::select! {
        biased;
        () = shutdown.cancelled() => Ending::Shutdown,
        ending = agent.connected() => ending,
    };
    agent.setup.roster.leave(&agent.setup.nickname);
    ending
}

impl Agent {
    /// Connects again whenever the connection is lost.
    async fn connected(&mut self) -> Ending {
        loop {
            let lost = match Client::connect(&self.setup.http, &self.setup.url, &self.setup.key).await {
                Ok(client) => match self.playing(&client).await {
                    Ok(ending) => {
                        client.close().await;
                        return ending;
                    }
                    Err(fault) => fault,
                },
                Err(fault) => fault,
            };
            self.trouble(&lost);
            tokio::time::sleep(RECONNECT_AFTER).await;
        }
    }

    async fn playing(&mut self, client: &Client) -> Result<Ending, CallFault> {
        loop {
            match self.turn(client).await {
                Ok(true) => return Ok(Ending::Spent),
                Ok(false) => tokio::time::sleep(self.look_every()).await,
                Err(CallFault::Refused { code, retry_after_seconds, .. }) => {
                    // A duel may end between the look and the move; the next look shows it.
                    tracing::debug!(code, agent = self.setup.nickname, "a demo agent was refused");
                    let pause = retry_after_seconds.map_or(self.look_every(), |wait| self.arena(wait));
                    tokio::time::sleep(pause.max(self.look_every())).await;
                }
                Err(lost) => return Err(lost),
            }
        }
    }

    /// One look and what follows from it; answers whether the agent is spent.
    async fn turn(&mut self, client: &Client) -> Result<bool, CallFault> {
        let arguments = object(json!({ "message_ack_cursor": self.cursor }));
        let status: Status = read(client.call("get_arena_status", arguments).await?)?;
        self.cursor = Some(status.message_ack_cursor.clone());
        for past in &status.recent_results {
            let pot = (past.your_stake + past.opponent_stake - 1).max(1);
            let entry = (past.finished_at.clone(), past.opponent_demand * 100 / pot);
            let known = self.past.entry(past.opponent_nickname.clone()).or_insert_with(|| entry.clone());
            if known.0 < entry.0 {
                *known = entry;
            }
        }
        let in_duel: Vec<String> = status.duels.iter().map(|duel| duel.opponent_nickname.clone()).collect();
        self.duels.retain(|opponent, _| in_duel.contains(opponent));
        for seen in &status.duels {
            self.answer(client, seen).await?;
        }
        if status.balance.available < STAKE_MIN {
            if status.balance.locked > 0 {
                return Ok(false);
            }
            self.retire(client, status.balance.available).await?;
            return Ok(true);
        }
        let left = status.arena.expires_in_seconds.unwrap_or(0);
        if !status.arena.active || left < RENEW_BELOW_SECONDS {
            self.enter(client, !status.arena.active, status.balance.available).await?;
        }
        if status.duels.len() < DUELS_MAX && tokio::time::Instant::now() >= self.next_challenge {
            self.challenge(client, &in_duel).await?;
        }
        Ok(false)
    }

    async fn enter(&self, client: &Client, anew: bool, available: i64) -> Result<(), CallFault> {
        let Script { pitch, model_key, .. } = self.setup.script;
        let arguments = object(json!({
            "pitch": pitch, "ttl_minutes": PRESENCE_MINUTES, "model_key": model_key,
        }));
        client.call("enter_arena", arguments).await?;
        if anew {
            let agent = self.setup.nickname.clone();
            self.tell(Event::Entered { agent, pitch: (*pitch).to_owned(), available });
        }
        Ok(())
    }

    async fn answer(&mut self, client: &Client, seen: &Seen) -> Result<(), CallFault> {
        let opponent = seen.opponent_nickname.clone();
        let took = self.past.get(&opponent).map(|(_, percent)| *percent);
        let memory = self.duels.entry(opponent.clone()).or_default();
        let step = memory.next(seen, self.setup.script, took, &*self.setup.ids);
        let agent = self.setup.nickname.clone();
        match step {
            Move::Wait => {}
            Move::Say(message) => {
                let arguments = object(json!({ "nickname": opponent, "message": message }));
                let answer = client.call("send_message", arguments).await?;
                self.tell(Event::Said { at: at(&answer), agent, opponent, message });
            }
            Move::Demand(count) => {
                let arguments = object(json!({ "nickname": opponent, "count": count }));
                let answer = client.call("submit_demand", arguments).await?;
                self.tell(Event::Demanded { at: at(&answer), agent, opponent });
            }
        }
        Ok(())
    }

    async fn challenge(&mut self, client: &Client, in_duel: &[String]) -> Result<(), CallFault> {
        let now = tokio::time::Instant::now();
        let mut others = self.setup.roster.others(&self.setup.nickname);
        others.retain(|name| {
            !in_duel.contains(name) && self.resting.get(name).is_none_or(|until| *until <= now)
        });
        let names: Vec<&str> = others.iter().map(String::as_str).collect();
        let opponent = pick(&*self.setup.ids, &names).to_owned();
        if opponent.is_empty() {
            return Ok(());
        }
        let message = pick(&*self.setup.ids, self.setup.script.openings).to_owned();
        let arguments = object(json!({ "nickname": opponent, "message": message }));
        match client.call("challenge_agent", arguments).await {
            Ok(answer) => {
                let agent = self.setup.nickname.clone();
                if answer["action"] == "CREATED_DUEL" {
                    let pot = answer["distributable_pot"].as_i64().unwrap_or(0);
                    let deadline = answer["deadline_at"].as_str().unwrap_or_default();
                    self.duels.insert(opponent.clone(), Memory::of_own(deadline, &message));
                    let event = Event::Challenged {
                        at: at(&answer),
                        agent: agent.clone(),
                        opponent: opponent.clone(),
                        pot,
                    };
                    self.tell(event);
                    self.tell(Event::Said { at: at(&answer), agent, opponent, message });
                }
                let rest = REST_SECONDS.start + draw(&*self.setup.ids, REST_SECONDS.end - REST_SECONDS.start);
                self.next_challenge = now + self.arena(rest);
                Ok(())
            }
            Err(CallFault::Refused { code, retry_after_seconds, .. }) => {
                // Busy, gone or in cooldown: another opponent at the next look.
                tracing::debug!(code, opponent, "a challenge was refused");
                let wait = self.arena(retry_after_seconds.unwrap_or(20));
                self.resting.insert(opponent, now + wait);
                Ok(())
            }
            Err(lost) => Err(lost),
        }
    }

    /// Leaves, and hands what is left to somebody who still plays.
    async fn retire(&self, client: &Client, available: i64) -> Result<(), CallFault> {
        client.call("leave_arena", JsonObject::new()).await?;
        let agent = self.setup.nickname.clone();
        self.setup.roster.leave(&agent);
        let others = self.setup.roster.others(&agent);
        let names: Vec<&str> = others.iter().map(String::as_str).collect();
        let heir = pick(&*self.setup.ids, &names).to_owned();
        if available > 0 && !heir.is_empty() {
            let arguments = object(
                json!({ "nickname": heir, "count": available, "message": "Too few for a duel. Yours now." }),
            );
            let answer = client.call("transfer", arguments).await?;
            self.tell(Event::Transferred {
                at: at(&answer),
                agent: agent.clone(),
                to: heir,
                points: available,
            });
        }
        self.tell(Event::Retired { agent });
        Ok(())
    }

    /// `seconds` of Arena time in real time.
    fn arena(&self, seconds: i64) -> Duration {
        let ms = seconds.max(0).saturating_mul(1_000_000) / self.setup.speed_milli.max(1);
        Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }

    fn look_every(&self) -> Duration {
        let ms =
            (LOOK_ARENA_MS * 1000 / self.setup.speed_milli.max(1)).clamp(*LOOK_MS.start(), *LOOK_MS.end());
        Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }

    fn trouble(&self, fault: &CallFault) {
        let message = match fault {
            CallFault::Refused { message, .. } | CallFault::Lost(message) => message.clone(),
        };
        self.tell(Event::Trouble { agent: self.setup.nickname.clone(), message });
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more once the demo ends.
        let _ = self.setup.events.send(event);
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    }
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, CallFault> {
    serde_json::from_value(value)
        .map_err(|error| CallFault::Lost(format!("an answer cannot be read: {error}")))
}

fn at(answer: &Value) -> String {
    answer["server_time"].as_str().unwrap_or_default().to_owned()
}
