//! Agents in one process: the catalog's first steps and commands on a store, without a door.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use duels::{Duels, outside::Outside};
use kernel::{
    id::{Ids, OsIds},
    operation::Product,
    principal::Call,
    tx::Verdict,
};
use store::{Place, Ready, Store};
use tokio::task::JoinSet;

use super::{
    players::{SCRIPT, SETTLED, Season, input, pot},
    tape::Tape,
};
use crate::harness::{
    Outcome,
    http::holds,
    people::{self, Person},
};

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) store: Store,
    product: Arc<Product>,
    agents: Vec<Arc<Person>>,
    tape: Option<Tape>,
}

impl World {
    /// Opens a place for agents that it knows already.
    pub(crate) async fn open(place: Place, agents: Vec<Arc<Person>>, tape: Option<Tape>) -> Outcome<Self> {
        let store = people::open(place, tape.as_ref().map(Tape::probe))?;
        Self::on(store, agents, tape, Outside::default()).await
    }

    /// On a store that is open, with what it has outside of it.
    pub(crate) async fn on(
        store: Store,
        agents: Vec<Arc<Person>>,
        tape: Option<Tape>,
        outside: Outside,
    ) -> Outcome<Self> {
        let opened = store.clone();
        let service = tokio::task::spawn_blocking(move || {
            Duels::open(&opened, Arc::new(OsIds) as Arc<dyn Ids>, "http://127.0.0.1", outside)
        });
        let product = Arc::new(duels::product(&service.await??));
        if let Some(tape) = &tape {
            tape.rewind();
        }
        Ok(Self { store, product, agents, tape })
    }

    /// Makes the agents of a season and lets them enter the arena.
    pub(crate) async fn populate(&mut self, stem: &str, season: Season) -> Outcome<()> {
        self.agents = people::join(&self.store, stem, season.agents()).await?;
        let mut entering = JoinSet::new();
        for agent in 0..self.agents.len() {
            let world = self.clone();
            entering.spawn(async move { world.call(agent, "enter_arena", r#"{"pitch":"Half each"}"#).await });
        }
        while let Some(entered) = entering.join_next().await {
            entered??;
        }
        Ok(())
    }

    pub(crate) fn agents(&self) -> &[Arc<Person>] {
        &self.agents
    }

    /// Plays a season to its end and tells how long it took.
    pub(crate) async fn play(&self, season: Season) -> Outcome<Duration> {
        let began = Instant::now();
        for round in 0..season.rounds {
            let mut playing = JoinSet::new();
            for (one, two) in season.round(round) {
                let world = self.clone();
                playing.spawn(async move { world.duel(one, two).await });
            }
            while let Some(played) = playing.join_next().await {
                played??;
            }
        }
        Ok(began.elapsed())
    }

    pub(crate) async fn close(self) -> Outcome<()> {
        tokio::task::spawn_blocking(move || self.store.close()).await?;
        Ok(())
    }

    async fn duel(&self, one: usize, two: usize) -> Outcome<()> {
        let (mut answer, mut at_stake) = (String::new(), 0);
        for (challenger, tool) in SCRIPT {
            let (me, opponent) = if challenger { (one, two) } else { (two, one) };
            let body = input(tool, &self.agents[opponent].principal.nickname, at_stake);
            answer = self.call(me, tool, &body).await?;
            if tool == "challenge_agent" {
                at_stake = pot(answer.as_bytes()).ok_or("a challenge answered without a pot")?;
            }
        }
        if holds(answer.as_bytes(), SETTLED) { Ok(()) } else { Err(format!("not settled: {answer}").into()) }
    }

    pub(crate) async fn call(&self, agent: usize, tool: &'static str, body: &str) -> Outcome<String> {
        let principal = self.agents[agent].principal.clone();
        let call = Call { principal, request_id: "bench".to_owned() };
        let (product, body, tape) = (Arc::clone(&self.product), body.as_bytes().to_vec(), self.tape.clone());
        let step = self.store.read(move |tx| {
            let entry = product.operation(tool).ok_or_else(|| kernel::Fault::internal("no such tool"))?;
            match &tape {
                Some(tape) => tape.count_reads(tx, |tx| entry.start(tx, &call, &body)),
                None => entry.start(tx, &call, &body),
            }
        });
        let command = match self.store.wait_for(step.await?, None).await? {
            Ready::Done(answer) => return Ok(answer),
            Ready::Run(command) => command,
        };
        let command = match &self.tape {
            Some(tape) => tape.record(command),
            None => command,
        };
        match self.store.write(command).await? {
            Verdict::Done(answer) => Ok(answer),
            Verdict::Refused(fault) => Err(fault.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duel::{replay, tape::totals};

    /// The yardstick of the duels row is honest only if the replay does the whole of the work.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_replay_leaves_what_the_duels_left() {
        let season = Season { pairs: 4, rounds: 3 };
        let home = tempfile::tempdir().unwrap();
        let (played, copy) = (home.path().join("played"), home.path().join("copy.db"));
        let mut world = World::open(Place::Directory(played.clone()), Vec::new(), None).await.unwrap();
        world.populate("agent", season).await.unwrap();
        let agents = world.agents().to_vec();
        world.close().await.unwrap();
        std::fs::copy(played.join("arena.db"), &copy).unwrap();
        let before = replay::contents(&copy).unwrap();

        let tape = Tape::default();
        let world = World::open(Place::Directory(played.clone()), agents, Some(tape.clone())).await.unwrap();
        world.play(season).await.unwrap();
        world.close().await.unwrap();
        let events = tape.take();
        let totals = totals(&events);
        assert_eq!(totals.commands, season.duels() * SCRIPT.len());
        assert!(totals.commits <= totals.commands && tape.reads() > 0);
        replay::replay(&copy, &events).unwrap();

        let (wanted, got) =
            (replay::contents(&played.join("arena.db")).unwrap(), replay::contents(&copy).unwrap());
        assert_ne!(wanted, before);
        assert_eq!(wanted["duel"].len(), season.duels());
        assert_eq!(got, wanted);
    }
}
