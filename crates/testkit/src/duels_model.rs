//! The reference: duels as a naive program over vectors that predicts every answer whole.
//!
//! It shares no code with the product. It knows the rules as the documents state them, keeps no index
//! and no ledger, and recomputes what it needs from the list of everything that happened.

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub struct Presence {
    pitch: String,
    model: Option<String>,
    expires: i64,
}

#[derive(Default)]
pub struct Agent {
    available: i64,
    locked: i64,
    presence: Option<Presence>,
    bio: Option<String>,
    /// A profile on x.com.
    handle: Option<String>,
}

impl Agent {
    fn owner(&self) -> Value {
        self.handle.as_ref().map_or(Value::Null, |handle| {
            json!({"provider": "x", "username": handle, "profile_url": format!("https://x.com/{handle}")})
        })
    }
}

#[derive(Clone)]
struct Message {
    from: usize,
    text: String,
    at: i64,
}

#[derive(Clone)]
pub struct Duel {
    sides: [String; 2],
    stakes: [i64; 2],
    models: [Option<String>; 2],
    demands: [Option<i64>; 2],
    messages: Vec<Message>,
    acked: [usize; 2],
    started: i64,
    finish: Option<Finish>,
}

#[derive(Clone)]
struct Finish {
    at: i64,
    payouts: [i64; 2],
    after: [i64; 2],
    burn: i64,
    over: bool,
}

struct Gift {
    from: String,
    to: String,
    count: i64,
    note: Option<String>,
    at: i64,
    after: [i64; 2],
}

/// Rows of a page of either history.
const PAGE: usize = 20;

/// What a call is predicted to answer: the whole body without summary, cursors and addresses.
pub type Prediction = Result<Value, &'static str>;

#[derive(Default)]
pub struct Model {
    pub now: i64,
    agents: BTreeMap<String, Agent>,
    duels: Vec<Duel>,
    /// Indexes into `duels` in the order of settlement.
    settled: Vec<usize>,
    gifts: Vec<Gift>,
    /// When each agent's admitted searches were.
    searches: BTreeMap<String, Vec<i64>>,
    /// What the last status of an agent delivered: duel and message count, as its cursor says.
    pub cursors: BTreeMap<String, Vec<(usize, usize)>>,
}

/// Takes out of an answer what the reference does not predict: words, ids and sealed cursors.
pub fn without_unpredicted(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for key in [
                "summary",
                "auto_bio",
                "message_ack_cursor",
                "next_cursor",
                "public_profile_url",
                "public_slug",
                "duel_url",
                "leaderboard_url",
            ] {
                map.remove(key);
            }
            if map.contains_key("minimum_required") {
                map.remove("message");
            }
            map.values_mut().for_each(without_unpredicted);
        }
        Value::Array(items) => items.iter_mut().for_each(without_unpredicted),
        _ => {}
    }
}

fn instant(ms: i64) -> Value {
    json!(kernel::Moment::from_millis(ms))
}

/// Half away from zero to one decimal, through decimal text rather than the product's arithmetic.
pub fn percent(numerator: i64, denominator: i64) -> Value {
    if denominator == 0 {
        return Value::Null;
    }
    let scaled = numerator.abs() * 10_000 / denominator; // hundredths, cut off
    let tenths = (scaled + 5) / 10;
    let sign = if numerator < 0 && tenths > 0 { "-" } else { "" };
    let text = match tenths % 10 {
        0 => format!("{sign}{}", tenths / 10),
        tenth => format!("{sign}{}.{tenth}", tenths / 10),
    };
    serde_json::from_str(&text).unwrap()
}

impl Model {
    pub fn join(&mut self, name: &str, available: i64) {
        self.agents.insert(name.to_owned(), Agent { available, ..Agent::default() });
    }

    /// What may be claimed in the pair's latest duel; 19 before the first.
    pub fn pot(&self, a: &str, b: &str) -> i64 {
        self.pair(a, b).last().map_or(19, |i| self.duels[i].stakes.iter().sum::<i64>() - 1)
    }

    fn live(&self, name: &str) -> Option<&Presence> {
        self.agents[name].presence.as_ref().filter(|presence| self.now < presence.expires)
    }

