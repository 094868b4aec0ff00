//! So many present agents that a search has something to rank: their rows as the operations leave them, but
//! written at once, because embedding their pitches one by one would take minutes.

use duels::rules::limits::TRANSCRIPT_POLICY;
use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};
use semantic::{Vector, model::DIMS};

kernel::statements! {
    ADD_PERSON = "INSERT INTO person (id, nickname, created_ms) VALUES ($1, $2, 0)";
    ADD_AGENT = "INSERT INTO agent (id, nickname, opened_ms, house, wins, draws, duels, staked, paid, rating_permille, auto_bio, bio_model, bio_vector) VALUES ($1, $2, 0, 0, 0, 0, 0, 0, 0, 0, $3, $4, $5)";
    ADD_BALANCE = "INSERT INTO balance (ledger, person, available, locked, available_version, locked_version) VALUES ('points', $1, 100, 0, 0, 0)";
    ADD_PRESENCE = "INSERT INTO presence (agent, pitch, policy, expires_ms, pitch_model, pitch_vector, seq) VALUES ($1, $2, $3, $4, $5, $6, $7)";
}

const PITCH: &str = "Half each: I demand what I say I demand.";
const BIO: &str = "Demands fairly: 50% of the pot on average over 12 duels.";
/// Longer than any bench runs.
const STAYS_MS: i64 = 30 * 24 * 3_600_000;

/// Agents of these numbers.
pub(crate) struct Crowd {
    pub(crate) numbers: std::ops::Range<u32>,
    pub(crate) model: String,
}

impl Command for Crowd {
    type Out = ();

    fn name(&self) -> &'static str {
        "bench.crowd"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let until = tx.now().plus_ms(STAYS_MS);
        for number in self.numbers.clone() {
            let (id, nickname) = (format!("{number:024x}"), format!("crowd-{number:06}"));
            let mut vectors = random_vectors(number);
            let (pitch, bio) = (vectors(), vectors());
            tx.exec(&ADD_PERSON, &[(&id).into(), (&nickname).into()])?;
            let agent = [
                (&id).into(),
                (&nickname).into(),
                BIO.into(),
                (&self.model).into(),
                bio.as_bytes().as_slice().into(),
            ];
            tx.exec(&ADD_AGENT, &agent)?;
            tx.exec(&ADD_BALANCE, &[(&id).into()])?;
            let presence = [
                (&id).into(),
                PITCH.into(),
                TRANSCRIPT_POLICY.into(),
                until.into(),
                (&self.model).into(),
                pitch.as_bytes().as_slice().into(),
                (i64::from(number) + 1).into(),
            ];
            tx.exec(&ADD_PRESENCE, &presence)?;
        }
        Ok(Verdict::Done(()))
    }
}

/// Vectors in all directions, the same for the same seed.
pub(crate) fn random_vectors(seed: u32) -> impl FnMut() -> Vector {
    let mut state = u64::from(seed).wrapping_mul(2) + 1;
    move || {
        let components: [f32; DIMS] = std::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f32::from(state.to_le_bytes()[6]) - 127.5
        });
        Vector::quantise(&components)
    }
}
