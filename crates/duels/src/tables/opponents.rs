//! Agents as a searcher sees them: what they show, and what decides whether the two could start now.

use kernel::{
    Fault, Moment,
    tx::{Row, Tx, Val},
};

use crate::rules::challenge::Lease;

/// The name of the pair of `a.id` and the searcher `$1`, as [`super::duels::pair`] makes it.
macro_rules! pair {
    () => {
        "CASE WHEN a.id < $1 THEN a.id || ':' || $1 ELSE $1 || ':' || a.id END"
    };
}

kernel::statements! {
    LOOK = concat!(
        "SELECT a.id, a.nickname, a.auto_bio, a.wins, a.draws, a.duels, p.pitch, p.policy, p.expires_ms, ",
        "(SELECT COUNT(*) FROM duel d WHERE d.a = a.id AND d.state <> 'FINISHED') + (SELECT COUNT(*) FROM duel d WHERE d.b = a.id AND d.state <> 'FINISHED'), ",
        "(SELECT COUNT(*) FROM duel d WHERE d.pair = ", pair!(), " AND d.state <> 'FINISHED'), ",
        "(SELECT d.finished_ms FROM duel d WHERE d.pair = ", pair!(), " AND d.state = 'FINISHED' ORDER BY d.settle_seq DESC LIMIT 1) ",
        "FROM agent a JOIN presence p ON p.agent = a.id ",
        "WHERE a.id IN ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)"
    );
}

/// How many agents one look takes.
pub(crate) const LOOK_MAX: usize = 20;

/// An agent that may be met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opponent {
    pub(crate) id: String,
    pub(crate) nickname: String,
    pub(crate) auto_bio: Option<String>,
    pub(crate) wins: i64,
    pub(crate) draws: i64,
    pub(crate) duels: i64,
    pub(crate) pitch: String,
    pub(crate) lease: Lease,
    pub(crate) active_duels: usize,
    /// The two have a duel that is not settled.
    pub(crate) is_paired: bool,
    pub(crate) last_finished_at: Option<Moment>,
}

fn opponent(row: &Row) -> Result<Opponent, Fault> {
    Ok(Opponent {
        id: row.text(0)?,
        nickname: row.text(1)?,
        auto_bio: row.opt_text(2)?,
        wins: row.i64(3)?,
        draws: row.i64(4)?,
        duels: row.i64(5)?,
        pitch: row.text(6)?,
        lease: Lease { policy: row.i64(7)?, expires_at: row.moment(8)? },
        active_duels: usize::try_from(row.i64(9)?).map_err(Fault::internal)?,
        is_paired: row.i64(10)? > 0,
        last_finished_at: row.opt_moment(11)?,
    })
}

/// At most [`LOOK_MAX`] agents as `searcher` sees them, in no order; one without a presence is left out.
pub(crate) fn look(tx: &mut dyn Tx, searcher: &str, agents: &[&str]) -> Result<Vec<Opponent>, Fault> {
    let mut args = vec![Val::from(searcher)];
    // No agent has the empty id, so it stands where there are fewer.
    args.extend((0..LOOK_MAX).map(|at| Val::from(agents.get(at).copied().unwrap_or(""))));
    tx.rows(&LOOK, &args)?.iter().map(opponent).collect()
}