    fn agent(&mut self, name: &str) -> &mut Agent {
        self.agents.get_mut(name).unwrap()
    }

    fn active(&self, name: &str) -> Vec<usize> {
        (0..self.duels.len())
            .filter(|i| {
                self.duels[*i].finish.is_none() && self.duels[*i].sides.iter().any(|side| side == name)
            })
            .collect()
    }

    fn due(&self, duel: usize) -> bool {
        self.duels[duel].finish.is_none() && self.now >= self.duels[duel].started + 600_000
    }

    fn pair(&self, a: &str, b: &str) -> impl DoubleEndedIterator<Item = usize> {
        let found: Vec<usize> = (0..self.duels.len())
            .filter(|i| [[a, b], [b, a]].iter().any(|sides| self.duels[*i].sides == *sides))
            .collect();
        found.into_iter()
    }

    fn settle(&mut self, i: usize) {
        let duel = &self.duels[i];
        let [a, b] = duel.demands.map(|demand| demand.unwrap_or(0));
        let gross = duel.stakes[0] + duel.stakes[1];
        let over = a + b > gross - 1;
        let payouts = if over { [0, 0] } else { [a, b] };
        let at = if duel.demands.iter().all(Option::is_some) { self.now } else { duel.started + 600_000 };
        let (sides, stakes) = (duel.sides.clone(), duel.stakes);
        let mut after = [0, 0];
        for side in 0..2 {
            let agent = self.agent(&sides[side]);
            agent.locked -= stakes[side];
            agent.available += payouts[side];
            after[side] = agent.available + agent.locked;
        }
        let burn = gross - payouts[0] - payouts[1];
        self.duels[i].finish = Some(Finish { at, payouts, after, burn, over });
        self.settled.push(i);
    }

    /// The next instant at which a rule changes its answer.
    pub fn next_boundary(&self) -> Option<i64> {
        let presences = self.agents.values().filter_map(|agent| agent.presence.as_ref()).map(|p| p.expires);
        let duels = self.duels.iter().map(|duel| match &duel.finish {
            Some(finish) => finish.at + 300_000,
            None => duel.started + 600_000,
        });
        presences.chain(duels).filter(|at| *at > self.now + 2).min()
    }

    /// Settles the due duels of these agents, as every command about them does first.
    fn touch(&mut self, names: &[&str]) {
        for name in names {
            for i in self.active(name) {
                if self.due(i) {
                    self.settle(i);
                }
            }
        }
    }

    /// One sweep of the deadline worker, oldest deadline first.
    pub fn sweep(&mut self) {
        for i in 0..self.duels.len() {
            if self.due(i) {
                self.settle(i);
            }
        }
    }

    fn balance(&self, name: &str) -> Value {
        let agent = &self.agents[name];
        json!({"total": agent.available + agent.locked, "available": agent.available, "locked": agent.locked})
    }

    fn arena(&self, name: &str) -> Value {
        match self.live(name) {
            Some(presence) => json!({
                "active": true,
                "expires_at": instant(presence.expires),
                "expires_in_seconds": (presence.expires - self.now) / 1000,
                "pitch": presence.pitch,
                "model_key": presence.model,
            }),
            None => {
                json!({"active": false, "expires_at": null, "expires_in_seconds": null, "pitch": null, "model_key": null})
            }
        }
    }

    pub fn opponents(&self, name: &str) -> Vec<String> {
        self.active(name)
            .into_iter()
            .map(|i| self.duels[i].sides.iter().find(|side| *side != name).unwrap().clone())
            .collect()
    }

    /// The advice that goes with fewer than five available points.
    fn advise(&self, name: &str, mut body: Value) -> Value {
        let available = self.agents[name].available;
        if available < 5 {
            body["recovery"] =
                json!({"code": "BELOW_DUEL_MINIMUM", "minimum_required": 5, "available": available});
        }
        body
    }

    fn presence_body(&self, name: &str, action: &str) -> Value {
        let opponents = self.opponents(name);
        json!({
            "server_time": instant(self.now), "action": action,
            "active_duels_count": opponents.len(), "active_duel_nicknames": opponents,
            "arena": self.arena(name), "balance": self.balance(name),
        })
    }

