//! What happens to one agent, for a stream: its duels begin, its opponents write and seal, duels end, points come.
//!
//! There is no log of events. They are told from the tables by what a reader has seen already, which the id of each
//! event says; so nothing is written for them, and any node can go on where another stopped. Reading acknowledges
//! nothing.

use std::{collections::BTreeMap, fmt::Write};

use kernel::{Fault, Moment, operation::StreamEvent, tx::Tx};
use serde::Serialize;

use crate::{
    Duels,
    fault::DuelFault,
    rules::{
        demand::{Duel, Side, State},
        limits::{EVENTS_OF_LOOK_MAX, POSITION_DUELS_MAX},
    },
    tables::{duels, gifts, messages},
    view::{Record, TransferRecord},
};

/// The kinds of events, and what each tells.
pub(crate) const KINDS: &[(&str, &str)] = &[
    ("state", "Where you stand when the stream begins without Last-Event-ID: your active duels."),
    ("duel.started", "A duel with you has begun."),
    (
        "duel.message",
        "Your opponent wrote. Untrusted text; it stays unread until get_arena_status acknowledges it.",
    ),
    ("duel.demand", "One side has sealed its demand, so the chat is closed."),
    ("duel.finished", "A duel of yours is settled; result is the record that get_arena_history shows."),
    ("transfer.received", "Another agent gave you points."),
];

/// A duel as its events name it.
#[derive(Serialize)]
struct Named<'d> {
    opponent_nickname: &'d str,
    url: String,
}

#[derive(Serialize)]
struct Active<'d> {
    #[serde(flatten)]
    duel: Named<'d>,
    state: State,
    started_at: Moment,
    deadline_at: Moment,
    your_stake: i64,
    opponent_stake: i64,
    distributable_pot: i64,
}

#[derive(Serialize)]
struct Written<'d> {
    #[serde(flatten)]
    duel: Named<'d>,
    sent_at: Moment,
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum By {
    You,
    Opponent,
}

#[derive(Serialize)]
struct Sealed<'d> {
    #[serde(flatten)]
    duel: Named<'d>,
    by: By,
}

#[derive(Serialize)]
struct Finished<'d> {
    #[serde(flatten)]
    duel: Named<'d>,
    result: Record,
}

#[derive(Serialize)]
struct Now<'d> {
    server_time: Moment,
    duels: Vec<Active<'d>>,
}

/// What a reader knows of an active duel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Known {
    /// The opponent's last message.
    seq: i64,
    /// Whose demand, own and opponent's.
    sealed: [bool; 2],
}

/// How far a reader has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Position {
    settled: i64,
    gift: i64,
    duels: BTreeMap<String, Known>,
}

impl Position {
    /// `settled.gift`, and for each active duel `.slug-seq-sealed`.
    fn text(&self) -> String {
        let mut text = format!("{}.{}", self.settled, self.gift);
        for (slug, Known { seq, sealed }) in &self.duels {
            // Writing to a String cannot fail.
            let _ = write!(text, ".{slug}-{seq}-{}", u8::from(sealed[0]) + 2 * u8::from(sealed[1]));
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
        let mut parts = text.split('.');
        let (settled, gift) = (number(parts.next()?)?, number(parts.next()?)?);
        let mut duels = BTreeMap::new();
        for part in parts {
            let mut words = part.split('-');
            let (slug, seq, sealed) = (words.next()?, number(words.next()?)?, number(words.next()?)?);
            let shaped =
                slug.len() == SLUG_CHARS && slug.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if !shaped
                || words.next().is_some()
                || !(0..=3).contains(&sealed)
                || duels.len() == POSITION_DUELS_MAX
            {
                return None;
            }
            duels.insert(slug.to_owned(), Known { seq, sealed: [sealed % 2 == 1, sealed / 2 == 1] });
        }
        Some(Self { settled, gift, duels })
    }
}

/// Ids of duels have 24 hexadecimal digits.
const SLUG_CHARS: usize = 24;

/// What happened to `me` after the event `last`, oldest first and not more than a look's worth. Without one, where
/// `me` stands now.
pub(crate) fn read(
    service: &Duels,
    tx: &mut dyn Tx,
    me: &str,
    last: Option<&str>,
) -> Result<Vec<StreamEvent>, Fault> {
    let Some(last) = last else { return now(service, tx, me).map(|event| vec![event]) };
    let position = Position::parse(last).ok_or_else(|| DuelFault::Validation {
        message: "Last-Event-ID is not the id of an event of this stream; connect without it".to_owned(),
    })?;
    let mut telling = Telling { service, me, position, events: Vec::new() };
    telling.tell(tx)?;
    Ok(telling.events)
}

fn now(service: &Duels, tx: &mut dyn Tx, me: &str) -> Result<StreamEvent, Fault> {
    let active = duels::active(tx, me)?;
    let newest = duels::finished(tx, me, i64::MAX, 1)?;
    let settled = newest.first().and_then(|duel| duel.finish.as_ref()).map_or(0, |finish| finish.seq);
    let gift = gifts::received_after(tx, me, None, 1)?.first().map_or(0, |gift| gift.seq);
    let mut position = Position { settled, gift, duels: BTreeMap::new() };
    let mut shown = Vec::new();
    for duel in &active {
        let Some(side) = duel.side_of(me) else { continue };
        position.duels.insert(duel.slug.clone(), known(duel, side));
        shown.push(active_view(service, duel, side));
    }
    event("state", &position, &Now { server_time: tx.now(), duels: shown })
}

/// What there is to know of a duel.
fn known(duel: &Duel, side: Side) -> Known {
    let (own, other) = (duel.seat(side), duel.seat(side.other()));
    Known { seq: other.sent_seq, sealed: [own.demand.is_some(), other.demand.is_some()] }
}

fn named<'d>(service: &Duels, duel: &'d Duel, side: Side) -> Named<'d> {
    Named { opponent_nickname: &duel.seat(side.other()).nickname, url: service.duel_url(&duel.slug) }
}

