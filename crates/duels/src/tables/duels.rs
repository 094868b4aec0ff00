//! Duels: one row each, loaded whole.

use kernel::{
    Fault, Moment,
    tx::{Row, Tx, Val},
};

use crate::rules::{
    demand::{Duel, Finish, Seat, Side},
    limits::{DELIVERED_FINISHED_MAX, FEED_EVENTS_MAX},
    settle::{Outcome, Settlement},
};

/// Everything that [`duel`] reads, in its order; `x` and `y` are the two agents.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT d.slug, d.started_ms, d.deadline_ms, d.messages, ",
            "d.a, x.nickname, d.a_stake, d.a_model, d.a_demand, d.a_salt, d.a_commitment, d.a_sent, d.a_ack, ",
            "d.b, y.nickname, d.b_stake, d.b_model, d.b_demand, d.b_salt, d.b_commitment, d.b_sent, d.b_ack, ",
            "d.settle_seq, d.finished_ms, d.settlement, d.burn, d.a_payout, d.b_payout, d.a_after, d.b_after ",
            "FROM duel d JOIN agent x ON x.id = d.a JOIN agent y ON y.id = d.b ",
            $rest
        )
    };
}

kernel::statements! {
    ADD = "INSERT INTO duel (slug, pair, state, started_ms, deadline_ms, messages, a, a_stake, a_model, a_sent, a_ack, b, b_stake, b_model, b_sent, b_ack) VALUES ($1, $2, 'CHAT', $3, $4, 0, $5, $6, $7, 0, 0, $8, $9, $10, 0, 0)";
    ACTIVE_OF_PAIR = select!("WHERE d.pair = $1 AND d.state <> 'FINISHED'");
    LAST_OF_PAIR = select!("WHERE d.pair = $1 AND d.state = 'FINISHED' ORDER BY d.settle_seq DESC LIMIT 1");
    BY_SLUG = select!("WHERE d.slug = $1");
    ACTIVE_A = select!("WHERE d.a = $1 AND d.state <> 'FINISHED'");
    ACTIVE_B = select!("WHERE d.b = $1 AND d.state <> 'FINISHED'");
    DONE_A = select!("WHERE d.a = $1 AND d.state = 'FINISHED' AND d.settle_seq < $2 ORDER BY d.settle_seq DESC LIMIT $3");
    DONE_B = select!("WHERE d.b = $1 AND d.state = 'FINISHED' AND d.settle_seq < $2 ORDER BY d.settle_seq DESC LIMIT $3");
    AFTER_A = select!("WHERE d.a = $1 AND d.state = 'FINISHED' AND d.settle_seq > $2 ORDER BY d.settle_seq LIMIT $3");
    AFTER_B = select!("WHERE d.b = $1 AND d.state = 'FINISHED' AND d.settle_seq > $2 ORDER BY d.settle_seq LIMIT $3");
    UNREAD_A = select!("WHERE d.a = $1 AND d.state = 'FINISHED' AND d.a_ack < d.b_sent ORDER BY d.settle_seq LIMIT $2");
    UNREAD_B = select!("WHERE d.b = $1 AND d.state = 'FINISHED' AND d.b_ack < d.a_sent ORDER BY d.settle_seq LIMIT $2");
    LATEST = select!("WHERE d.settle_seq IS NOT NULL ORDER BY d.settle_seq DESC LIMIT $1");
    OPEN = select!("WHERE d.state <> 'FINISHED' ORDER BY d.deadline_ms DESC, d.slug LIMIT $1");
    DUE = "SELECT slug FROM duel WHERE state <> 'FINISHED' AND deadline_ms <= $1 ORDER BY deadline_ms LIMIT $2";
    ANY_DUE = "SELECT slug FROM duel WHERE a = $1 AND state <> 'FINISHED' AND deadline_ms <= $3 UNION ALL SELECT slug FROM duel WHERE b = $1 AND state <> 'FINISHED' AND deadline_ms <= $3 UNION ALL SELECT slug FROM duel WHERE a = $2 AND state <> 'FINISHED' AND deadline_ms <= $3 UNION ALL SELECT slug FROM duel WHERE b = $2 AND state <> 'FINISHED' AND deadline_ms <= $3 LIMIT 1";
    COUNT_OVERDUE = "SELECT COUNT(*) FROM duel WHERE state <> 'FINISHED' AND deadline_ms <= $1";
    COUNT_ACTIVE = "SELECT (SELECT COUNT(*) FROM duel WHERE a = $1 AND state <> 'FINISHED') + (SELECT COUNT(*) FROM duel WHERE b = $1 AND state <> 'FINISHED')";
    ADD_MESSAGE_A = "UPDATE duel SET messages = $2, a_sent = $2 WHERE slug = $1";
    ADD_MESSAGE_B = "UPDATE duel SET messages = $2, b_sent = $2 WHERE slug = $1";
    DEMAND_A = "UPDATE duel SET state = 'CLOSED', a_demand = $2, a_salt = $3, a_commitment = $4 WHERE slug = $1 AND state <> 'FINISHED'";
    DEMAND_B = "UPDATE duel SET state = 'CLOSED', b_demand = $2, b_salt = $3, b_commitment = $4 WHERE slug = $1 AND state <> 'FINISHED'";
    FINISH = "UPDATE duel SET state = 'FINISHED', settle_seq = $2, finished_ms = $3, settlement = $4, burn = $5, a_payout = $6, b_payout = $7, a_after = $8, b_after = $9 WHERE slug = $1 AND state <> 'FINISHED'";
    ACK_A = "UPDATE duel SET a_ack = $3 WHERE slug = $1 AND a = $2 AND a_ack < $3 AND messages >= $3";
    ACK_B = "UPDATE duel SET b_ack = $3 WHERE slug = $1 AND b = $2 AND b_ack < $3 AND messages >= $3";
    LOCKED = "SELECT agent, CAST(SUM(stake) AS BIGINT) FROM (SELECT a AS agent, a_stake AS stake FROM duel WHERE state <> 'FINISHED' UNION ALL SELECT b, b_stake FROM duel WHERE state <> 'FINISHED') s GROUP BY agent";
    UNBALANCED = "SELECT slug FROM duel WHERE state = 'FINISHED' AND (a_payout + b_payout + burn <> a_stake + b_stake OR settlement IS NULL OR finished_ms IS NULL) LIMIT 10";
    SINCE = "SELECT COUNT(*), CAST(COALESCE(SUM(burn), 0) AS BIGINT) FROM duel WHERE state = 'FINISHED' AND finished_ms >= $1";
    TOTALS = "SELECT COUNT(*), CAST(COALESCE(SUM(burn), 0) AS BIGINT) FROM duel WHERE state = 'FINISHED'";
    CHRONICLED = "SELECT chronicle, slug FROM duel WHERE chronicle > $1 AND chronicle <= $2 AND finished_ms >= $3 AND finished_ms < $4 ORDER BY chronicle LIMIT $5";
    COUNTER_GAPS = "SELECT g.nickname FROM agent g WHERE g.duels <> (SELECT COUNT(*) FROM duel d WHERE d.a = g.id AND d.state = 'FINISHED') + (SELECT COUNT(*) FROM duel d WHERE d.b = g.id AND d.state = 'FINISHED') ORDER BY g.nickname LIMIT 10";
}

