//! Two scripted players on a store in memory, in one thread, on a clock that the run moves.
//!
//! They use the operations of the catalog, like any agent; there is no second path to the rules. A
//! wait of five minutes between two duels takes no time here.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use duels::{
    Duels,
    ops::{challenge_agent, enter_arena, send_message, submit_demand},
    publics::DuelRecord,
    rules::limits::{COOLDOWN_MS, PRESENCE_MINUTES_MAX},
    view::Record,
};
use kernel::{
    Fault, Moment,
    id::{Ids, SeededIds},
    input::{Count, Whole},
    operation::Operation,
    principal::{Call, Principal},
    time::Clock,
    tx::{Command, Tx, Verdict},
};
use store::{Options, Place, Solo};

use super::{
    fill::{FILL_BELOW_POINTS, FillUp},
    plan::{Plan, nickname},
    tally::Tally,
    transcript,
};
use crate::{
    demo::script::{Position, Script, pick},
    failure::Failure,
};

/// When these runs take place: a whole hour, so that transcripts of one seed are equal for ever.
const BEGIN_MS: i64 = 1_800_000_000_000;
/// How long a player thinks before each step, in Arena time.
const THINKS_MS: i64 = 7_000;

/// Real time that only the run moves.
#[derive(Debug)]
struct MovedClock(AtomicI64);

impl Clock for MovedClock {
    fn real_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One side.
struct Seat {
    script: &'static Script,
    call: Call,
    /// Until when it can be challenged.
    present_until: Moment,
    /// The opponent's part of the pot in the last duel, in percent.
    opponent_took_percent: Option<i64>,
    available: i64,
}

struct Join {
    id: String,
    nickname: String,
    points: i64,
    seed: [u8; 16],
}

impl Command for Join {
    type Out = ();

    fn name(&self) -> &'static str {
        "arena.join_run"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let person = identity::people::create(tx, &self.id, &self.nickname)?;
        let ids = kernel::id::DerivedIds::new(self.seed);
        duels::open_account(tx, &ids, &person.id, &person.nickname, self.points)?;
        Ok(Verdict::Done(()))
    }
}

struct Game<'g, 'c> {
    solo: &'g mut Solo<'c>,
    service: Arc<Duels>,
    ids: Arc<SeededIds>,
    clock: Arc<MovedClock>,
    points: i64,
}

