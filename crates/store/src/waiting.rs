//! Takes a step of an operation through the work that it waits for.

use kernel::{
    Fault,
    operation::{Step, Waiting},
    tx::{Command, Verdict},
};

use crate::Store;

/// A step that waits for nothing but the store.
pub enum Ready<T> {
    Done(T),
    Run(Box<dyn Command<Out = T>>),
}

impl Store {
    /// Does what a step waits for, until it waits for nothing.
    pub async fn wait_for<T: Send + 'static>(&self, mut step: Step<T>) -> Result<Ready<T>, Fault> {
        loop {
            let Waiting { first, work } = match step {
                Step::Wait(waiting) => waiting,
                Step::Done(out) => return Ok(Ready::Done(out)),
                Step::Run(command) => return Ok(Ready::Run(command)),
            };
            if let Some(first) = first
                && let Verdict::Refused(fault) = self.write(first).await?
            {
                return Err(fault);
            }
            let then = work.await?;
            step = self.read(then).await?;
        }
    }

    /// Takes a step to its end.
    pub async fn finish<T: Send + 'static>(&self, step: Step<T>) -> Result<Verdict<T>, Fault> {
        match self.wait_for(step).await? {
            Ready::Done(out) => Ok(Verdict::Done(out)),
            Ready::Run(command) => self.write(command).await,
        }
    }
}