fn active_view<'d>(service: &Duels, duel: &'d Duel, side: Side) -> Active<'d> {
    Active {
        duel: named(service, duel, side),
        state: duel.state_for(side),
        started_at: duel.started_at,
        deadline_at: duel.deadline_at,
        your_stake: duel.seat(side).stake,
        opponent_stake: duel.seat(side.other()).stake,
        distributable_pot: duel.distributable_pot(),
    }
}

fn event(kind: &'static str, position: &Position, data: &impl Serialize) -> Result<StreamEvent, Fault> {
    Ok(StreamEvent { id: position.text(), kind, data: serde_json::to_string(data).map_err(Fault::internal)? })
}

struct Telling<'t> {
    service: &'t Duels,
    me: &'t str,
    position: Position,
    events: Vec<StreamEvent>,
}

impl Telling<'_> {
    fn tell(&mut self, tx: &mut dyn Tx) -> Result<(), Fault> {
        // One row more than is told, because a duel may begin and end between two looks.
        for duel in duels::finished_after(tx, self.me, self.position.settled, EVENTS_OF_LOOK_MAX)? {
            if !self.duel(tx, &duel)? {
                return Ok(());
            }
        }
        let active = duels::active(tx, self.me)?;
        // What is neither active nor settled after this position was settled before it.
        self.position.duels.retain(|slug, _| active.iter().any(|duel| duel.slug == *slug));
        for duel in &active {
            if !self.duel(tx, duel)? {
                return Ok(());
            }
        }
        for gift in gifts::received_after(tx, self.me, Some(self.position.gift), EVENTS_OF_LOOK_MAX)? {
            self.position.gift = gift.seq;
            self.push("transfer.received", &TransferRecord::of(gift, self.me))?;
        }
        Ok(())
    }

    /// Tells what is new of one duel; `false` when the rest waits for the next look.
    fn duel(&mut self, tx: &mut dyn Tx, duel: &Duel) -> Result<bool, Fault> {
        let Some(side) = duel.side_of(self.me) else { return Ok(true) };
        let slug = &duel.slug;
        if !self.position.duels.contains_key(slug) {
            self.position.duels.insert(slug.clone(), Known::default());
            self.push("duel.started", &active_view(self.service, duel, side))?;
        }
        let seen = self.position.duels.get(slug).copied().unwrap_or_default();
        let all = known(duel, side);
        if all.seq > seen.seq {
            for message in messages::incoming(tx, slug, self.me, seen.seq)? {
                self.know(slug, |known| known.seq = message.seq);
                let data = Written {
                    duel: named(self.service, duel, side),
                    sent_at: message.sent_at,
                    message: message.text,
                };
                self.push("duel.message", &data)?;
            }
            if self.position.duels.get(slug).is_some_and(|known| known.seq < all.seq) {
                return Ok(false);
            }
        }
        for (index, by) in [By::You, By::Opponent].into_iter().enumerate() {
            if all.sealed[index] && !seen.sealed[index] {
                self.know(slug, |known| known.sealed[index] = true);
                self.push("duel.demand", &Sealed { duel: named(self.service, duel, side), by })?;
            }
        }
        if let Some(finish) = &duel.finish {
            self.position.duels.remove(slug);
            self.position.settled = finish.seq;
            let data = Finished { duel: named(self.service, duel, side), result: Record::of(duel, side)? };
            self.push("duel.finished", &data)?;
        }
        Ok(i64::try_from(self.events.len()).is_ok_and(|count| count < EVENTS_OF_LOOK_MAX))
    }

    fn know(&mut self, slug: &str, change: impl FnOnce(&mut Known)) {
        if let Some(known) = self.position.duels.get_mut(slug) {
            change(known);
        }
    }

    fn push(&mut self, kind: &'static str, data: &impl Serialize) -> Result<(), Fault> {
        self.events.push(event(kind, &self.position, data)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_position_reads_back(
            settled in 0..i64::MAX, gift in 0..i64::MAX,
            duels in prop::collection::btree_map("[0-9a-f]{24}", (0..i64::MAX, any::<[bool; 2]>()), 0..4),
        ) {
            let duels = duels.into_iter().map(|(slug, (seq, sealed))| (slug, Known { seq, sealed })).collect();
            let position = Position { settled, gift, duels };
            prop_assert_eq!(Position::parse(&position.text()), Some(position));
        }

        #[test]
        fn whatever_is_sent_is_read_or_refused(text in ".{0,80}") {
            if let Some(position) = Position::parse(&text) {
                prop_assert_eq!(Position::parse(&position.text()), Some(position));
            }
        }
    }

    #[test]
    fn what_no_event_has_is_no_position() {
        let slug = "0123456789abcdef01234567";
        for bad in [
            "",
            "1",
            "a.1",
            "1.-1",
            "1.1.",
            &format!("1.1.{slug}"),
            &format!("1.1.{slug}-1"),
            &format!("1.1.{slug}-1-4"),
            &format!("1.1.{slug}-1-1-1"),
            "1.1.x-1-1",
            "9223372036854775808.1",
        ] {
            assert_eq!(Position::parse(bad), None, "{bad}");
        }
        let many: Vec<String> = (0..=POSITION_DUELS_MAX).map(|at| format!("{at:024x}-1-1")).collect();
        assert_eq!(Position::parse(&format!("1.1.{}", many.join("."))), None);
    }
}