/// Plays until the plan is done or `stop` is set.
pub(super) fn play(
    plan: &Plan,
    scripts: [&'static Script; 2],
    tally: &mut Tally,
    mut transcripts: Option<&mut dyn Write>,
    stop: &AtomicBool,
    mut each: impl FnMut(u64),
) -> Result<(), Failure> {
    let clock = Arc::new(MovedClock(AtomicI64::new(BEGIN_MS)));
    let ids = Arc::new(SeededIds::new(plan.seed));
    let options = Options {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        ids: Arc::clone(&ids) as Arc<dyn Ids>,
        schemas: vec![identity::SCHEMA, duels::SCHEMA],
        ..Options::new(Place::Memory)
    };
    let played = store::solo(options, |solo| -> Result<(), Failure> {
        let service = Duels::open_solo(solo, Arc::clone(&ids) as Arc<dyn Ids>)?;
        let mut game = Game { solo, service, ids, clock, points: plan.points };
        let mut seats = [game.join(scripts[0], nickname(0))?, game.join(scripts[1], nickname(1))?];
        for round in 1..=plan.rounds {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            // Who begins alternates, so that neither side has the first word more often.
            let first = usize::from(round % 2 == 0);
            let record = game.duel(&mut seats, first)?;
            tally.add(&record, first);
            if let Some(out) = transcripts.as_deref_mut() {
                transcript::write(out, round, &game.last_duel(&seats[first])?)?;
            }
            for seat in &mut seats {
                tally.refills += u64::from(game.fill_up(seat)?);
            }
            each(round);
        }
        Ok(())
    });
    played.map_err(Fault::internal)?
}

impl Game<'_, '_> {
    fn join(&mut self, script: &'static Script, nickname: &str) -> Result<Seat, Fault> {
        let id = self.ids.slug();
        let join = Join {
            id: id.clone(),
            nickname: nickname.to_owned(),
            points: self.points,
            seed: self.ids.seed(),
        };
        self.solo.write(&join)?;
        let principal = Principal {
            person_id: id,
            nickname: nickname.to_owned(),
            scopes: vec![duels::SCOPE.to_owned()],
            provider: "key".to_owned(),
            linked_providers: Vec::new(),
            resource: None,
            new_key: None,
        };
        Ok(Seat {
            script,
            call: Call { principal, request_id: String::new() },
            present_until: Moment::from_millis(0),
            opponent_took_percent: None,
            available: self.points,
        })
    }

    /// Whether the side had too few points.
    fn fill_up(&mut self, seat: &mut Seat) -> Result<bool, Fault> {
        if seat.available >= FILL_BELOW_POINTS {
            return Ok(false);
        }
        let agent = seat.call.principal.person_id.clone();
        let filled = self.solo.write(&FillUp { agent, points: self.points, seed: self.ids.seed() })?;
        seat.available = self.points;
        Ok(matches!(filled, Verdict::Done(true)))
    }

    /// The public record of the duel that a side played last.
    fn last_duel(&mut self, seat: &Seat) -> Result<DuelRecord, Fault> {
        let (service, agent) = (Arc::clone(&self.service), &seat.call.principal.person_id);
        self.solo.read(|tx| {
            let newest = duels::settled_after(tx, agent, 0, 1)?.pop();
            let (_, slug, _) = newest.ok_or_else(|| Fault::internal("a settled duel is not there"))?;
            duels::publics::duel_record(&service, tx, &slug)
        })
    }

    fn wait(&self, ms: i64) {
        self.clock.0.fetch_add(ms, Ordering::Relaxed);
    }

    fn call<O: Operation<Service = Duels>>(
        &mut self,
        call: &Call,
        input: O::Input,
    ) -> Result<O::Output, Fault> {
        let service = Arc::clone(&self.service);
        match self.solo.call(|tx| O::start(&service, tx, call, input))? {
            Verdict::Done(out) => Ok(out),
            Verdict::Refused(fault) => Err(fault),
        }
    }

    /// One duel; the record is that of the side that began.
    fn duel(&mut self, seats: &mut [Seat; 2], first: usize) -> Result<Record, Fault> {
        let second = 1 - first;
        for seat in seats.iter_mut() {
            // A duel takes less than a minute here; a presence that ends within it is renewed.
            if seat.present_until.ms_since(self.solo.now()) < 60_000 {
                let input = enter_arena::Input {
                    pitch: seat.script.pitch.to_owned(),
                    ttl_minutes: Whole::<1, PRESENCE_MINUTES_MAX>::MAX,
                    model_key: Some(seat.script.model_key.to_owned()),
                };
                let entered = self.call::<enter_arena::EnterArena>(&seat.call, input)?;
                seat.present_until = entered.arena.expires_at.unwrap_or(seat.present_until);
            }
        }
        let names = [0, 1].map(|at: usize| seats[at].call.principal.nickname.clone());
        let opening = pick(&*self.ids, seats[first].script.openings);
        let answer = pick(&*self.ids, seats[second].script.replies);
        let challenge =
            challenge_agent::Input { nickname: names[second].clone(), message: Some(opening.to_owned()) };
        let begun = self.call::<challenge_agent::ChallengeAgent>(&seats[first].call, challenge)?;
        self.wait(THINKS_MS);
        let reply = send_message::Input { nickname: names[first].clone(), message: answer.to_owned() };
        self.call::<send_message::SendMessage>(&seats[second].call, reply)?;
        let pot = begun.distributable_pot;
        let mut settled = None;
        // Who was challenged demands first, so that the one who began sees the settlement.
        for at in [second, first] {
            self.wait(THINKS_MS);
            let position = Position { pot, opponent_took_percent: seats[at].opponent_took_percent };
            let count = seats[at].script.demand.choose(position, &*self.ids);
            let input = submit_demand::Input {
                nickname: names[1 - at].clone(),
                count: Count::new(count).ok_or_else(|| Fault::internal("a demand below zero"))?,
            };
            settled = self.call::<submit_demand::SubmitDemand>(&seats[at].call, input)?.result;
        }
        let record = settled.ok_or_else(|| Fault::internal("two demands settled nothing"))?;
        let percent = |demand: i64| demand * 100 / pot.max(1);
        seats[first].opponent_took_percent = Some(percent(record.opponent_demand));
        seats[second].opponent_took_percent = Some(percent(record.your_demand));
        seats[first].available += record.your_payout - record.your_stake;
        seats[second].available += record.opponent_payout - record.opponent_stake;
        self.wait(COOLDOWN_MS);
        Ok(record)
    }
}
