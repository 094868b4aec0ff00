//! A reader thread: each query sees one snapshot, and is answered before the snapshot is released.

use std::time::Duration;

use kernel::tx::Sql;
use rusqlite::Connection;

use super::session::{Access, Session};
use crate::{
    clock::LocalClock,
    dialect,
    queue::{Popped, Queue},
    work::Read,
};

static BEGIN: Sql = Sql { name: "store::begin_read", text: dialect::BEGIN_READ.sqlite };
static SNAPSHOT: Sql = Sql { name: "store::snapshot", text: dialect::CLOCK.sqlite };
static END: Sql = Sql { name: "store::end_read", text: "ROLLBACK" };

/// Nothing happens in an idle reader, so it may sleep long.
const PATIENCE: Duration = Duration::from_hours(1);

pub(super) fn run(conn: &Connection, queue: &Queue<Box<dyn Read>>, clock: &LocalClock) {
    let mut session = Session::new(conn, clock, Access::ReadOnly);
    loop {
        match queue.pop(1, PATIENCE) {
            Popped::Items(items) => items.into_iter().for_each(|work| answer(&mut session, work)),
            Popped::Idle => {}
            Popped::Closed => return,
        }
    }
}

/// Runs one query; also for the writer's connection where it is the only one.
pub(super) fn answer(session: &mut Session<'_>, work: Box<dyn Read>) {
    if work.is_abandoned() {
        return;
    }
    // The snapshot is opened before the clock is read: whatever it holds has happened by then.
    match session.control(&BEGIN, &[]).and_then(|()| session.control(&SNAPSHOT, &[])) {
        Ok(()) => {
            session.begin(Access::ReadOnly);
            work.run(session);
        }
        Err(fault) => work.refuse(fault),
    }
    if !session.conn.is_autocommit()
        && let Err(fault) = session.control(&END, &[])
    {
        tracing::error!(context = fault.context(), "a snapshot could not be released");
    }
}