/// The name of a pair, whoever challenges: both ids in ascending order.
pub(crate) fn pair(one: &str, two: &str) -> String {
    let (low, high) = if one <= two { (one, two) } else { (two, one) };
    format!("{low}:{high}")
}

fn seat(row: &Row, at: usize) -> Result<Seat, Fault> {
    Ok(Seat {
        agent: row.text(at)?,
        nickname: row.text(at + 1)?,
        stake: row.i64(at + 2)?,
        model_key: row.opt_text(at + 3)?,
        demand: row.opt_i64(at + 4)?,
        salt: row.opt_text(at + 5)?,
        commitment: row.opt_text(at + 6)?,
        sent_seq: row.i64(at + 7)?,
        acked_seq: row.i64(at + 8)?,
    })
}

fn duel(row: &Row) -> Result<Duel, Fault> {
    let finish = match row.opt_i64(22)? {
        None => None,
        Some(seq) => {
            let text = row.text(24)?;
            let settlement = Settlement::parse(&text)
                .ok_or_else(|| Fault::internal(format_args!("no settlement is called {text}")))?;
            Some(Finish {
                seq,
                at: row.moment(23)?,
                settlement,
                burn: row.i64(25)?,
                payouts: [row.i64(26)?, row.i64(27)?],
                balances_after: [row.i64(28)?, row.i64(29)?],
            })
        }
    };
    Ok(Duel {
        slug: row.text(0)?,
        started_at: row.moment(1)?,
        deadline_at: row.moment(2)?,
        last_seq: row.i64(3)?,
        seats: [seat(row, 4)?, seat(row, 13)?],
        finish,
    })
}

