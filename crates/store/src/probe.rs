//! Whether something can be written now: a row that is laid down and lifted in one transaction.

use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};

use crate::Store;

kernel::statements! {
    LAY = "INSERT INTO once (scope, key, hash, answer, created_ms) VALUES ('#probe', $1, $2, NULL, $3) ON CONFLICT (scope, key) DO NOTHING";
    LIFT = "DELETE FROM once WHERE scope = '#probe' AND key = $1";
}

/// Any content will do.
const CONTENT: &[u8] = &[0];

struct Probe;

impl Command for Probe {
    type Out = ();

    fn name(&self) -> &'static str {
        "store.probe"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        let now = tx.real_ms();
        // Another node may be trying at the same time, under a key of its own nearly always.
        let key = now.to_string();
        tx.exec(&LAY, &[(&key).into(), CONTENT.into(), now.into()])?;
        tx.exec(&LIFT, &[(&key).into()])?;
        Ok(Verdict::Done(()))
    }
}

impl Store {
    /// Commits a change that leaves nothing. It fails where any other change would.
    pub async fn probe(&self) -> Result<(), Fault> {
        self.write(Box::new(Probe)).await.map(|_| ())
    }
}