    pub fn enter(&mut self, name: &str, pitch: &str, minutes: i64, model: Option<&str>) -> Prediction {
        self.touch(&[name]);
        if self.agents[name].available < 5 {
            return Err("INSUFFICIENT_BALANCE");
        }
        let kept = self.live(name).and_then(|presence| presence.model.clone());
        let model = model.map(str::to_owned).or(kept);
        let expires = self.now + minutes * 60_000;
        self.agent(name).presence = Some(Presence { pitch: pitch.to_owned(), model, expires });
        Ok(self.presence_body(name, "ENTERED"))
    }

    pub fn leave(&mut self, name: &str) -> Prediction {
        self.touch(&[name]);
        let action = if self.live(name).is_some() { "LEFT" } else { "ALREADY_INACTIVE" };
        self.agent(name).presence = None;
        Ok(self.presence_body(name, action))
    }

    /// The agents found are in the order of their names; likeness is not predicted here.
    pub fn search(&mut self, name: &str) -> Prediction {
        self.touch(&[name]);
        let times = self.searches.entry(name.to_owned()).or_default();
        let opens = |times: &[i64]| {
            let after = |max: usize, span: i64| match times.len().checked_sub(max) {
                Some(at) => times[at] + span,
                None => 0,
            };
            after(10, 60_000).max(after(50, 3_600_000))
        };
        if opens(times) > self.now {
            return Err("SEARCH_COOLDOWN");
        }
        times.push(self.now);
        let next = opens(times).max(self.now);
        let agents: Vec<Value> = self
            .agents
            .iter()
            .filter(|(other, agent)| {
                let last =
                    self.pair(name, other).filter_map(|i| self.duels[i].finish.as_ref()).map(|f| f.at).max();
                *other != name
                    && self.live(other).is_some()
                    && agent.available >= 5
                    && self.active(other).len() < 3
                    && self.pair(name, other).all(|i| self.duels[i].finish.is_some())
                    && last.is_none_or(|at| self.now >= at + 300_000)
            })
            .map(|(other, agent)| {
                let presence = self.live(other).unwrap();
                json!({
                    "nickname": other, "balance": agent.available + agent.locked,
                    "available_balance": agent.available, "rating_percent": self.rating(other, None),
                    "duels_played": self.counts(other, None).2, "pitch": presence.pitch,
                    "arena_expires_at": instant(presence.expires),
                    "arena_expires_in_seconds": (presence.expires - self.now) / 1000,
                })
            })
            .collect();
        Ok(json!({
            "server_time": instant(self.now), "returned_count": agents.len(), "next_search_at": instant(next),
            "retry_after_seconds": (next - self.now + 999) / 1000, "agents": agents,
        }))
    }

    fn side(&self, i: usize, name: &str) -> usize {
        usize::from(self.duels[i].sides[1] == name)
    }

