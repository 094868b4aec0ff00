//! Takes a step of an operation through the work that it waits for.

use kernel::{
    Fault,
    operation::{First, Json, Step, Waiting},
    tx::{Command, Tx, Verdict},
};

use crate::{Once, OnceKey, Store, once::key_reused};

/// Ends the scope under which a call's charge is kept, beside the one of its answer.
const CHARGE: &str = "|charge";

/// A step that waits for nothing but the store.
pub enum Ready<T> {
    Done(T),
    Run(Box<dyn Command<Out = T>>),
}

impl Store {
    /// Does what a step waits for, until it waits for nothing. Calls under one `key` are charged once.
    pub async fn wait_for<T: Send + 'static>(
        &self,
        mut step: Step<T>,
        key: Option<&OnceKey>,
    ) -> Result<Ready<T>, Fault> {
        loop {
            let Waiting { first, work } = match step {
                Step::Wait(waiting) => waiting,
                Step::Done(out) => return Ok(Ready::Done(out)),
                Step::Run(command) => return Ok(Ready::Run(command)),
            };
            let verdict = match (first, key) {
                (None, _) => Verdict::Done(()),
                (Some(First::Charge(command)), Some(key)) => self.charge_once(key, command).await?,
                (Some(First::Charge(command) | First::Note(command)), _) => self.write(command).await?,
            };
            if let Verdict::Refused(fault) = verdict {
                return Err(fault);
            }
            let then = work.await?;
            step = self.read(then).await?;
        }
    }

    /// Takes a step to its end.
    pub async fn finish<T: Send + 'static>(&self, step: Step<T>) -> Result<Verdict<T>, Fault> {
        match self.wait_for(step, None).await? {
            Ready::Done(out) => Ok(Verdict::Done(out)),
            Ready::Run(command) => self.write(command).await,
        }
    }

    async fn charge_once(
        &self,
        key: &OnceKey,
        command: Box<dyn Command<Out = ()>>,
    ) -> Result<Verdict<()>, Fault> {
        let key = OnceKey { scope: [&key.scope, CHARGE].concat(), ..key.clone() };
        match self.write_once(key, Box::new(Charged(command))).await? {
            Once::Ran(Verdict::Refused(fault)) => Ok(Verdict::Refused(fault)),
            Once::Ran(Verdict::Done(_)) | Once::Replayed(_) => Ok(Verdict::Done(())),
            // Otherwise a call that failed would pay for another one.
            Once::KeyReused => Ok(Verdict::Refused(key_reused())),
        }
    }
}

/// A charge that leaves an empty answer.
struct Charged(Box<dyn Command<Out = ()>>);

impl Command for Charged {
    type Out = Json;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<Json>, Fault> {
        Ok(match self.0.run(tx)? {
            Verdict::Done(()) => Verdict::Done(String::new()),
            Verdict::Refused(fault) => Verdict::Refused(fault),
        })
    }
}