fn one(tx: &mut dyn Tx, sql: &'static kernel::tx::Sql, args: &[Val]) -> Result<Option<Duel>, Fault> {
    tx.row(sql, args)?.as_ref().map(duel).transpose()
}

fn many(tx: &mut dyn Tx, sql: &'static kernel::tx::Sql, args: &[Val]) -> Result<Vec<Duel>, Fault> {
    tx.rows(sql, args)?.iter().map(duel).collect()
}

/// A duel that is about to start.
pub(crate) struct NewDuel<'a> {
    pub(crate) slug: &'a str,
    pub(crate) started_at: Moment,
    pub(crate) deadline_at: Moment,
    pub(crate) agents: [&'a str; 2],
    pub(crate) stakes: [i64; 2],
    pub(crate) models: [Option<&'a str>; 2],
}

pub(crate) fn add(tx: &mut dyn Tx, new: &NewDuel<'_>) -> Result<(), Fault> {
    let args = [
        new.slug.into(),
        pair(new.agents[0], new.agents[1]).into(),
        new.started_at.into(),
        new.deadline_at.into(),
        new.agents[0].into(),
        new.stakes[0].into(),
        new.models[0].into(),
        new.agents[1].into(),
        new.stakes[1].into(),
        new.models[1].into(),
    ];
    tx.exec(&ADD, &args).map(|_| ())
}

pub(crate) fn active_of_pair(tx: &mut dyn Tx, one_agent: &str, two: &str) -> Result<Option<Duel>, Fault> {
    one(tx, &ACTIVE_OF_PAIR, &[pair(one_agent, two).into()])
}

pub(crate) fn last_of_pair(tx: &mut dyn Tx, one_agent: &str, two: &str) -> Result<Option<Duel>, Fault> {
    one(tx, &LAST_OF_PAIR, &[pair(one_agent, two).into()])
}

pub(crate) fn by_slug(tx: &mut dyn Tx, slug: &str) -> Result<Option<Duel>, Fault> {
    one(tx, &BY_SLUG, &[slug.into()])
}

/// Whether an agent has an active duel whose deadline has come. Every command asks this of its agents
/// and mostly hears no, so two are asked at once and no duel is loaded for the answer.
pub(crate) fn any_due(tx: &mut dyn Tx, one_agent: &str, two: &str, now: Moment) -> Result<bool, Fault> {
    Ok(tx.row(&ANY_DUE, &[one_agent.into(), two.into(), now.into()])?.is_some())
}

/// The active duels of an agent in the order they started.
pub(crate) fn active(tx: &mut dyn Tx, agent: &str) -> Result<Vec<Duel>, Fault> {
    let mut duels = many(tx, &ACTIVE_A, &[agent.into()])?;
    duels.extend(many(tx, &ACTIVE_B, &[agent.into()])?);
    duels.sort_by(|one, two| (one.started_at, &one.slug).cmp(&(two.started_at, &two.slug)));
    Ok(duels)
}

pub(crate) fn count_active(tx: &mut dyn Tx, agent: &str) -> Result<usize, Fault> {
    let count = tx.row(&COUNT_ACTIVE, &[agent.into()])?.map_or(Ok(0), |row| row.i64(0))?;
    usize::try_from(count).map_err(Fault::internal)
}

/// Finished duels of an agent before `before` in the order of settlement, newest first.
pub(crate) fn finished(tx: &mut dyn Tx, agent: &str, before: i64, limit: i64) -> Result<Vec<Duel>, Fault> {
    let mut duels = many(tx, &DONE_A, &[agent.into(), before.into(), limit.into()])?;
    duels.extend(many(tx, &DONE_B, &[agent.into(), before.into(), limit.into()])?);
    let seq = |duel: &Duel| duel.finish.as_ref().map_or(0, |finish| finish.seq);
    duels.sort_by_key(|duel| std::cmp::Reverse(seq(duel)));
    duels.truncate(usize::try_from(limit).unwrap_or(0));
    Ok(duels)
}

/// Finished duels of an agent after `after` in the order of settlement. An agent's own settlements become visible in
/// their order: each is made under the agent's lock.
pub(crate) fn finished_after(
    tx: &mut dyn Tx,
    agent: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<Duel>, Fault> {
    let mut duels = many(tx, &AFTER_A, &[agent.into(), after.into(), limit.into()])?;
    duels.extend(many(tx, &AFTER_B, &[agent.into(), after.into(), limit.into()])?);
    duels.sort_by_key(|duel| duel.finish.as_ref().map_or(0, |finish| finish.seq));
    duels.truncate(usize::try_from(limit).unwrap_or(0));
    Ok(duels)
}

/// Finished duels with messages that the agent has not acknowledged, oldest settlement first.
pub(crate) fn unread_finished(tx: &mut dyn Tx, agent: &str) -> Result<Vec<Duel>, Fault> {
    let args = [agent.into(), DELIVERED_FINISHED_MAX.into()];
    let mut duels = many(tx, &UNREAD_A, &args)?;
    duels.extend(many(tx, &UNREAD_B, &args)?);
    duels.sort_by_key(|duel| duel.finish.as_ref().map(|finish| finish.seq));
    duels.truncate(usize::try_from(DELIVERED_FINISHED_MAX).unwrap_or(0));
    Ok(duels)
}

/// The newest settlements, newest first.
pub(crate) fn latest(tx: &mut dyn Tx) -> Result<Vec<Duel>, Fault> {
    many(tx, &LATEST, &[FEED_EVENTS_MAX.into()])
}

/// Active duels, newest first.
pub(crate) fn open(tx: &mut dyn Tx, limit: i64) -> Result<Vec<Duel>, Fault> {
    many(tx, &OPEN, &[limit.into()])
}

/// Slugs of duels past their deadline, longest overdue first.
pub(crate) fn due(tx: &mut dyn Tx, limit: i64) -> Result<Vec<String>, Fault> {
    let now = tx.now();
    tx.rows(&DUE, &[now.into(), limit.into()])?.iter().map(|row| row.text(0)).collect()
}

/// How many active duels had their deadline at `before` or earlier.
pub(crate) fn count_overdue(tx: &mut dyn Tx, before: Moment) -> Result<i64, Fault> {
    tx.row(&COUNT_OVERDUE, &[before.into()])?.map_or(Ok(0), |row| row.i64(0))
}

/// Records that `side` has sent message number `seq`.
pub(crate) fn set_message(tx: &mut dyn Tx, slug: &str, side: Side, seq: i64) -> Result<(), Fault> {
    let sql = match side {
        Side::A => &ADD_MESSAGE_A,
        Side::B => &ADD_MESSAGE_B,
    };
    tx.exec(sql, &[slug.into(), seq.into()]).map(|_| ())
}

/// Stores a sealed demand and closes the chat.
pub(crate) fn set_demand(tx: &mut dyn Tx, duel: &Duel, side: Side) -> Result<(), Fault> {
    let seat = duel.seat(side);
    let sql = match side {
        Side::A => &DEMAND_A,
        Side::B => &DEMAND_B,
    };
    let args = [
        (&duel.slug).into(),
        seat.demand.into(),
        seat.salt.as_deref().into(),
        seat.commitment.as_deref().into(),
    ];
    match tx.exec(sql, &args)? {
        1 => Ok(()),
        _ => Err(Fault::internal(format_args!("duel {} takes no demand", duel.slug))),
    }
}

/// Marks the duel finished; `false` when it already was, so that nothing is paid twice.
pub(crate) fn set_finished(
    tx: &mut dyn Tx,
    slug: &str,
    seq: i64,
    at: Moment,
    outcome: &Outcome,
    balances_after: [i64; 2],
) -> Result<bool, Fault> {
    let args = [
        slug.into(),
        seq.into(),
        at.into(),
        outcome.settlement.as_str().into(),
        outcome.burn.into(),
        outcome.payouts[0].into(),
        outcome.payouts[1].into(),
        balances_after[0].into(),
        balances_after[1].into(),
    ];
    Ok(tx.exec(&FINISH, &args)? == 1)
}

/// Moves the agent's acknowledged position in a duel forward, never back and never past the end.
pub(crate) fn acknowledge(tx: &mut dyn Tx, slug: &str, agent: &str, seq: i64) -> Result<bool, Fault> {
    let args = [slug.into(), agent.into(), seq.into()];
    Ok(tx.exec(&ACK_A, &args)? + tx.exec(&ACK_B, &args)? > 0)
}

/// Stakes of active duels by agent, for the audit.
pub(crate) fn stakes_by_agent(tx: &mut dyn Tx) -> Result<Vec<(String, i64)>, Fault> {
    tx.rows(&LOCKED, &[])?.iter().map(|row| Ok((row.text(0)?, row.i64(1)?))).collect()
}

/// Finished duels that do not add up, for the audit.
pub(crate) fn unbalanced(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    tx.rows(&UNBALANCED, &[])?.iter().map(|row| row.text(0)).collect()
}

/// Agents whose counter differs from their finished duels, for the audit.
pub(crate) fn miscounted(tx: &mut dyn Tx) -> Result<Vec<String>, Fault> {
    tx.rows(&COUNTER_GAPS, &[])?.iter().map(|row| row.text(0)).collect()
}

/// Number and address of duels of the chronicle after the first number and up to the second, which finished
/// at the first instant or later and before the second.
pub(crate) fn chronicled(
    tx: &mut dyn Tx,
    numbers: [i64; 2],
    times: [Moment; 2],
    limit: i64,
) -> Result<Vec<(i64, String)>, Fault> {
    let args = [numbers[0].into(), numbers[1].into(), times[0].into(), times[1].into(), limit.into()];
    tx.rows(&CHRONICLED, &args)?.iter().map(|row| Ok((row.i64(0)?, row.text(1)?))).collect()
}

/// How many duels are finished and what they burned together.
pub(crate) fn totals(tx: &mut dyn Tx) -> Result<(i64, i64), Fault> {
    let row = tx.row(&TOTALS, &[])?.ok_or_else(|| Fault::internal("a count without a row"))?;
    Ok((row.i64(0)?, row.i64(1)?))
}

/// How many duels finished at `from` or later, and what they burned together.
pub(crate) fn since(tx: &mut dyn Tx, from: Moment) -> Result<(i64, i64), Fault> {
    let row = tx.row(&SINCE, &[from.into()])?.ok_or_else(|| Fault::internal("a count without a row"))?;
    Ok((row.i64(0)?, row.i64(1)?))
}
