//! A change of this crate as a command of the store.

use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};

/// Runs a closure, which may run again and has no effect but SQL. A refusal is an error: nothing that it did
/// before stays.
pub struct Act<F> {
    name: &'static str,
    run: F,
}

impl<T: Send, F: Fn(&mut dyn Tx) -> Result<T, Fault> + Send> Act<F> {
    pub fn new(name: &'static str, run: F) -> Self {
        Self { name, run }
    }
}

impl<T: Send, F: Fn(&mut dyn Tx) -> Result<T, Fault> + Send> Command for Act<F> {
    type Out = T;

    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<T>, Fault> {
        (self.run)(tx).map(Verdict::Done)
    }
}