    fn state(&self, i: usize, name: &str) -> &'static str {
        let (duel, me) = (&self.duels[i], self.side(i, name));
        match (&duel.finish, duel.demands[me], duel.demands[1 - me]) {
            (Some(_), ..) => "FINISHED",
            (_, Some(_), _) => "WAITING_FOR_OPPONENT",
            (_, _, Some(_)) => "YOUR_DEMAND_REQUIRED",
            _ => "CHAT",
        }
    }

    pub fn challenge(&mut self, name: &str, other: &str, message: Option<&str>) -> Prediction {
        let stored = self.pair(name, other).find(|i| self.duels[*i].finish.is_none());
        let overdue = stored.is_some_and(|i| self.due(i));
        self.touch(&[name, other]);
        if let Some(i) = stored {
            let action = if overdue { "FINISHED_DUEL" } else { "EXISTING_DUEL" };
            return Ok(self.challenge_body(i, name, action, false));
        }
        if self.live(other).is_none() {
            return Err("AGENT_NOT_AVAILABLE");
        }
        if self.live(name).is_none() {
            return Err("NOT_IN_ARENA");
        }
        if self.agents[name].available < 5 {
            return Err("INSUFFICIENT_BALANCE");
        }
        if self.agents[other].available < 5 {
            return Err("AGENT_NOT_AVAILABLE");
        }
        if self.active(name).len() >= 3 {
            return Err("DUEL_LIMIT_REACHED");
        }
        if self.active(other).len() >= 3 {
            return Err("AGENT_NOT_AVAILABLE");
        }
        let last = self.pair(name, other).filter_map(|i| self.duels[i].finish.as_ref()).map(|f| f.at).max();
        if last.is_some_and(|at| self.now < at + 300_000) {
            return Err("PAIR_COOLDOWN");
        }
        let sides = [name.to_owned(), other.to_owned()];
        let models = [name, other].map(|side| self.live(side).unwrap().model.clone());
        let stakes = [name, other].map(|side| (self.agents[side].available / 10).max(5));
        for side in 0..2 {
            let agent = self.agent(&sides[side]);
            agent.available -= stakes[side];
            agent.locked += stakes[side];
        }
        let (now, text) = (self.now, message.map(str::to_owned));
        let messages = text.into_iter().map(|text| Message { from: 0, text, at: now }).collect();
        self.duels.push(Duel {
            sides,
            stakes,
            models,
            demands: [None, None],
            messages,
            acked: [0, 0],
            started: now,
            finish: None,
        });
        Ok(self.challenge_body(self.duels.len() - 1, name, "CREATED_DUEL", message.is_some()))
    }

    fn challenge_body(&self, i: usize, name: &str, action: &str, sent: bool) -> Value {
        let (duel, me) = (&self.duels[i], self.side(i, name));
        let gross = duel.stakes[0] + duel.stakes[1];
        let mut body = json!({
            "server_time": instant(self.now), "action": action, "opponent_nickname": duel.sides[1 - me],
            "state": self.state(i, name), "your_stake": duel.stakes[me], "opponent_stake": duel.stakes[1 - me],
            "gross_pot": gross, "base_burn": 1, "distributable_pot": gross - 1,
            "deadline_at": instant(duel.started + 600_000),
            "expires_in_seconds": ((duel.started + 600_000 - self.now) / 1000).max(0),
            "balance": self.balance(name), "message_sent": sent,
        });
        if let Some(finish) = &duel.finish {
            body["result"] = self.record(i, name);
            body["rematch_at"] = instant(finish.at + 300_000);
            body["retry_after_seconds"] = json!(((finish.at + 300_000 - self.now).max(0) + 999) / 1000);
        }
        self.advise(name, body)
    }

    fn record(&self, i: usize, name: &str) -> Value {
        let (duel, me) = (&self.duels[i], self.side(i, name));
        let other = 1 - me;
        let finish = duel.finish.as_ref().unwrap();
        let result = |side: usize| match finish.payouts[side] - duel.stakes[side] {
            1.. => "WIN",
            0 => "DRAW",
            _ => "LOSS",
        };
        let source = |side: usize| if duel.demands[side].is_some() { "SUBMITTED" } else { "DEFAULT_TIMEOUT" };
        json!({
            "opponent_nickname": duel.sides[other], "started_at": instant(duel.started),
            "finished_at": instant(finish.at), "settlement": if finish.over { "OVER_POT" } else { "WITHIN_POT" },
            "your_result": result(me), "opponent_result": result(other),
            "your_stake": duel.stakes[me], "opponent_stake": duel.stakes[other],
            "your_demand": duel.demands[me].unwrap_or(0), "your_demand_source": source(me),
            "opponent_demand": duel.demands[other].unwrap_or(0), "opponent_demand_source": source(other),
            "your_payout": finish.payouts[me], "opponent_payout": finish.payouts[other],
            "platform_credit": finish.burn, "your_balance_after": finish.after[me],
            "your_model_key": duel.models[me], "opponent_model_key": duel.models[other],
        })
    }

    pub fn message(&mut self, name: &str, other: &str, text: &str) -> Prediction {
        self.touch(&[name, other]);
        let Some(i) = self.pair(name, other).find(|i| self.duels[*i].finish.is_none()) else {
            let any = self.pair(name, other).next().is_some();
            return Err(if any { "DUEL_FINISHED" } else { "DUEL_NOT_FOUND" });
        };
        if self.duels[i].demands.iter().any(Option::is_some) {
            return Err("CHAT_CLOSED");
        }
        let message = Message { from: self.side(i, name), text: text.to_owned(), at: self.now };
        self.duels[i].messages.push(message);
        let deadline = self.duels[i].started + 600_000;
        Ok(json!({
            "server_time": instant(self.now), "action": "SENT_MESSAGE", "opponent_nickname": other, "state": "CHAT",
            "sent_at": instant(self.now), "deadline_at": instant(deadline),
            "expires_in_seconds": (deadline - self.now) / 1000,
        }))
    }

    pub fn demand(&mut self, name: &str, other: &str, count: i64) -> Prediction {
        self.touch(&[name, other]);
        let active = self.pair(name, other).find(|i| self.duels[*i].finish.is_none());
        let latest = self.settled.iter().rev().copied().find(|i| {
            let sides = &self.duels[*i].sides;
            sides.iter().any(|side| side == name) && sides.iter().any(|side| side == other)
        });
        let Some(i) = active.or(latest) else { return Err("DUEL_NOT_FOUND") };
        let me = self.side(i, name);
        let pot = self.duels[i].stakes[0] + self.duels[i].stakes[1] - 1;
        let action = match (self.duels[i].demands[me], &self.duels[i].finish) {
            (Some(before), Some(_)) if before == count => "FINISHED_DUEL",
            (_, Some(_)) => return Err("DUEL_FINISHED"),
            (Some(before), None) if before == count => "EXISTING_DEMAND",
            (Some(_), None) => return Err("DEMAND_ALREADY_SUBMITTED"),
            (None, None) if count > pot => return Err("DEMAND_OUT_OF_RANGE"),
            (None, None) => {
                self.duels[i].demands[me] = Some(count);
                if self.duels[i].demands[1 - me].is_some() {
                    self.settle(i);
                }
                "SUBMITTED_DEMAND"
            }
        };
        let result = if self.duels[i].finish.is_some() { self.record(i, name) } else { Value::Null };
        let body = json!({
            "server_time": instant(self.now), "action": action, "opponent_nickname": other,
            "state": self.state(i, name), "submitted_count": count, "result": result,
        });
        Ok(self.advise(name, body))
    }

    pub fn transfer(&mut self, name: &str, other: &str, count: i64, note: Option<&str>) -> Prediction {
        self.touch(&[name, other]);
        if count > self.agents[name].available {
            return Err("INSUFFICIENT_BALANCE");
        }
        self.agent(name).available -= count;
        self.agent(other).available += count;
        let total = |agent: &Agent| agent.available + agent.locked;
        let after = [total(&self.agents[name]), total(&self.agents[other])];
        let (from, to, note_text) = (name.to_owned(), other.to_owned(), note.map(str::to_owned));
        self.gifts.push(Gift { from, to, count, note: note_text, at: self.now, after });
        let body = json!({
            "server_time": instant(self.now), "action": "TRANSFERRED", "nickname": other, "count": count,
            "message_attached": note.is_some(), "transferred_at": instant(self.now),
            "balance": self.balance(name), "arena": self.arena(name),
        });
        Ok(self.advise(name, body))
    }

    pub fn set_bio(&mut self, name: &str, bio: Option<&str>) -> Prediction {
        self.agent(name).bio = bio.map(str::to_owned);
        Ok(self.presentation(name))
    }

    /// Links a profile on x.com, or none.
    pub fn set_handle(&mut self, name: &str, handle: Option<&str>) -> Prediction {
        self.agent(name).handle = handle.map(str::to_owned);
        Ok(self.presentation(name))
    }

    fn presentation(&self, name: &str) -> Value {
        let agent = &self.agents[name];
        let fields =
            [("bio", agent.bio.is_none()), ("avatar_url", true), ("social_url", agent.handle.is_none())];
        let missing: Vec<&str> = fields.iter().filter(|field| field.1).map(|field| field.0).collect();
        json!({
            "server_time": instant(self.now), "action": "PRESENTATION_UPDATED",
            "presentation": {
                "bio": agent.bio, "avatar_url": null, "owner": agent.owner(), "missing_fields": missing,
            },
        })
    }

    /// Wins, draws and duels of an agent, optionally with one model.
    fn counts(&self, name: &str, model: Option<&str>) -> (i64, i64, i64) {
        let (mut wins, mut draws, mut played) = (0, 0, 0);
        for i in &self.settled {
            let duel = &self.duels[*i];
            if !duel.sides.iter().any(|side| side == name) {
                continue;
            }
            let me = self.side(*i, name);
            if model.is_some() && duel.models[me].as_deref() != model {
                continue;
            }
            played += 1;
            match duel.finish.as_ref().unwrap().payouts[me] - duel.stakes[me] {
                1.. => wins += 1,
                0 => draws += 1,
                _ => {}
            }
        }
        (wins, draws, played)
    }

    fn rating(&self, name: &str, model: Option<&str>) -> Value {
        let (wins, draws, played) = self.counts(name, model);
        percent(2 * wins + draws, 2 * played)
    }

    fn gift(gift: &Gift, name: &str) -> Value {
        let out = gift.from == name;
        json!({
            "direction": if out { "OUTGOING" } else { "INCOMING" },
            "nickname": if out { &gift.to } else { &gift.from }, "count": gift.count, "message": gift.note,
            "created_at": instant(gift.at), "balance_after": gift.after[usize::from(!out)],
        })
    }

    fn gifts_of(&self, name: &str, skip: usize, limit: usize) -> Vec<Value> {
        let mine = self.gifts.iter().rev().filter(|gift| gift.from == name || gift.to == name);
        mine.skip(skip).take(limit).map(|gift| Self::gift(gift, name)).collect()
    }

    fn results_of(&self, name: &str, skip: usize, limit: usize) -> Vec<Value> {
        let mine =
            self.settled.iter().rev().filter(|i| self.duels[**i].sides.iter().any(|side| side == name));
        mine.skip(skip).take(limit).map(|i| self.record(*i, name)).collect()
    }

    fn deliver(&self, i: usize, name: &str, seen: &mut Vec<(usize, usize)>) -> Vec<Value> {
        let (duel, me) = (&self.duels[i], self.side(i, name));
        let new: Vec<(usize, &Message)> = duel
            .messages
            .iter()
            .enumerate()
            .skip(duel.acked[me])
            .filter(|(_, message)| message.from != me)
            .take(100)
            .collect();
        if let Some((last, _)) = new.last() {
            seen.push((i, last + 1));
        }
        new.iter().map(|(_, m)| json!({"sent_at": instant(m.at), "message": m.text})).collect()
    }

    pub fn status(&mut self, name: &str, acks: &[(usize, usize)]) -> Prediction {
        self.touch(&[name]);
        for (i, count) in acks {
            let me = self.side(*i, name);
            self.duels[*i].acked[me] = self.duels[*i].acked[me].max(*count);
        }
        let mut seen = Vec::new();
        let mut active = Vec::new();
        for i in self.active(name) {
            let (duel, me) = (&self.duels[i], self.side(i, name));
            let gross = duel.stakes[0] + duel.stakes[1];
            active.push(json!({
                "opponent_nickname": duel.sides[1 - me], "state": self.state(i, name),
                "deadline_at": instant(duel.started + 600_000),
                "expires_in_seconds": (duel.started + 600_000 - self.now) / 1000,
                "your_stake": duel.stakes[me], "opponent_stake": duel.stakes[1 - me],
                "gross_pot": gross, "base_burn": 1, "distributable_pot": gross - 1,
                "new_messages": self.deliver(i, name, &mut seen),
            }));
        }
        let unread: Vec<usize> = self
            .settled
            .iter()
            .copied()
            .filter(|i| {
                let duel = &self.duels[*i];
                duel.sides.iter().any(|side| side == name) && {
                    let me = self.side(*i, name);
                    duel.messages.iter().skip(duel.acked[me]).any(|message| message.from != me)
                }
            })
            .take(3)
            .collect();
        let completed: Vec<Value> = unread
            .into_iter()
            .map(|i| {
                let (duel, me) = (&self.duels[i], self.side(i, name));
                json!({
                    "opponent_nickname": duel.sides[1 - me],
                    "finished_at": instant(duel.finish.as_ref().unwrap().at),
                    "new_messages": self.deliver(i, name, &mut seen),
                })
            })
            .collect();
        self.cursors.insert(name.to_owned(), seen);
        let body = json!({
            "server_time": instant(self.now),
            "agent": {"nickname": name, "rating_percent": self.rating(name, None), "duels_played": self.counts(name, None).2},
            "arena": self.arena(name), "duels": active, "completed_message_deliveries": completed,
            "balance": self.balance(name), "recent_results": self.results_of(name, 0, 3),
            "recent_transfers": self.gifts_of(name, 0, 20),
        });
        Ok(self.advise(name, body))
    }

    /// A page of the results, counted from 0.
    pub fn history(&self, name: &str, page: usize) -> Prediction {
        Ok(json!({"server_time": instant(self.now), "results": self.results_of(name, page * PAGE, PAGE)}))
    }

    /// A page of the transfers, counted from 0.
    pub fn transfers(&self, name: &str, page: usize) -> Prediction {
        Ok(json!({"server_time": instant(self.now), "transfers": self.gifts_of(name, page * PAGE, PAGE)}))
    }

    pub fn whoami(&self, name: &str) -> Prediction {
        Ok(json!({
            "server_time": instant(self.now),
            "oauth": {"current_provider": "key", "linked_providers": ["key"]},
            "agent": {"nickname": name, "bio": self.agents[name].bio, "duels_played": self.counts(name, None).2},
        }))
    }

    pub fn leaderboard(&self, viewer: &str) -> Prediction {
        let mut names: Vec<&String> =
            self.agents.keys().filter(|name| self.counts(name, None).2 >= 20).collect();
        names.sort_by(|one, two| {
            let key = |name: &str| {
                let (wins, _, played) = self.counts(name, None);
                (self.rating(name, None).as_f64().unwrap(), wins, played)
            };
            key(two).partial_cmp(&key(one)).unwrap().then(one.cmp(two))
        });
        let rows: Vec<Value> = names
            .iter()
            .take(10)
            .enumerate()
            .map(|(index, name)| {
                let (wins, draws, played) = self.counts(name, None);
                let (mut paid, mut staked) = (0, 0);
                let mut models: Vec<String> = Vec::new();
                for i in &self.settled {
                    let duel = &self.duels[*i];
                    if duel.sides.iter().any(|side| side == *name) {
                        let me = self.side(*i, name);
                        paid += duel.finish.as_ref().unwrap().payouts[me];
                        staked += duel.stakes[me];
                        models.extend(duel.models[me].clone());
                    }
                }
                models.sort();
                models.dedup();
                models.sort_by_key(|model| {
                    let (wins, draws, played) = self.counts(name, Some(model));
                    (-wins, -draws, -played)
                });
                let models: Vec<Value> = models
                    .iter()
                    .map(|model| {
                        let (wins, draws, played) = self.counts(name, Some(model));
                        json!({"model_key": model, "wins": wins, "draws": draws, "duels_played": played,
                               "rating_percent": self.rating(name, Some(model))})
                    })
                    .collect();
                let agent = &self.agents[*name];
                json!({
                    "rank": index + 1, "nickname": name, "balance": agent.available + agent.locked,
                    "rating_percent": self.rating(name, None), "roi_percent": percent(paid - staked, staked),
                    "wins": wins, "draws": draws, "duels_played": played, "models": models,
                    "bio": agent.bio, "avatar_url": null, "owner": agent.owner(), "is_you": *name == viewer,
                })
            })
            .collect();
        Ok(json!({"server_time": instant(self.now), "top": rows}))
    }

    pub fn feed(&self) -> Prediction {
        let events: Vec<Value> = self
            .settled
            .iter()
            .rev()
            .take(20)
            .map(|i| {
                let duel = &self.duels[*i];
                let finish = duel.finish.as_ref().unwrap();
                let side = |side: usize| {
                    let record = self.record(*i, &duel.sides[side]);
                    json!({
                        "nickname": duel.sides[side], "result": record["your_result"], "stake": duel.stakes[side],
                        "demand": record["your_demand"], "demand_source": record["your_demand_source"],
                        "payout": finish.payouts[side], "model_key": duel.models[side],
                    })
                };
                json!({
                    "finished_at": instant(finish.at), "settlement": if finish.over { "OVER_POT" } else { "WITHIN_POT" },
                    "participants": [side(0), side(1)], "burn": finish.burn, "base_burn": 1,
                })
            })
            .collect();
        Ok(json!({"server_time": instant(self.now), "events": events}))
    }
}
