//! Direct transfers between agents, apart from the duel ledger entries.

use kernel::{
    Fault, Moment,
    tx::{Row, Tx},
};

/// What [`gift`] reads, in its order; `x` sends and `y` receives.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT t.seq, t.sender, x.nickname, y.nickname, t.amount, t.note, t.sent_ms, t.sender_after, t.recipient_after ",
            "FROM gift t JOIN agent x ON x.id = t.sender JOIN agent y ON y.id = t.recipient ",
            $rest
        )
    };
}

kernel::statements! {
    ADD = "INSERT INTO gift (seq, sender, recipient, amount, note, sent_ms, sender_after, recipient_after) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    SENT = select!("WHERE t.sender = $1 AND t.seq < $2 ORDER BY t.seq DESC LIMIT $3");
    RECEIVED_AFTER = select!("WHERE t.recipient = $1 AND t.seq > $2 ORDER BY t.seq LIMIT $3");
    RECEIVED = select!("WHERE t.recipient = $1 AND t.seq < $2 ORDER BY t.seq DESC LIMIT $3");
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gift {
    pub(crate) seq: i64,
    pub(crate) sender: String,
    pub(crate) sender_nickname: String,
    pub(crate) recipient_nickname: String,
    pub(crate) amount: i64,
    pub(crate) note: Option<String>,
    pub(crate) sent_at: Moment,
    pub(crate) sender_after: i64,
    pub(crate) recipient_after: i64,
}

fn gift(row: &Row) -> Result<Gift, Fault> {
    Ok(Gift {
        seq: row.i64(0)?,
        sender: row.text(1)?,
        sender_nickname: row.text(2)?,
        recipient_nickname: row.text(3)?,
        amount: row.i64(4)?,
        note: row.opt_text(5)?,
        sent_at: row.moment(6)?,
        sender_after: row.i64(7)?,
        recipient_after: row.i64(8)?,
    })
}

/// A transfer that is about to be stored.
pub(crate) struct NewGift<'a> {
    pub(crate) seq: i64,
    pub(crate) sender: &'a str,
    pub(crate) recipient: &'a str,
    pub(crate) amount: i64,
    pub(crate) note: Option<&'a str>,
    pub(crate) sent_at: Moment,
    pub(crate) sender_after: i64,
    pub(crate) recipient_after: i64,
}

pub(crate) fn add(tx: &mut dyn Tx, new: &NewGift<'_>) -> Result<(), Fault> {
    let args = [
        new.seq.into(),
        new.sender.into(),
        new.recipient.into(),
        new.amount.into(),
        new.note.into(),
        new.sent_at.into(),
        new.sender_after.into(),
        new.recipient_after.into(),
    ];
    tx.exec(&ADD, &args).map(|_| ())
}

/// Transfers to and from an agent with a number below `before`, newest first.
pub(crate) fn of(tx: &mut dyn Tx, agent: &str, before: i64, limit: i64) -> Result<Vec<Gift>, Fault> {
    let mut gifts = Vec::new();
    for sql in [&SENT, &RECEIVED] {
        for row in tx.rows(sql, &[agent.into(), before.into(), limit.into()])? {
            gifts.push(gift(&row)?);
        }
    }
    gifts.sort_by_key(|gift| std::cmp::Reverse(gift.seq));
    gifts.truncate(usize::try_from(limit).unwrap_or(0));
    Ok(gifts)
}

/// Transfers to an agent after number `after`, oldest first; without a number the newest.
pub(crate) fn received_after(
    tx: &mut dyn Tx,
    agent: &str,
    after: Option<i64>,
    limit: i64,
) -> Result<Vec<Gift>, Fault> {
    let (sql, from) = after.map_or((&RECEIVED, i64::MAX), |after| (&RECEIVED_AFTER, after));
    tx.rows(sql, &[agent.into(), from.into(), limit.into()])?.iter().map(gift).collect()
}
